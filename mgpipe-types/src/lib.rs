//! MGPipe interface types: handles, payloads, the call catalogue, traits, caps and errors.
