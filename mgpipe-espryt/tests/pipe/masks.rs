//! The same picture without each extension: what is masked is read when the driver is opened, hence a process for each mask.

use crate::{scene, watch};
use std::process::Command;

/// Set in the processes that draw.
const CHILD: &str = "MGL_TEST_ESPRYT_CHILD";

/// What can be hidden, with what stands in for it.
const MASKS: [&str; 5] = [
    "ES32",
    "EXT_buffer_storage",
    "EXT_texture_view,OES_texture_view",
    "ES32,EXT_copy_image,OES_copy_image",
    "ES32,EXT_draw_buffers_indexed,OES_draw_buffers_indexed,EXT_sRGB_write_control,EXT_base_instance",
];

#[test]
fn every_mask_draws_the_same() {
    if std::env::var_os(CHILD).is_some() {
        let (screen, listener) = watch::open();
        let texels = scene::draw(&*screen).expect("drawn");
        watch::assert_is_the_scene(&texels);
        listener.assert_silent();
        return;
    }
    let exe = std::env::current_exe().expect("this test's own program");
    for mask in MASKS {
        let output = Command::new(&exe)
            .args(["masks::every_mask_draws_the_same", "--exact"])
            .env(CHILD, "1")
            .env("MGL_ESPRYT_MASK", mask)
            .output()
            .expect("it starts");
        assert!(output.status.success(), "{mask}:\n{}", String::from_utf8_lossy(&output.stdout));
    }
}
