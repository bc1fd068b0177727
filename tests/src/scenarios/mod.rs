//! Every scenario, one module per topic.

mod attachment;
mod buffer;
mod buffer_stream;
mod clear;
mod clear_detail;
mod context;
mod control;
mod default_framebuffer;
mod draw;
mod error;
mod error_detail;
mod fragment;
mod framebuffer;
mod framebuffer_blit;
mod hostile;
mod hostile_arguments;
mod hostile_draw;
mod hostile_shader;
mod mapping;
mod mixed;
mod object;
mod page_end;
mod primitive;
mod query;
mod query_detail;
mod raster;
mod shader;
mod share;
mod state_detail;
mod texture;
mod texture_copy;
mod texture_format;
mod texture_kind;
mod texture_sampling;
mod transfer;
mod transfer_conversion;
mod transfer_format;
mod transfer_large;
mod transfer_order;
mod varying;
mod vertex;

use crate::scene::Scenario;

/// All scenarios, negative controls included.
pub fn all() -> Vec<Scenario> {
    [
        clear::SCENARIOS,
        clear_detail::SCENARIOS,
        draw::SCENARIOS,
        raster::SCENARIOS,
        primitive::SCENARIOS,
        fragment::SCENARIOS,
        texture::SCENARIOS,
        texture_format::SCENARIOS,
        texture_kind::SCENARIOS,
        texture_copy::SCENARIOS,
        texture_sampling::SCENARIOS,
        transfer::SCENARIOS,
        transfer_large::SCENARIOS,
        transfer_format::SCENARIOS,
        transfer_conversion::SCENARIOS,
        transfer_order::SCENARIOS,
        page_end::SCENARIOS,
        framebuffer::SCENARIOS,
        framebuffer_blit::SCENARIOS,
        default_framebuffer::SCENARIOS,
        attachment::SCENARIOS,
        shader::SCENARIOS,
        varying::SCENARIOS,
        vertex::SCENARIOS,
        buffer::SCENARIOS,
        mapping::SCENARIOS,
        buffer_stream::SCENARIOS,
        query::SCENARIOS,
        query_detail::SCENARIOS,
        object::SCENARIOS,
        context::SCENARIOS,
        share::SCENARIOS,
        error::SCENARIOS,
        error_detail::SCENARIOS,
        state_detail::SCENARIOS,
        hostile::SCENARIOS,
        hostile_draw::SCENARIOS,
        hostile_arguments::SCENARIOS,
        hostile_shader::SCENARIOS,
        mixed::SCENARIOS,
        control::SCENARIOS,
    ]
    .concat()
}

/// The scenario of that name.
pub fn find(name: &str) -> Option<Scenario> {
    all().into_iter().find(|s| s.name == name)
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_unique_and_plain() {
        let mut names: Vec<&str> = super::all().iter().map(|s| s.name).collect();
        let plain = |n: &str| n.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        assert!(names.iter().all(|n| plain(n)), "{names:?}");
        let n_all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), n_all);
        assert!(n_all >= 380, "{n_all}");
    }

    #[test]
    fn the_list_of_behaviours_names_scenarios() {
        let text = include_str!("../../../docs/behaviors.md");
        let is_name =
            |n: &&str| n.contains('_') && n.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
        let named: Vec<&str> = text.split('`').skip(1).step_by(2).filter(is_name).collect();
        assert!(named.len() > 60, "{named:?}");
        for name in named {
            assert!(super::find(name).is_some(), "no scenario {name}");
        }
    }
}
