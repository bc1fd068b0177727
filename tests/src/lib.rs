//! Scenarios, conformance and gates of MGL.
//!
//! A scenario is one small GL program that checks its own results and leaves pictures behind. The binary
//! `scenario-runner` runs scenarios on whatever driver its environment selects; the test target `scenarios` runs each of
//! them on the reference (Mesa llvmpipe) and on MGL, and compares.

pub mod bench;
pub mod demo;
pub mod differ;
pub mod driver;
pub mod egl;
pub mod expectations;
pub mod fallbacks;
pub mod picture;
pub mod process;
pub mod raw;
pub mod runner;
pub mod scenarios;
pub mod scene;
pub mod verdict;
pub mod wayland;
pub mod weston;
pub mod window;
pub mod xserver;
