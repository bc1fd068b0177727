//! The symbol table and `eglGetProcAddress` say the same.

use std::fs;
use std::process::Command;

use mgl::generated::gl_procs::PROCS;

use crate::driver::{library_path, Driver};

/// The functions of EGL 1.5.
const EGL_CORE: &str = "eglChooseConfig eglCopyBuffers eglCreateContext eglCreatePbufferSurface eglCreatePixmapSurface \
eglCreateWindowSurface eglDestroyContext eglDestroySurface eglGetConfigAttrib eglGetConfigs eglGetCurrentDisplay \
eglGetCurrentSurface eglGetDisplay eglGetError eglGetProcAddress eglInitialize eglMakeCurrent eglQueryContext \
eglQueryString eglQuerySurface eglSwapBuffers eglTerminate eglWaitGL eglWaitNative eglBindTexImage eglReleaseTexImage \
eglSurfaceAttrib eglSwapInterval eglBindAPI eglQueryAPI eglCreatePbufferFromClientBuffer eglReleaseThread eglWaitClient \
eglGetCurrentContext eglCreateSync eglDestroySync eglClientWaitSync eglGetSyncAttrib eglCreateImage eglDestroyImage \
eglGetPlatformDisplay eglCreatePlatformWindowSurface eglCreatePlatformPixmapSurface eglWaitSync";

#[test]
fn every_name_of_the_table_is_a_symbol_and_a_proc_address() {
    let driver = Driver::load();
    assert!(PROCS.len() > 2000);
    let names = PROCS.iter().map(|p| p.name()).chain(EGL_CORE.split_whitespace());
    for name in names {
        let symbol = driver.symbol(name);
        assert!(!symbol.is_null(), "{name} is not exported");
        assert_eq!(symbol, driver.proc(name), "{name}: eglGetProcAddress answers another function");
    }
    for name in ["glNoSuchFunction", "eglNoSuchFunction", "", "gl", "printf", "vkCreateInstance"] {
        assert!(driver.proc(name).is_null(), "{name}");
    }
    // SAFETY: null is allowed to fail.
    assert!(unsafe { (driver.proc_address)(std::ptr::null()) }.is_null());
}

#[test]
fn core_functions_of_every_version_are_in_the_table() {
    for name in
        ["glBegin", "glDrawArrays", "glTexImage3D", "glGenFramebuffers", "glDispatchCompute", "glSpecializeShader"]
    {
        assert!(PROCS.binary_search_by(|p| p.name().cmp(name)).is_ok(), "{name}");
    }
}

#[test]
fn nothing_else_is_exported() {
    let output = Command::new("nm").args(["-D", "--defined-only"]).arg(library_path()).output();
    let Ok(output) = output else {
        eprintln!("nm is not installed; the check did not run");
        return;
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let names: Vec<&str> = text.lines().filter_map(|l| l.split_whitespace().last()).collect();
    let handshakes = ["__egl_Main", "__glx_Main"];
    assert!(names.contains(&"glDrawArrays") && handshakes.iter().all(|name| names.contains(name)));
    let foreign: Vec<_> =
        names.iter().filter(|n| !n.starts_with("gl") && !n.starts_with("egl") && !handshakes.contains(n)).collect();
    assert!(foreign.is_empty(), "exported besides the API: {foreign:?}");
}

/// The whole thread-local segment comes out of the loader's static reserve (`tls.rs`), which every library of the
/// process shares.
#[test]
fn the_thread_local_segment_is_small() {
    let bytes = fs::read(library_path()).expect("the library is readable");
    let word = |at: usize, n: usize| -> usize {
        bytes.get(at..at + n).expect("inside the file").iter().rev().fold(0, |v, &b| v << 8 | usize::from(b))
    };
    let (table, size, count) = (word(32, 8), word(54, 2), word(56, 2));
    let tls = (0..count).map(|i| table + i * size).find(|&at| word(at, 4) == 7).expect("a TLS segment");
    let memory = word(tls + 40, 8);
    assert!((1..=512).contains(&memory), "{memory} bytes of thread-local storage");
}

/// Loading must cost nothing: no thread is started and the Vulkan loader is not mapped.
#[test]
fn loading_has_no_side_effects() {
    if !crate::child::is("load") {
        crate::child::succeed(&crate::child::run("exports::loading_has_no_side_effects", "load", &[]));
        return;
    }
    let threads = || fs::read_dir("/proc/self/task").expect("procfs").count();
    let before = threads();
    let driver = Driver::load();
    assert!(!driver.proc("glDrawArrays").is_null());
    assert_eq!(threads(), before);
    let maps = fs::read_to_string("/proc/self/maps").expect("procfs");
    assert!(maps.contains("libmgl.so") && !maps.contains("libvulkan"), "the Vulkan loader was mapped by loading");
}
