//! Tests of whole ends, and the model checks of the protocols under them.

mod ends;
mod model;
