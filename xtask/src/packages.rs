//! System packages: which are needed for what, which are missing, and how to get them.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{bail, Result};

use crate::exec;
use crate::workspace::Workspace;

/// One thing that has to be on the machine.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    /// Debian package that brings it.
    pub package: &'static str,
    /// What it is for, in a few words.
    pub purpose: &'static str,
    /// How to see that it is there whatever installed it.
    pub probe: Probe,
}

/// How the presence of a need is seen without asking a package manager.
#[derive(Clone, Copy, Debug)]
pub enum Probe {
    /// One of these programs is on `PATH`.
    Program(&'static [&'static str]),
    /// The dynamic linker knows one of these libraries.
    Library(&'static [&'static str]),
    /// One of these files exists.
    File(&'static [&'static str]),
    /// A Vulkan driver manifest is in one of the places where the loader looks.
    VulkanDriver,
    /// Python's `venv` module can make an environment with `pip` in it.
    PythonVenv,
}

/// What building and running MGL takes.
pub const FOR_RUN: &[Need] = &[
    Need { package: "g++", purpose: "compiles glslang", probe: Probe::Program(&["c++", "g++", "clang++"]) },
    Need {
        package: "libegl1",
        purpose: "finds and loads EGL drivers (glvnd)",
        probe: Probe::Library(&["libEGL.so.1"]),
    },
    Need { package: "libopengl0", purpose: "OpenGL entry points (glvnd)", probe: Probe::Library(&["libOpenGL.so.0"]) },
    Need {
        package: "libgl1",
        purpose: "OpenGL entry points under the old name",
        probe: Probe::Library(&["libGL.so.1"]),
    },
    Need { package: "libvulkan1", purpose: "the Vulkan loader", probe: Probe::Library(&["libvulkan.so.1"]) },
    Need { package: "mesa-vulkan-drivers", purpose: "a Vulkan driver that needs no GPU", probe: Probe::VulkanDriver },
];

