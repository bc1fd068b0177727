//! Magma driven by MGPipe calls alone. Each test skips, and says so, on a machine without a Vulkan driver.

mod contexts;
mod draws;
mod hostile;
mod merging;
mod rig;
mod transfers;
