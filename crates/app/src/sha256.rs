//! SHA-256 in hexadecimal digits.

use sha2::{Digest, Sha256};
use skald_journal::hex;

pub(crate) fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes).into())
}