/// What the tests take besides.
pub const FOR_TEST: &[Need] = &[
    Need {
        package: "mesa-vulkan-drivers",
        purpose: "lavapipe, the Vulkan driver that the tests draw with",
        probe: Probe::File(&[
            "/usr/share/vulkan/icd.d/lvp_icd.x86_64.json",
            "/usr/share/vulkan/icd.d/lvp_icd.aarch64.json",
            "/usr/share/vulkan/icd.d/lvp_icd.json",
        ]),
    },
    Need {
        package: "vulkan-validationlayers",
        purpose: "checks every Vulkan call of the tests",
        probe: Probe::File(&["/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"]),
    },
    Need { package: "libegl-mesa0", purpose: "the reference GL", probe: Probe::Library(&["libEGL_mesa.so.0"]) },
    Need {
        package: "libgl1-mesa-dri",
        purpose: "the reference GL (llvmpipe, Zink)",
        probe: Probe::File(&[
            "/usr/lib/x86_64-linux-gnu/dri/swrast_dri.so",
            "/usr/lib/aarch64-linux-gnu/dri/swrast_dri.so",
            "/usr/lib64/dri/swrast_dri.so",
        ]),
    },
    Need {
        package: "libegl-dev",
        purpose: "the name libEGL.so, which Python programs load",
        probe: Probe::Library(&["libEGL.so"]),
    },
    Need {
        package: "libgl-dev",
        purpose: "the name libGL.so, which Python programs load",
        probe: Probe::Library(&["libGL.so"]),
    },
    PIGLIT,
    Need { package: "python3-venv", purpose: "Python programs that draw", probe: Probe::PythonVenv },
    Need {
        package: "libxrender1",
        purpose: "VTK, a Python program that draws, links to it",
        probe: Probe::Library(&["libXrender.so.1"]),
    },
    Need { package: "xvfb", purpose: "an X server without a screen", probe: Probe::Program(&["Xvfb"]) },
    Need { package: "weston", purpose: "a Wayland compositor without a screen", probe: Probe::Program(&["weston"]) },
    Need {
        package: "libwayland-egl1",
        purpose: "windows of Wayland programs",
        probe: Probe::Library(&["libwayland-egl.so.1"]),
    },
    Need {
        package: "qt6-wayland",
        purpose: "Qt 6 at a Wayland compositor",
        probe: Probe::File(&["/usr/lib/x86_64-linux-gnu/qt6/plugins/platforms/libqwayland-egl.so"]),
    },
    Need {
        package: "libx11-xcb1",
        purpose: "how windows of Xlib programs are looked at",
        probe: Probe::Library(&["libX11-xcb.so.1"]),
    },
    Need { package: "libsdl2-2.0-0", purpose: "programs with windows", probe: Probe::Library(&["libSDL2-2.0.so.0"]) },
    Need {
        package: "gir1.2-gtk-4.0",
        purpose: "a program with windows",
        probe: Probe::File(&["/usr/lib/x86_64-linux-gnu/girepository-1.0/Gtk-4.0.typelib"]),
    },
    Need {
        package: "python3-gi",
        purpose: "a program with windows",
        probe: Probe::File(&["/usr/lib/python3/dist-packages/gi/__init__.py"]),
    },
    Need { package: "mpv", purpose: "a program with windows", probe: Probe::Program(&["mpv"]) },
    Need { package: "libglfw3", purpose: "programs with windows", probe: Probe::Library(&["libglfw.so.3"]) },
    Need {
        package: "mesa-utils-extra",
        purpose: "a program for OpenGL ES, which is refused",
        probe: Probe::Program(&["es2gears_x11"]),
    },
    Need {
        package: "python3-pyqt6",
        purpose: "Qt 6, whose widgets draw with OpenGL",
        probe: Probe::File(&["/usr/lib/python3/dist-packages/PyQt6/QtOpenGLWidgets.abi3.so"]),
    },
    Need {
        package: "python3-pyqt6.qtquick",
        purpose: "Qt Quick, whose scenes Qt's renderer draws with OpenGL",
        probe: Probe::File(&["/usr/lib/python3/dist-packages/PyQt6/QtQuick.abi3.so"]),
    },
    Need {
        package: "qml6-module-qtquick",
        purpose: "scenes of Qt Quick",
        probe: Probe::File(&["/usr/lib/x86_64-linux-gnu/qt6/qml/QtQuick/qmldir"]),
    },
    Need {
        package: "qml6-module-qtqml",
        purpose: "Qt Quick imports it",
        probe: Probe::File(&["/usr/lib/x86_64-linux-gnu/qt6/qml/QtQml/qmldir"]),
    },
    Need {
        package: "qml6-module-qtquick-window",
        purpose: "windows of Qt Quick",
        probe: Probe::File(&["/usr/lib/x86_64-linux-gnu/qt6/qml/QtQuick/Window/qmldir"]),
    },
    Need {
        package: "qml6-module-qtqml-workerscript",
        purpose: "Qt Quick imports it",
        probe: Probe::File(&["/usr/lib/x86_64-linux-gnu/qt6/qml/QtQml/WorkerScript/qmldir"]),
    },
    Need { package: "mesa-utils", purpose: "glxinfo, a GLX program", probe: Probe::Program(&["glxinfo"]) },
    Need { package: "spirv-tools", purpose: "validates shaders", probe: Probe::Program(&["spirv-val"]) },
    Need { package: "git", purpose: "lists the tracked files", probe: Probe::Program(&["git"]) },
];

const PIGLIT: Need =
    Need { package: "piglit", purpose: "OpenGL conformance tests", probe: Probe::Program(&["piglit"]) };

/// What running piglit's programs takes.
pub const FOR_PIGLIT: &[Need] = &[PIGLIT];

/// What the comparison with virgl takes besides.
pub const FOR_VIRGL: &[Need] = &[Need {
    package: "virgl-server",
    purpose: "the other GL driver that draws in a process of its own",
    probe: Probe::Program(&["virgl_test_server"]),
}];

