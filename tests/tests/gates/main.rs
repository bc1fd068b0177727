//! The gates of the MGPipe stream, each with the control that shows that it can go red.

// Recordings of the driver: replayed to the same pixels, and compared with a committed one.
mod recorder;
// Contexts that come and go.
mod leaks;
// State objects found by content against objects made anew.
mod addressing;
// Handles of dead objects whose slots live again.
mod recycle;
// Starts the driver in processes of its own and reads what it recorded.
mod recording;
