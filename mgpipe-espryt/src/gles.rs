//! What the host's driver offers: functions, version, extensions and limits.

use crate::disk_cache::{DiskCache, Question};
use crate::egl::{CurrentContext, Display, HostContext};
use crate::extras::Extras;
use crate::features::{Features, Mask, ES32, FRAGMENT_STORAGE, PARTIAL_MIPMAPS};
use crate::trial::{self, Outcome};
use glow::HasContext;
use std::ffi::{c_void, CStr};
use std::sync::Arc;
use std::time::Instant;

/// The driver's functions and facts; one a display, shared by all of its contexts.
pub(crate) struct Gles {
    pub(crate) gl: glow::Context,
    pub(crate) ext: Extras,
    pub(crate) has: Features,
    /// 31 or 32.
    pub(crate) version: u32,
    pub(crate) renderer: String,
    /// Whether every call is looked after for errors of the driver.
    pub(crate) watched: bool,
    scratch: u32,
    reset_status: Option<ResetStatus>,
    /// Answers of earlier processes.
    pub(crate) cache: Option<DiskCache>,
    /// What answers depend on besides the program: the driver, what it can do, and how programs are made for it.
    pub(crate) identity: String,
    /// The driver gives programs as binaries.
    pub(crate) binaries: bool,
}

/// How programs are made is part of every question.
const MAKERS: [&[u8]; 11] = [
    include_bytes!("capture.rs"),
    include_bytes!("essl.rs"),
    include_bytes!("interface.rs"),
    include_bytes!("logic_op.rs"),
    include_bytes!("program.rs"),
    include_bytes!("spirv.rs"),
    include_bytes!("split.rs"),
    include_bytes!("split/clip.rs"),
    include_bytes!("split/edit.rs"),
    include_bytes!("split/index.rs"),
    include_bytes!("texture_calls.rs"),
];

/// How promises are tried is part of the question whether they are kept.
const TRIALS: [&[u8]; 3] =
    [include_bytes!("trial.rs"), include_bytes!("trial/draws.rs"), include_bytes!("trial/texels.rs")];

/// `glGetGraphicsResetStatus`.
type ResetStatus = unsafe extern "system" fn() -> u32;

// SAFETY: the tables hold function addresses, which are the same for every context of the display and callable from any thread
// that has one of them current; nothing in them is written after loading.
unsafe impl Send for Gles {}
// SAFETY: as above.
unsafe impl Sync for Gles {}

impl Gles {
    /// Loads the functions of a display; `context` is current on this thread.
    ///
    /// # Errors
    /// A driver below OpenGL ES 3.1.
    pub(crate) fn load(display: &Arc<Display>, context: &HostContext) -> Result<Gles, String> {
        if !CurrentContext::is(context) {
            return Err("no context is current".into());
        }
        let find = |name: &CStr| display.proc_address(name);
        // SAFETY: a context is current on this thread, and the driver's own look-up gives its functions.
        let gl = unsafe { glow::Context::from_loader_function_cstr(find) };
        let version = gl.version();
        let mask = Mask::of_environment()?;
        // A masked version pretends to be the version below it, so that extensions of the newer one count alone.
        let es32 = (version.major, version.minor) >= (3, 2) && !mask.hides(ES32);
        let (major, minor) = (version.major, version.minor);
        if (major, minor) < (3, 1) {
            return Err(format!("OpenGL ES {major}.{minor}; 3.1 is needed"));
        }
        let known = gl.supported_extensions();
        let mut has = Features::new(es32, |name| known.contains(&format!("GL_{name}")) && !mask.hides(name));
        // SAFETY: the context is current; the name has one value.
        let blocks = unsafe { gl.get_parameter_i32(glow::MAX_FRAGMENT_SHADER_STORAGE_BLOCKS) };
        has.fragment_storage = blocks > 0 && !mask.hides(FRAGMENT_STORAGE);
        has.partial_mipmaps = !mask.hides(PARTIAL_MIPMAPS);
        let ext = Extras::load(&find);
        has.keep_what_is_there(|function| ext.is_there(function));
        // SAFETY: the context is current; the name is a valid string name.
        let (renderer, driver) =
            unsafe { (gl.get_parameter_string(glow::RENDERER), gl.get_parameter_string(glow::VERSION)) };
        // SAFETY: the context is current.
        let units = unsafe { gl.get_parameter_i32(glow::MAX_COMBINED_TEXTURE_IMAGE_UNITS) };
        let scratch = u32::try_from(units).unwrap_or(32).max(2) - 1;
        let watched = crate::mistakes::wanted();
        let reset_status =
            [c"glGetGraphicsResetStatus", c"glGetGraphicsResetStatusKHR", c"glGetGraphicsResetStatusEXT"]
                .into_iter()
                .map(find)
                .find(|function| !function.is_null())
                // SAFETY: the driver answers the GLES function of that name, whose signature this is.
                .map(|found| unsafe { std::mem::transmute::<*const c_void, ResetStatus>(found) });
        let version = if es32 { 32 } else { 31 };
        // SAFETY: the context is current; the name has one value.
        let binaries = unsafe { gl.get_parameter_i32(glow::NUM_PROGRAM_BINARY_FORMATS) } > 0;
        let cache = crate::disk_cache::of_environment();
        let identity = String::new();
        let mut gles =
            Gles { gl, ext, has, scratch, version, renderer, watched, reset_status, cache, identity, binaries };
        gles.try_promises(&driver);
        let makers = MAKERS.map(xxhash_rust::xxh3::xxh3_64);
        gles.identity = format!("{}\0{driver}\0{version}\0{:?}\0{makers:?}", gles.renderer, gles.has);
        Ok(gles)
    }

