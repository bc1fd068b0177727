//! Link options of the driver library.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Without -Bsymbolic the table behind eglGetProcAddress would resolve to libGL's functions of the same names when a
    // process has loaded libglvnd first, and every call would come back to us through the dispatcher for ever.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    // Compile threads and thread-local destructors may outlive a dlclose.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libmgl.so");
}
