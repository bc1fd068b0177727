//! The GL drivers that programs are run on: MGL and, to compare, Mesa's.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use anyhow::Result;
use clap::ValueEnum;

use crate::driver_dir;
use crate::environment::{self, Backend, DriverChoice, Transport};
use crate::packages;
use crate::workspace::Workspace;

/// A GL driver that a test or a measurement runs on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GlDriver {
    /// This repository's driver, on Vulkan.
    Mgl,
    /// The same with the backend on a second thread.
    MglInproc,
    /// The same with the backend in a process of its own.
    MglSpawn,
    /// This repository's driver, on OpenGL ES.
    MglEspryt,
    /// The same with the backend on a second thread.
    MglEsprytInproc,
    /// Mesa's processor-only driver: the reference.
    Llvmpipe,
    /// Mesa's OpenGL on Vulkan: the peer that draws through the same Vulkan driver as MGL.
    Zink,
    /// Mesa's OpenGL that draws in the process of `virgl_test_server`, which has to run: `bench virgl` sees to it.
    #[value(skip)]
    Virgl,
}

/// Mesa's manifests for the glvnd dispatcher.
const MESA_MANIFESTS: &[&str] = &["/usr/share/glvnd/egl_vendor.d/50_mesa.json", "/etc/glvnd/egl_vendor.d/50_mesa.json"];

/// Manifests of lavapipe, the Vulkan driver that needs no GPU.
pub const LAVAPIPE_MANIFESTS: &[&str] = &[
    "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json",
    "/usr/share/vulkan/icd.d/lvp_icd.aarch64.json",
    "/usr/share/vulkan/icd.d/lvp_icd.json",
];

impl GlDriver {
    /// The name used in tables.
    pub fn label(self) -> &'static str {
        match self {
            GlDriver::Mgl => "MGL",
            GlDriver::MglInproc => "MGL inproc",
            GlDriver::MglSpawn => "MGL spawn",
            GlDriver::MglEspryt => "MGL-Espryt",
            GlDriver::MglEsprytInproc => "Espryt inproc",
            GlDriver::Llvmpipe => "llvmpipe",
            GlDriver::Zink => "Zink",
            GlDriver::Virgl => "virgl",
        }
    }

    /// The name by which the programs of `mgl-tests` know this driver.
    pub fn program_name(self) -> &'static str {
        match self {
            GlDriver::Mgl => "magma/monolith",
            GlDriver::MglInproc => "magma/inproc",
            GlDriver::MglSpawn => "magma/spawn",
            GlDriver::MglEspryt => "espryt/monolith",
            GlDriver::MglEsprytInproc => "espryt/inproc",
            GlDriver::Llvmpipe => "llvmpipe",
            GlDriver::Zink => "zink",
            GlDriver::Virgl => "virgl",
        }
    }

    /// The name in those of files and folders.
    pub fn file_name(self) -> String {
        self.label().to_lowercase().replace(' ', "-")
    }

    /// Whether it is this repository's driver, which has to be built.
    pub fn is_ours(self) -> bool {
        self.transport().is_some()
    }

    /// Where the backend of this repository's driver runs; `None` for another one's.
    pub fn transport(self) -> Option<Transport> {
        match self {
            GlDriver::Mgl | GlDriver::MglEspryt => Some(Transport::Monolith),
            GlDriver::MglInproc | GlDriver::MglEsprytInproc => Some(Transport::Inproc),
            GlDriver::MglSpawn => Some(Transport::Spawn),
            GlDriver::Llvmpipe | GlDriver::Zink | GlDriver::Virgl => None,
        }
    }

    /// The variables that make an off-screen program use this driver. MGL has to be built before
    /// (`release` says which profile).
    ///
    /// All drivers get the same Vulkan driver, lavapipe, unless the environment names another one, so that their
    /// figures can be compared.
    ///
    /// # Errors
    /// When MGL's library is not there.
    pub fn variables(self, workspace: &Workspace, release: bool) -> Result<BTreeMap<&'static str, OsString>> {
        let mut variables: BTreeMap<&'static str, OsString> = BTreeMap::new();
        match self {
            GlDriver::Mgl
            | GlDriver::MglInproc
            | GlDriver::MglSpawn
            | GlDriver::MglEspryt
            | GlDriver::MglEsprytInproc => {
                let transport = self.transport().unwrap_or(Transport::Monolith);
                let on_gles = matches!(self, GlDriver::MglEspryt | GlDriver::MglEsprytInproc);
                let backend = if on_gles { Backend::Espryt } else { Backend::Magma };
                let choice = DriverChoice { backend, transport, release, shadow: false };
                let dir = driver_dir::snapshot(workspace, release)?;
                variables = environment::variables(workspace, &dir, &choice);
            }
            GlDriver::Llvmpipe => {
                variables.insert("LIBGL_ALWAYS_SOFTWARE", "1".into());
                variables.insert("GALLIUM_DRIVER", "llvmpipe".into());
            }
            GlDriver::Zink => {
                variables.insert("LIBGL_ALWAYS_SOFTWARE", "1".into());
                variables.insert("GALLIUM_DRIVER", "zink".into());
                variables.insert("MESA_LOADER_DRIVER_OVERRIDE", "zink".into());
            }
            GlDriver::Virgl => {
                variables.insert("LIBGL_ALWAYS_SOFTWARE", "1".into());
                variables.insert("GALLIUM_DRIVER", "virpipe".into());
            }
        }
        if !self.is_ours() {
            if let Some(manifest) = MESA_MANIFESTS.iter().find(|path| Path::new(path).exists()) {
                variables.insert("__EGL_VENDOR_LIBRARY_FILENAMES", manifest.into());
            }
        }
        if !packages::user_chose_vulkan_driver() {
            if let Some(manifest) = LAVAPIPE_MANIFESTS.iter().find(|path| Path::new(path).exists()) {
                variables.insert("VK_ICD_FILENAMES", manifest.into());
            }
        }
        variables.insert("PIGLIT_PLATFORM", "surfaceless_egl".into());
        if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
            variables.insert("XDG_RUNTIME_DIR", workspace.scratch("runtime")?.into_os_string());
        }
        Ok(variables)
    }
}
