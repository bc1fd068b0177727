//! Choosing the GL driver of a child process by environment variables.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{bail, Context as _, Result};

/// A GL driver, as a child process gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Driver {
    /// Mesa llvmpipe: the independent reference.
    Llvmpipe,
    /// Mesa Zink on the Vulkan driver of the environment.
    Zink,
    /// Whatever the environment says; nothing is set.
    Inherited,
    /// MGL with a backend and a transport.
    Mgl {
        /// `magma` or `espryt`.
        backend: String,
        /// `monolith`, `inproc` or `spawn`.
        transport: String,
        /// The folder that holds `libmgl.so`.
        folder: PathBuf,
    },
}

impl Driver {
    /// Parses `llvmpipe`, `zink`, `inherited`, `magma`, `magma/monolith`, `espryt/spawn`, …
    pub fn parse(text: &str) -> Result<Self> {
        let (backend, transport) = text.split_once('/').unwrap_or((text, "monolith"));
        match (backend, transport) {
            ("llvmpipe", _) => Ok(Self::Llvmpipe),
            ("zink", _) => Ok(Self::Zink),
            ("inherited", _) => Ok(Self::Inherited),
            ("mgl", transport) => Self::parse(&format!("magma/{transport}")),
            ("magma" | "espryt", "monolith" | "inproc" | "spawn") => {
                Ok(Self::Mgl { backend: backend.into(), transport: transport.into(), folder: mgl_folder() })
            }
            _ => bail!("{text:?} is not a driver: llvmpipe, zink, inherited, or magma|espryt[/monolith|inproc|spawn]"),
        }
    }

    /// The name that [`Driver::parse`] reads.
    pub fn name(&self) -> String {
        match self {
            Self::Llvmpipe => "llvmpipe".into(),
            Self::Zink => "zink".into(),
            Self::Inherited => "inherited".into(),
            Self::Mgl { backend, transport, .. } => format!("{backend}/{transport}"),
        }
    }

    /// Whether the driver's files are there; the error says what to build.
    pub fn available(&self) -> Result<()> {
        match self {
            Self::Mgl { folder, .. } if !folder.join("libmgl.so").is_file() => bail!(
                "{} does not exist: build it (cargo build -p mgl-cdylib) or point MGL_TEST_DRIVER_DIR at its folder",
                folder.join("libmgl.so").display()
            ),
            _ => Ok(()),
        }
    }

    /// Sets the variables that make `command` use this driver. `scratch` receives the vendor file and the validation log.
    pub fn apply(&self, command: &mut Command, scratch: &Path) -> Result<()> {
        if *self == Self::Inherited {
            return Ok(());
        }
        for name in ["MESA_LOADER_DRIVER_OVERRIDE", "GALLIUM_DRIVER", "LD_PRELOAD", "DISPLAY", "WAYLAND_DISPLAY"] {
            command.env_remove(name);
        }
        command.env("EGL_PLATFORM", "surfaceless");
        match self {
            Self::Inherited => {}
            Self::Llvmpipe => {
                command.env("LIBGL_ALWAYS_SOFTWARE", "1").env("GALLIUM_DRIVER", "llvmpipe");
                command.env("__EGL_VENDOR_LIBRARY_FILENAMES", mesa_vendor_file());
                command.env("__GLX_VENDOR_LIBRARY_NAME", "mesa");
            }
            Self::Zink => {
                command.env("MESA_LOADER_DRIVER_OVERRIDE", "zink").env("GALLIUM_DRIVER", "zink");
                command.env("LIBGL_ALWAYS_SOFTWARE", "1");
                command.env("__EGL_VENDOR_LIBRARY_FILENAMES", mesa_vendor_file());
                command.env("__GLX_VENDOR_LIBRARY_NAME", "mesa");
            }
            Self::Mgl { backend, transport, folder } => {
                std::fs::create_dir_all(scratch).with_context(|| format!("{}", scratch.display()))?;
                // The file beside the library may name it without a folder, which only an installed driver resolves.
                let vendor = std::path::absolute(scratch.join("50_mgl.json"))?;
                let library = std::path::absolute(folder.join("libmgl.so"))?;
                std::fs::write(
                    &vendor,
                    format!("{{\"file_format_version\":\"1.0.0\",\"ICD\":{{\"library_path\":{library:?}}}}}\n"),
                )?;
                command.env("__EGL_VENDOR_LIBRARY_FILENAMES", vendor);
                let names = std::path::absolute(scratch.join("glvnd"))?;
                std::fs::create_dir_all(&names).with_context(|| format!("{}", names.display()))?;
                let link = names.join("libGLX_mgl.so.0");
                if !link.is_symlink() {
                    std::os::unix::fs::symlink(&library, &link).with_context(|| format!("{}", link.display()))?;
                }
                let mut paths = vec![names];
                paths.extend(std::env::var_os("LD_LIBRARY_PATH").iter().flat_map(std::env::split_paths));
                command.env("LD_LIBRARY_PATH", std::env::join_paths(paths)?).env("__GLX_VENDOR_LIBRARY_NAME", "mgl");
                command.env("MGL_BACKEND", backend).env("MGL_TRANSPORT", transport);
            }
        }
        Ok(())
    }
}

/// Mesa's own vendor file, unless `MGL_TEST_MESA_VENDOR` names another.
fn mesa_vendor_file() -> PathBuf {
    std::env::var_os("MGL_TEST_MESA_VENDOR")
        .map_or_else(|| PathBuf::from("/usr/share/glvnd/egl_vendor.d/50_mesa.json"), PathBuf::from)
}

/// `MGL_TEST_DRIVER_DIR`, else the build folder that the running executable is in.
pub fn mgl_folder() -> PathBuf {
    if let Some(folder) = std::env::var_os("MGL_TEST_DRIVER_DIR") {
        return PathBuf::from(folder);
    }
    let exe = std::env::current_exe().unwrap_or_default();
    let folder = exe.parent().unwrap_or(Path::new("."));
    if folder.ends_with("deps") {
        folder.parent().unwrap_or(folder).to_path_buf()
    } else {
        folder.to_path_buf()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for name in ["llvmpipe", "zink", "inherited", "magma/monolith", "espryt/spawn", "magma/inproc"] {
            assert_eq!(Driver::parse(name).unwrap().name(), name);
        }
        assert_eq!(Driver::parse("mgl").unwrap().name(), "magma/monolith");
        assert!(Driver::parse("magma/telepathy").is_err());
    }
}
