//! Who hears what contexts count, and what they show of it.

use mgpipe_tracker::TrackerStats;

/// Hears what the contexts of share groups do. Called on the threads of the contexts, never at a draw.
pub trait Observer: Send + Sync {
    /// What a context's tracker has counted since the last time; before each submit.
    fn tracked(&self, counted: &TrackerStats);

    /// Lines of text to show over the frame that ends now; `None` to show nothing. Letters, digits, spaces and `.,:/%+-`
    /// are shown, letters as capitals.
    fn overlay(&self) -> Option<String> {
        None
    }
}
