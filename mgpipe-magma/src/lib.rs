//! Magma: the MGPipe backend for Vulkan.
