//! Strings, configs and visuals.

use crate::glx::*;
use crate::ways;

#[test]
fn strings_and_extensions() {
    ways::both("configs::strings_and_extensions", || {
        let glx = Glx::load();
        // SAFETY: strings of GLX, and variables to write.
        unsafe {
            let (mut major, mut minor) = (0, 0);
            assert_ne!((glx.query_version)(glx.dpy, &mut major, &mut minor), 0);
            assert_eq!((major, minor), (1, 4));
            assert_eq!(Glx::text((glx.query_server_string)(glx.dpy, 0, 1)), "MGL");
            let version = Glx::text((glx.get_client_string)(glx.dpy, 2));
            assert!(version.starts_with("1.4"), "{version}");
            assert!(Glx::text((glx.get_client_string)(glx.dpy, 1)).contains("MGL"));
            let extensions = Glx::text((glx.query_extensions_string)(glx.dpy, 0));
            for name in ["GLX_ARB_create_context_profile", "GLX_EXT_swap_control", "GLX_ARB_multisample"] {
                assert!(extensions.split(' ').any(|e| e == name), "{name} is not in {extensions}");
            }
            // What is not listed has no function; a GL function has one that is not null.
            for name in [c"glXSwapIntervalEXT", c"glXSwapIntervalSGI", c"glXGetSwapIntervalMESA", c"glDrawArrays"] {
                let _: unsafe extern "C" fn() = glx.proc(name);
            }
            assert!((glx.query_extensions_string)(glx.dpy, 7).is_null());
        }
    });
}

#[test]
fn configs_are_chosen_and_sorted() {
    ways::both("configs::configs_are_chosen_and_sorted", || {
        let glx = Glx::load();
        let all = glx.choose(&[DRAWABLE_TYPE, 0]).expect("configs");
        let mut count = 0;
        // SAFETY: the array is freed with XFree.
        unsafe {
            let list = (glx.get_fb_configs)(glx.dpy, 0, &mut count);
            assert!(!list.is_null());
            (glx.x.free)(list.cast());
        }
        assert_eq!(all.len(), count as usize);
        // Table 3.4: colours that are asked for, small buffers, single buffers, few samples, depth, stencil.
        let wanted = [DRAWABLE_TYPE, PBUFFER_BIT, RED_SIZE, 1, ALPHA_SIZE, 1, DEPTH_SIZE, 1];
        let keys: Vec<_> = glx
            .choose(&wanted)
            .expect("configs")
            .iter()
            .map(|&c| {
                let value = |name| glx.value(c, name);
                assert!(value(DEPTH_SIZE) >= 1 && value(ALPHA_SIZE) >= 1);
                let colour = value(RED_SIZE) + value(ALPHA_SIZE);
                let order = (value(DOUBLEBUFFER), value(SAMPLES), -value(DEPTH_SIZE), value(STENCIL_SIZE));
                (-colour, value(BUFFER_SIZE), order)
            })
            .collect();
        assert!(keys.is_sorted() && keys.len() > 2, "{keys:?}");
        // Without a wish for depth, none comes first.
        let plain = glx.choose(&[RED_SIZE, 8]).expect("configs")[0];
        assert_eq!((glx.value(plain, DEPTH_SIZE), glx.value(plain, STENCIL_SIZE)), (0, 0));
        let id = glx.value(all[2], FBCONFIG_ID);
        assert_eq!(glx.choose(&[FBCONFIG_ID, id, RED_SIZE, 99]), Some(vec![all[2]]));
        for refused in [&[0x7777, 1][..], &[RED_SIZE, 99], &[SAMPLES, 1000], &[DRAWABLE_TYPE, 0x80]] {
            assert_eq!(glx.choose(refused), None, "{refused:?}");
        }
        // SAFETY: a variable to write.
        unsafe {
            let mut value = 0;
            assert_eq!((glx.fb_config_attrib)(glx.dpy, all[0], 0x7777, &mut value), 2, "GLX_BAD_ATTRIBUTE");
        }
        assert!(glx.value(all[0], MAX_PBUFFER_WIDTH) >= 4096);
        let srgb = glx.choose(&[SRGB, 1]).expect("configs with sRGB")[0];
        assert_eq!(glx.value(srgb, SRGB), 1);
        glx.expect(0);
    });
}

#[test]
fn visuals_belong_to_the_server() {
    ways::both("configs::visuals_belong_to_the_server", || {
        let glx = Glx::load();
        // SAFETY: terminated lists, variables to write, and visuals that are freed with XFree.
        unsafe {
            let mut seen = 0;
            for config in glx.choose(&[]).expect("configs with windows") {
                let visual = (glx.visual_from_fb_config)(glx.dpy, config);
                assert!(!visual.is_null());
                assert_eq!((*visual).id as i32, glx.value(config, VISUAL_ID));
                let mut usable = 0;
                assert_eq!((glx.get_config)(glx.dpy, visual, USE_GL, &mut usable), 0);
                assert_eq!(usable, 1);
                (glx.x.free)(visual.cast());
                seen += 1;
            }
            assert!(seen > 4);
            let mut list = [RGBA, DOUBLEBUFFER, RED_SIZE, 8, DEPTH_SIZE, 24, ALPHA_SIZE, 0, STENCIL_SIZE, 8, 0];
            let visual = (glx.choose_visual)(glx.dpy, 0, list.as_mut_ptr());
            assert!(!visual.is_null());
            let value = |attribute| {
                let mut value = -1;
                let done = (glx.get_config)(glx.dpy, visual, attribute, &mut value);
                (done, value)
            };
            assert_eq!((value(DEPTH_SIZE), value(STENCIL_SIZE), value(DOUBLEBUFFER)), ((0, 24), (0, 8), (0, 1)));
            assert_eq!((value(RGBA), value(0x7777).0), ((0, 1), 2));
            (glx.x.free)(visual.cast());
            let mut indexed = [BUFFER_SIZE, 8, 0];
            assert!((glx.choose_visual)(glx.dpy, 0, indexed.as_mut_ptr()).is_null());
            let mut unknown = [RGBA, 0x7777, 1, 0];
            assert!((glx.choose_visual)(glx.dpy, 0, unknown.as_mut_ptr()).is_null());
        }
        glx.expect(0);
    });
}
