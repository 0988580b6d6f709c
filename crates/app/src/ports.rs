//! What this room needs of the world, as traits that the binary fills.

use std::sync::Arc;

/// Where fresh randomness comes from.
pub trait Entropy: Send + Sync + 'static {
    fn bytes(&self) -> [u8; 32];
}

/// What operations work with.
pub struct App {
    pub entropy: Arc<dyn Entropy>,
}

impl App {
    /// A short random name for one request, for the answer and for the log.
    pub(crate) fn request_id(&self) -> String {
        use std::fmt::Write;
        self.entropy.bytes().iter().take(8).fold(String::from("req_"), |mut id, byte| {
            write!(id, "{byte:02x}").expect("writing to a string does not fail");
            id
        })
    }
}
