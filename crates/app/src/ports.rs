//! What this room needs of the world, as traits that the binary fills.

use std::sync::Arc;

use domain::dice::odds::Effort;

use crate::Fault;
use crate::computing::Computing;

/// Where fresh randomness comes from.
pub trait Entropy: Send + Sync + 'static {
    fn bytes(&self) -> [u8; 32];
}

/// What operations work with.
pub struct App {
    pub entropy: Arc<dyn Entropy>,
    pub(crate) computing: Computing,
}

impl App {
    pub fn new(entropy: Arc<dyn Entropy>) -> Self {
        Self { entropy, computing: Computing::default() }
    }

    /// Does long work elsewhere, so that others go on meanwhile.
    pub(crate) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Effort) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let answer = self.computing.run(move |is_given_up| work(&Effort::until(is_given_up))).await;
        answer.unwrap_or_else(|| Err(Fault::internal("a panic", self.request_id())))
    }

    /// A short random name for one request, for the answer and for the log.
    pub(crate) fn request_id(&self) -> String {
        use std::fmt::Write;
        self.entropy.bytes().iter().take(8).fold(String::from("req_"), |mut id, byte| {
            write!(id, "{byte:02x}").expect("writing to a string does not fail");
            id
        })
    }
}
