//! The driver library as a C program sees it: loaded by path, called through its exported symbols.
//!
//! Everything that depends on the environment runs in a child process of its own (`child`).

mod child;
mod contexts;
mod counters;
mod driver;
mod exits;
mod exports;
mod hostile;
mod lost;
mod objects;
mod packs;
mod transports;
mod vendor;
