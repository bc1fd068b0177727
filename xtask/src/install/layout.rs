//! What an installation consists of, and where each part goes.

use std::path::{Path, PathBuf};

use crate::driver_dir::{self, SERVER};
use crate::environment::{shell_quote, NVIDIA_MANIFEST};

/// One file of an installation.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its path on the system where it is used.
    pub path: PathBuf,
    /// What it is.
    pub what: What,
}

/// What a file of an installation is.
#[derive(Clone, Debug)]
pub enum What {
    /// A copy of another one.
    Copy(PathBuf),
    /// A symbolic link.
    Link(PathBuf),
    /// A text.
    Text(String),
    /// A program for the shell.
    Script(String),
}

/// Where the parts of an installation go.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The folder of the library and the server.
    driver: PathBuf,
    /// The folder in which libglvnd finds the GLX vendor library: one of the dynamic linker, or of `LD_LIBRARY_PATH`.
    glx: PathBuf,
    /// libglvnd's manifest.
    manifest: PathBuf,
    pkg_config: PathBuf,
    share: PathBuf,
    bin: PathBuf,
    /// Files that make MGL the default for GLX: a script for login shells and a list for systemd's user sessions.
    defaults: Option<[PathBuf; 2]>,
    prefix: PathBuf,
}

impl Layout {
    /// Everything in a folder of its own.
    pub fn under(prefix: &Path) -> Layout {
        let driver = prefix.join("lib/mgl");
        Layout {
            glx: driver.join("glvnd"),
            driver,
            manifest: prefix.join("share/glvnd/egl_vendor.d/50_mgl.json"),
            pkg_config: prefix.join("lib/pkgconfig"),
            share: prefix.join("share/mgl"),
            bin: prefix.join("bin"),
            defaults: None,
            prefix: prefix.to_path_buf(),
        }
    }

    /// The whole system, by hand.
    pub fn system() -> Layout {
        let prefix = Path::new("/usr/local");
        Layout {
            driver: prefix.join("lib/mgl"),
            glx: prefix.join("lib"),
            // Its number is what makes it the first of all vendors.
            manifest: "/etc/glvnd/egl_vendor.d/05_mgl.json".into(),
            pkg_config: prefix.join("lib/pkgconfig"),
            share: prefix.join("share/mgl"),
            bin: prefix.join("bin"),
            defaults: Some(["/etc/profile.d/mgl.sh".into(), "/etc/environment.d/50-mgl.conf".into()]),
            prefix: prefix.to_path_buf(),
        }
    }

    /// The whole system, by a package; `triplet` names the folder for libraries of this kind of machine.
    pub fn package(triplet: &str) -> Layout {
        let library = Path::new("/usr/lib").join(triplet);
        Layout {
            driver: library.join("mgl"),
            pkg_config: library.join("pkgconfig"),
            glx: library,
            manifest: "/usr/share/glvnd/egl_vendor.d/05_mgl.json".into(),
            share: "/usr/share/mgl".into(),
            bin: "/usr/bin".into(),
            defaults: Some(["/etc/profile.d/mgl.sh".into(), "/usr/lib/environment.d/50-mgl.conf".into()]),
            prefix: "/usr".into(),
        }
    }

    /// Whether programs get MGL by default.
    pub fn is_system(&self) -> bool {
        self.defaults.is_some()
    }

    /// The list of what was installed.
    pub fn list(&self) -> PathBuf {
        self.share.join("installed.txt")
    }

    /// The file that describes the installation.
    pub fn description(&self) -> PathBuf {
        self.share.join("mgl_icd.json")
    }

    /// All files but the list.
    pub fn entries(&self, library: &Path, server: &Path) -> Vec<Entry> {
        let mut entries = Vec::new();
        let mut add = |path: PathBuf, what| entries.push(Entry { path, what });
        let installed = self.driver.join("libmgl.so");
        add(installed.clone(), What::Copy(library.to_path_buf()));
        add(self.driver.join(SERVER), What::Copy(server.to_path_buf()));
        let below = if self.glx.starts_with(&self.driver) { "../libmgl.so" } else { "mgl/libmgl.so" };
        add(self.glx.join(driver_dir::GLX_NAME), What::Link(below.into()));
        for name in driver_dir::SHADOW_NAMES {
            add(self.driver.join("shadow").join(name), What::Link("../libmgl.so".into()));
        }
        add(self.manifest.clone(), What::Text(driver_dir::manifest_text(&installed)));
        add(self.description(), What::Text(self.description_text()));
        add(self.pkg_config.join("mgl.pc"), What::Text(self.pkg_config_text()));
        add(self.share.join("env.sh"), What::Text(format!("{}{}", self.how_to_read(), self.exports())));
        let run =
            format!("#!/bin/sh\n# Runs a program on MGL: mgl-run PROGRAM [ARGUMENTS]\n{}exec \"$@\"\n", self.exports());
        add(self.bin.join("mgl-run"), What::Script(run));
        if let Some([shell, session]) = &self.defaults {
            let note = "# MGL is the GLX driver unless the user has chosen another one.\n";
            let text = format!(": \"${{{GLX_VARIABLE}:=mgl}}\"\nexport {GLX_VARIABLE}\n");
            add(shell.clone(), What::Text(format!("{note}{text}")));
            add(session.clone(), What::Text(format!("{note}{GLX_VARIABLE}=${{{GLX_VARIABLE}:-mgl}}\n")));
        }
        entries
    }

    fn how_to_read(&self) -> String {
        format!(
            "# Programs started from a shell that has read this file run on MGL: . {}\n",
            self.share.join("env.sh").display()
        )
    }

