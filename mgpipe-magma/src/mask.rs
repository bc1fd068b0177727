//! `MGL_MAGMA_DISABLE`: what Magma treats as missing, so that fallbacks can be tested on a device that needs none.

use crate::features::OPTIONAL;
use mgpipe_types::{PipeError, PipeResult};
use std::ffi::CStr;

/// The value that stands for everything beyond Vulkan 1.1.
const VULKAN_1_1: &str = "vulkan11";

/// What is treated as missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mask {
    /// Every optional extension, and every later version of Vulkan.
    pub(crate) vulkan11: bool,
    names: Vec<&'static CStr>,
}

/// An extension's name without `VK_` and the tag of who published it.
fn short(name: &'static CStr) -> &'static str {
    let name = name.to_str().unwrap_or_default();
    name.splitn(3, '_').nth(2).unwrap_or(name)
}

impl Mask {
    /// Reads the environment variable.
    ///
    /// # Errors
    /// [`PipeError::Init`] for a name that Magma does not know: a mask that hides nothing would test nothing.
    pub(crate) fn from_environment() -> PipeResult<Mask> {
        let text = mgpipe_types::switches::switch("MGL_MAGMA_DISABLE").unwrap_or_default();
        Mask::parse(&text.to_string_lossy()).map_err(PipeError::Init)
    }

    fn parse(text: &str) -> Result<Mask, String> {
        let mut mask = Mask::default();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            if name == VULKAN_1_1 {
                mask.vulkan11 = true;
                continue;
            }
            let known = OPTIONAL.iter().find(|e| e.name.to_bytes() == name.as_bytes() || short(e.name) == name);
            match known {
                Some(extension) => mask.names.push(extension.name),
                None => {
                    let names: Vec<_> = OPTIONAL.iter().map(|extension| short(extension.name)).collect();
                    return Err(format!(
                        "MGL_MAGMA_DISABLE: {name:?} is nothing that Magma can do without; it takes {VULKAN_1_1}, {}, \
                         with or without VK_KHR_ or VK_EXT_",
                        names.join(", ")
                    ));
                }
            }
        }
        Ok(mask)
    }

    /// Whether an extension is treated as missing.
    pub(crate) fn hides(&self, name: &CStr) -> bool {
        self.vulkan11 || self.names.contains(&name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_long_and_short() {
        let mask = Mask::parse(" VK_KHR_dynamic_rendering, multi_draw ,").expect("both are known");
        assert!(mask.hides(c"VK_KHR_dynamic_rendering") && mask.hides(c"VK_EXT_multi_draw"));
        assert!(!mask.hides(c"VK_EXT_robustness2") && !mask.vulkan11);
        assert_eq!(Mask::parse(""), Ok(Mask::default()));
    }

    #[test]
    fn plain_vulkan_1_1_hides_every_extension() {
        let mask = Mask::parse("vulkan11").expect("a known name");
        assert!(OPTIONAL.iter().all(|extension| mask.hides(extension.name)));
    }

    #[test]
    fn an_unknown_name_is_refused_with_the_choices() {
        let why = Mask::parse("multi_draw,dynamic_rendring").expect_err("a misspelt name");
        assert!(why.contains("\"dynamic_rendring\"") && why.contains(" dynamic_rendering,") && !why.contains('\n'));
        assert!(Mask::parse("VK_NV_mesh_shader").is_err());
    }
}
