//! Answers of slow questions, kept on disk for the next process, in files that only this user has written.
//!
//! [`AnswerCache`] holds answers in files named by the content of their questions; [`read_file`] and [`replace_file`] are for a
//! single file of any content. Neither ever fails towards its caller: what cannot be read is asked anew, what cannot be written
//! costs time in the next process.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

mod answers;
mod folder;
mod place;

pub use answers::{AnswerCache, Question, MAX_BYTES, MAX_ENTRY};
pub use folder::{folder_below, user_folder};
pub use place::{is_trusted, read_file, replace_file};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
