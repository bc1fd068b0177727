//! State tracker that turns API state into minimal MGPipe calls.
