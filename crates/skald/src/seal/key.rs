//! The signing key of seals: 32 random bytes in a file that only its owner can read.

use std::path::Path;

use anyhow::{Context, anyhow, bail};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

/// The prefix of a key file.
const KEY_PREFIX: &str = "skald-seal-key ";
/// Hexadecimal digits of one group when a key is printed for paper.
const GROUP_DIGITS: usize = 8;

pub(crate) struct SealKey(SigningKey);

impl SealKey {
    /// Creates a key in a new file.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| anyhow!("the operating system gives no randomness: {error}"))?;
        let key = Self(SigningKey::from_bytes(&seed));
        let text = format!("{KEY_PREFIX}{}\n", to_hex(&seed));
        let written = skald_store::write_private_file(path, &text);
        written.with_context(|| format!("cannot make the key {}", path.display()))?;
        Ok(key)
    }

    /// Reads a key, unless others can read it too.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let name = path.display();
        let metadata = std::fs::metadata(path).with_context(|| format!("cannot read the key {name}"))?;
        if is_readable_by_others(&metadata) {
            bail!("others can read the key {name}; chmod 600 it, and make a new one if they may have");
        }
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the key {name}"))?;
        // Takes the format of the file, and groups of digits as copied from paper.
        let digits: String = text.trim().trim_start_matches(KEY_PREFIX.trim_end()).split_whitespace().collect();
        let seed = parse_hex(&digits).with_context(|| format!("{name} holds no key of 64 hexadecimal digits"))?;
        Ok(Self(SigningKey::from_bytes(&seed)))
    }

    pub(crate) fn public_key(&self) -> String {
        to_hex(self.0.verifying_key().as_bytes())
    }

    /// The key in groups of digits, to be copied by hand.
    pub(crate) fn paper_text(&self) -> String {
        let digits = to_hex(self.0.as_bytes());
        let groups: Vec<&str> =
            (0..digits.len()).step_by(GROUP_DIGITS).map(|at| &digits[at..at + GROUP_DIGITS]).collect();
        groups.join(" ")
    }

    pub(crate) fn sign(&self, message: &[u8]) -> String {
        to_hex(&self.0.sign(message).to_bytes())
    }
}

#[cfg(unix)]
fn is_readable_by_others(metadata: &std::fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(metadata) & 0o077 != 0
}

#[cfg(not(unix))]
fn is_readable_by_others(_: &std::fs::Metadata) -> bool {
    false
}

/// A public key as it was given: its digits, or a file that holds them.
pub(crate) fn parse_public_key(given: &str) -> anyhow::Result<String> {
    if parse_hex::<32>(given).is_ok() {
        return Ok(given.to_lowercase());
    }
    let text = std::fs::read_to_string(given);
    let text = text.with_context(|| format!("{given} is neither a public key of 64 digits nor a file with one"))?;
    let digits = text.split_whitespace().next().unwrap_or_default();
    parse_hex::<32>(digits).with_context(|| format!("{given} holds no public key of 64 digits"))?;
    Ok(digits.to_lowercase())
}

/// Whether the signature of a message is valid for this public key.
pub(crate) fn is_valid_signature(public_key: &str, message: &[u8], signature: &str) -> anyhow::Result<bool> {
    let key = VerifyingKey::from_bytes(&parse_hex(public_key)?).context("the public key is none")?;
    let signature = Signature::from_bytes(&parse_hex(signature).context("the signature is none")?);
    Ok(key.verify_strict(message, &signature).is_ok())
}

fn to_hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn parse_hex<const LENGTH: usize>(digits: &str) -> anyhow::Result<[u8; LENGTH]> {
    if digits.len() != 2 * LENGTH || !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        bail!("{} hexadecimal digits are wanted, and these are {}", 2 * LENGTH, digits.len());
    }
    let mut bytes = [0; LENGTH];
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&digits[2 * place..2 * place + 2], 16)?;
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_of_one_message_and_one_key() {
        let [key, other] = [7, 8].map(|byte| SealKey(SigningKey::from_bytes(&[byte; 32])));
        let signature = key.sign(b"message");
        assert!(is_valid_signature(&key.public_key(), b"message", &signature).unwrap());
        assert!(!is_valid_signature(&key.public_key(), b"another", &signature).unwrap());
        assert!(!is_valid_signature(&other.public_key(), b"message", &signature).unwrap());
        assert!(is_valid_signature(&key.public_key(), b"message", "00").is_err());
    }

    #[test]
    fn a_key_on_paper_is_the_key() {
        let key = SealKey(SigningKey::from_bytes(&[171; 32]));
        let paper = key.paper_text();
        assert!(paper.starts_with("abababab abababab "), "{paper}");
        let digits: String = paper.split_whitespace().collect();
        assert_eq!(parse_hex::<32>(&digits).unwrap(), [171; 32]);
    }
}