impl Need {
    /// True when the machine has it.
    pub fn is_met(&self) -> bool {
        match self.probe {
            Probe::Program(names) => names.iter().any(|name| exec::has_program(name)),
            Probe::Library(names) => names.iter().any(|name| has_library(name)),
            Probe::File(paths) => paths.iter().any(|path| Path::new(path).exists()),
            // Where the environment chooses the driver, no package helps; the command that needs one explains.
            Probe::VulkanDriver => user_chose_vulkan_driver() || !vulkan_manifests().is_empty(),
            Probe::PythonVenv => Command::new("python3")
                .args(["-c", "import venv, ensurepip"])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .is_ok_and(|status| status.success()),
        }
    }
}

/// Vulkan driver manifests in the places where the loader looks, or the ones that the environment names.
pub fn vulkan_manifests() -> Vec<std::path::PathBuf> {
    for variable in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        if let Some(value) = std::env::var_os(variable) {
            return std::env::split_paths(&value).filter(|path| path.exists()).collect();
        }
    }
    let mut dirs: Vec<std::path::PathBuf> =
        ["/etc/vulkan/icd.d", "/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d"]
            .iter()
            .map(std::path::PathBuf::from)
            .collect();
    if let Some(home) = std::env::var_os("HOME") {
        dirs.push(Path::new(&home).join(".local/share/vulkan/icd.d"));
    }
    let mut found = Vec::new();
    for dir in dirs {
        let Ok(entries) = std::fs::read_dir(dir) else {
            continue;
        };
        for entry in entries.flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "json") {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

/// True when the environment names the Vulkan drivers to use.
pub fn user_chose_vulkan_driver() -> bool {
    ["VK_ICD_FILENAMES", "VK_DRIVER_FILES"].iter().any(|name| std::env::var_os(name).is_some())
}

/// True when the dynamic linker finds the library by this exact name.
pub fn has_library(name: &str) -> bool {
    let usual = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/lib"];
    if usual.iter().any(|dir| Path::new(dir).join(name).exists()) {
        return true;
    }
    let Some(ldconfig) = exec::find_program("ldconfig").or_else(|| {
        let path = Path::new("/sbin/ldconfig");
        path.exists().then(|| path.to_path_buf())
    }) else {
        return false;
    };
    let Ok(output) = Command::new(ldconfig).arg("-p").stdin(Stdio::null()).output() else {
        return false;
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().any(|line| line.split_whitespace().next() == Some(name))
}

/// Sees that every need is met; installs Debian packages when this process may.
///
/// # Errors
/// When something is missing and cannot be installed here; the message holds the exact command to type.
pub fn ensure(workspace: &Workspace, needs: &[Need]) -> Result<()> {
    let missing: Vec<&Need> = needs.iter().filter(|need| !need.is_met()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let mut names: Vec<&str> = missing.iter().map(|need| need.package).collect();
    names.sort_unstable();
    names.dedup();
    exec::say("Missing on this machine:");
    for need in &missing {
        exec::say(format!("    {:<26} {}", need.package, need.purpose));
    }
    if !exec::has_program("apt-get") {
        bail!(
            "no apt-get here. Install the equivalents of these Debian packages with this system's package manager \
             and try again: {}",
            names.join(" ")
        );
    }
    let command_line = format!("apt-get update && apt-get install -y --no-install-recommends {}", names.join(" "));
    if !rustix::process::geteuid().is_root() {
        bail!("not root, so nothing was installed. Type this and try again:\n\n    sudo sh -c '{command_line}'\n");
    }
    let log = workspace.log("apt-update");
    let update = exec::logged(Command::new("apt-get").args(["update"]), "updating the package lists", &log)?;
    if !update.status.success() {
        // An old list often still serves, so the install is tried all the same.
        update.print_tail(10);
    }
    let log = workspace.log("apt-install");
    let mut install = Command::new("apt-get");
    install.args(["install", "-y", "--no-install-recommends"]).args(&names).env("DEBIAN_FRONTEND", "noninteractive");
    let finished = exec::logged(&mut install, &format!("installing {}", names.join(" ")), &log)?;
    if !finished.status.success() {
        finished.print_tail(20);
        bail!("installing packages failed. The command was:\n\n    {command_line}\n");
    }
    let still: Vec<&str> = missing.iter().filter(|need| !need.is_met()).map(|need| need.package).collect();
    if !still.is_empty() {
        bail!("installed, and still not usable: {}", still.join(" "));
    }
    Ok(())
}