    /// Tries what the driver promises, or recalls what became of it in an earlier process; what does not work is taken back. A
    /// context is current.
    fn try_promises(&mut self, driver: &str) {
        let start = Instant::now();
        let question = self.cache.as_ref().map(|cache| {
            let trials = TRIALS.map(xxhash_rust::xxh3::xxh3_64);
            let asked = format!("{}\0{driver}\0{}\0{:?}\0{trials:?}", self.renderer, self.version, self.has);
            (cache, Question::new("promises").part(asked.as_bytes()))
        });
        let known = question.as_ref().and_then(|(cache, question)| trial::from_bytes(&cache.read(question)?));
        let recalled = known.is_some();
        let tried = known.unwrap_or_else(|| trial::run(&self.gl, &self.ext, self.version, &mut self.has));
        // What became of a driver without memory, or of a device that was reset meanwhile, is nothing to keep.
        let disturbed = !recalled && (self.drain_errors().is_some() || self.is_reset());
        if let (Some((cache, question)), false) = (&question, recalled || disturbed) {
            cache.write(question, &trial::to_bytes(&tried));
        }
        let count = |outcome| tried.iter().filter(|tried| tried.outcome == outcome).count();
        let (works, fails) = (count(Outcome::Works), count(Outcome::Fails));
        let how = if recalled { "recalled" } else { "tried" };
        log::debug!("espryt: promises {how} in {:?}: {works} kept, {fails} not", start.elapsed());
        trial::take_back(&tried, &mut self.has);
    }

    /// An integer limit.
    pub(crate) fn limit(&self, name: u32) -> u32 {
        // SAFETY: the caller's context is current; an unknown name answers an error, which `drain_errors` takes away.
        let value = unsafe { self.gl.get_parameter_i32(name) };
        u32::try_from(value).unwrap_or(0)
    }

    /// Two float limits.
    pub(crate) fn float_pair(&self, name: u32) -> [f32; 2] {
        let mut values = [0.0; 2];
        // SAFETY: the names that are asked have two values.
        unsafe { self.ext.get_floats(name, values.as_mut_ptr()) };
        values
    }

    /// Whether the driver says that its context is lost; the context is current.
    pub(crate) fn is_reset(&self) -> bool {
        // SAFETY: the caller's context is current.
        self.reset_status.is_some_and(|status| unsafe { status() } != glow::NO_ERROR)
    }

    /// Takes the errors out of the driver's queue; the first of them.
    pub(crate) fn drain_errors(&self) -> Option<u32> {
        crate::extras::drain_errors(&self.gl)
    }
}

/// A `glow` object of a GL name.
macro_rules! named {
    ($ty:ident, $name:expr) => {
        std::num::NonZeroU32::new($name).map(glow::$ty)
    };
}
pub(crate) use named;

/// Texture units that programs may use: the last one is the backend's own.
impl Gles {
    /// The unit on which textures are bound for uploads and copies.
    #[inline]
    pub(crate) fn scratch_unit(&self) -> u32 {
        self.scratch
    }
}