    /// The variables that choose MGL, as lines for a shell.
    fn exports(&self) -> String {
        let quoted = |path: &Path| shell_quote(&path.to_string_lossy());
        let nvidia = NVIDIA_MANIFEST;
        let mut text = format!(
            "__EGL_VENDOR_LIBRARY_FILENAMES={}\n\
             # NVIDIA's Vulkan driver finds its devices through its own EGL driver.\n\
             [ -e {nvidia} ] && __EGL_VENDOR_LIBRARY_FILENAMES=$__EGL_VENDOR_LIBRARY_FILENAMES:{nvidia}\n\
             {GLX_VARIABLE}=mgl\n\
             export __EGL_VENDOR_LIBRARY_FILENAMES {GLX_VARIABLE}\n",
            quoted(&self.manifest)
        );
        if !self.is_system() {
            text.push_str(&format!(
                "LD_LIBRARY_PATH={}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}\nexport LD_LIBRARY_PATH\n",
                quoted(&self.glx)
            ));
        }
        text
    }

    fn description_text(&self) -> String {
        let text = |path: PathBuf| path.to_string_lossy().into_owned();
        let description = serde_json::json!({
            "file_format_version": "1.0.0",
            "MGL": {
                "version": env!("CARGO_PKG_VERSION"),
                "library_path": text(self.driver.join("libmgl.so")),
                "server_path": text(self.driver.join(SERVER)),
                "egl_vendor": text(self.manifest.clone()),
                "glx_vendor": text(self.glx.join(driver_dir::GLX_NAME)),
                "shadow_path": text(self.driver.join("shadow")),
            },
        });
        format!("{description:#}\n")
    }

    fn pkg_config_text(&self) -> String {
        format!(
            "prefix={}\ndriverdir={}\negl_vendor={}\nglx_vendor=mgl\n\nName: MGL\nDescription: Desktop OpenGL driver on \
             Vulkan and OpenGL ES, loaded through libglvnd\nVersion: {}\n",
            self.prefix.display(),
            self.driver.display(),
            self.manifest.display(),
            env!("CARGO_PKG_VERSION")
        )
    }

    /// Lines for the user.
    pub fn how_to_use(&self) -> Vec<String> {
        let run = self.bin.join("mgl-run");
        if self.is_system() {
            return vec![
                "EGL programs run on MGL from now on; GLX programs do in sessions that begin from now on".into(),
                "(__GLX_VENDOR_LIBRARY_NAME=mgl, or mesa for Mesa's driver).".into(),
            ];
        }
        vec![
            format!("Run a program on MGL:        {} PROGRAM", run.display()),
            format!("All programs of this shell:  . {}", self.share.join("env.sh").display()),
        ]
    }
}

/// How libglvnd is told the name of the GLX driver.
pub const GLX_VARIABLE: &str = "__GLX_VENDOR_LIBRARY_NAME";

#[cfg(test)]
mod tests {
    use super::*;

    fn text(layout: &Layout, end: &str) -> String {
        let entries = layout.entries(Path::new("/from/l"), Path::new("/from/s"));
        let found = entries.iter().find(|entry| entry.path.ends_with(end)).unwrap();
        match &found.what {
            What::Text(text) | What::Script(text) => text.clone(),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn links_lead_to_the_library() {
        for layout in [Layout::under(Path::new("/p")), Layout::system(), Layout::package("some-triplet")] {
            let mut links = 0;
            for entry in layout.entries(Path::new("/from/l"), Path::new("/from/s")) {
                if let What::Link(to) = &entry.what {
                    links += 1;
                    let folder = entry.path.parent().unwrap();
                    let lead = match to.strip_prefix("..") {
                        Ok(rest) => folder.parent().unwrap().join(rest),
                        Err(_) => folder.join(to),
                    };
                    assert_eq!(lead, layout.driver.join("libmgl.so"), "{}", entry.path.display());
                }
            }
            assert_eq!(links, 1 + driver_dir::SHADOW_NAMES.len());
        }
    }

    #[test]
    fn a_folder_of_its_own_needs_variables_and_a_system_does_not() {
        let own = Layout::under(Path::new("/it's here"));
        let exports = text(&own, "env.sh");
        assert!(exports.contains(r"LD_LIBRARY_PATH='/it'\''s here/lib/mgl/glvnd'${LD_LIBRARY_PATH:+"), "{exports}");
        assert!(exports.contains("__GLX_VENDOR_LIBRARY_NAME=mgl"));
        assert!(!text(&Layout::system(), "env.sh").contains("LD_LIBRARY_PATH"));
        assert!(text(&Layout::system(), "profile.d/mgl.sh").contains(":=mgl}"));
    }

    #[test]
    fn the_shell_understands_what_is_written() {
        let script = text(&Layout::under(Path::new("/it's \"here\" $now")), "bin/mgl-run");
        let out = std::process::Command::new("sh")
            .args(["-c", &script, "mgl-run", "sh", "-c", "printf '%s|%s' \"$LD_LIBRARY_PATH\" \"$0\"", "x"])
            .env("LD_LIBRARY_PATH", "/before")
            .output()
            .unwrap();
        assert_eq!(String::from_utf8_lossy(&out.stdout), "/it's \"here\" $now/lib/mgl/glvnd:/before|x");
    }

    #[test]
    fn the_description_names_what_is_installed() {
        let layout = Layout::system();
        let value: serde_json::Value = serde_json::from_str(&text(&layout, "mgl_icd.json")).unwrap();
        assert_eq!(value["MGL"]["library_path"], "/usr/local/lib/mgl/libmgl.so");
        assert_eq!(value["MGL"]["glx_vendor"], "/usr/local/lib/libGLX_mgl.so.0");
        assert!(text(&layout, "mgl.pc").contains("\nVersion: "));
    }
}
