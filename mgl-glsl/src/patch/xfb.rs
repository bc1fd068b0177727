//! Transform feedback that the application declared: decorates the captured outputs.
