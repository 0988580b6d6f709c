//! Randomness from the operating system.

use app::Entropy;

pub(crate) struct OsEntropy;

impl Entropy for OsEntropy {
    fn bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).expect("the operating system gives randomness");
        bytes
    }
}
