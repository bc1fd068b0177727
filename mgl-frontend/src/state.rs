//! Setters of the render state: what the fixed parts of the pipeline do.

mod capability;
mod fragment;
mod raster;
