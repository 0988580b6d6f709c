//! Ids of new things: opaque, readable aloud, the same on every surface.
//!
//! An id is a prefix for the kind of thing, and 16 bytes in lower-case base32 (RFC 4648, unpadded): 26 characters.

use sha2::{Digest, Sha256};

pub const CAMPAIGN: &str = "camp_";
pub const PARTICIPANT: &str = "part_";
pub const ACTOR: &str = "actor_";
pub const SESSION: &str = "sess_";
pub const NOTE: &str = "note_";
pub const ROLL: &str = "roll_";
pub const UNIVERSE: &str = "univ_";
pub const RUN: &str = "run-";

/// Domain separation: a derived id never hashes like any other use of SHA-256.
const DERIVED_PREFIX: &str = "skald/id/v1:";
const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";

/// An id from random bytes, which cannot be guessed.
pub fn from_entropy(prefix: &str, entropy: [u8; 16]) -> String {
    let mut id = String::with_capacity(prefix.len() + 26);
    id.push_str(prefix);
    let number = u128::from_be_bytes(entropy);
    // 25 digits of five bits, then the remaining three bits padded with zeros.
    (0..25).rev().for_each(|place| id.push(base32_digit(number >> (3 + 5 * place))));
    id.push(base32_digit(number << 2));
    id
}

/// An id that a retry gets again: derived from the principal, the stream and the idempotency key. `stream` is empty
/// for a creation that opens its own stream.
pub fn from_key(prefix: &str, principal: &str, stream: &str, key: &str) -> String {
    from_entropy(prefix, derive_bytes(prefix, principal, stream, key))
}

fn derive_bytes(prefix: &str, principal: &str, stream: &str, key: &str) -> [u8; 16] {
    let mut hash = Sha256::new();
    hash.update(DERIVED_PREFIX);
    // Each part is prefixed with its length, so that different parts never hash the same bytes.
    for part in [prefix, principal, stream, key] {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    let digest: [u8; 32] = hash.finalize().into();
    let mut entropy = [0; 16];
    entropy.copy_from_slice(&digest[..16]);
    entropy
}

/// A prefix and a UUID of version 7: sorted by time to the millisecond, the rest random.
pub fn uuid_v7(prefix: &str, milliseconds: i64, entropy: [u8; 32]) -> String {
    let mut random = [0; 16];
    random.copy_from_slice(&entropy[..16]);
    let time = u128::from(u64::try_from(milliseconds).unwrap_or_default()) << 80;
    format_uuid(prefix, time | (u128::from_be_bytes(random) & ((1 << 80) - 1)), 7)
}

/// A prefix and a UUID (version 8) that a retry gets again, derived like [`from_key`].
pub fn uuid_from_key(prefix: &str, principal: &str, stream: &str, key: &str) -> String {
    format_uuid(prefix, u128::from_be_bytes(derive_bytes(prefix, principal, stream, key)), 8)
}

/// Sets the version and variant bits and formats the UUID.
fn format_uuid(prefix: &str, number: u128, version: u128) -> String {
    let number = number & !(0xf << 76) & !(0b11 << 62) | version << 76 | 0b10 << 62;
    let digits = format!("{number:032x}");
    let groups = [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]];
    format!("{prefix}{}", groups.join("-"))
}

fn base32_digit(number: u128) -> char {
    let place = usize::try_from(number & 31).unwrap_or_default();
    char::from(ALPHABET[place])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_its_prefix_and_base32() {
        // The vectors of RFC 4648 are shorter; these were made with Python's base64.b32encode.
        assert_eq!(from_entropy(CAMPAIGN, [0; 16]), "camp_aaaaaaaaaaaaaaaaaaaaaaaaaa");
        assert_eq!(from_entropy(SESSION, [0xff; 16]), "sess_77777777777777777777777774");
        assert_eq!(from_entropy("", *b"Thorin Ironforge"), "krug64tjnyqes4tpnztg64thmu");
    }

    #[test]
    fn a_derived_id_repeats_and_depends_on_every_part() {
        let id = from_key(ACTOR, "alice", "campaign/x", "key");
        assert_eq!(id, from_key(ACTOR, "alice", "campaign/x", "key"));
        assert_eq!(id.len(), ACTOR.len() + 26);
        let others = [
            from_key(NOTE, "alice", "campaign/x", "key"),
            from_key(ACTOR, "bob", "campaign/x", "key"),
            from_key(ACTOR, "alice", "campaign/y", "key"),
            from_key(ACTOR, "alice", "campaign/x", "yek"),
            from_key(ACTOR, "alic", "ecampaign/x", "key"),
        ];
        let body = |id: &str| id.rsplit('_').next().unwrap().to_owned();
        for other in &others {
            assert_ne!(body(other), body(&id));
        }
    }

    #[test]
    fn a_uuid_has_its_version_and_its_time() {
        assert_eq!(uuid_v7(RUN, 0x0123_4567_89ab, [0xff; 32]), "run-01234567-89ab-7fff-bfff-ffffffffffff");
        assert_eq!(uuid_v7(RUN, 0, [0; 32]), "run-00000000-0000-7000-8000-000000000000");
        assert_eq!(uuid_from_key(RUN, "owner", "", "first"), uuid_from_key(RUN, "owner", "", "first"));
        assert_ne!(uuid_from_key(RUN, "owner", "", "first"), uuid_from_key(RUN, "owner", "", "second"));
        assert_eq!(&uuid_from_key(RUN, "owner", "", "first")[18..19], "8");
    }

    #[test]
    fn a_derived_id_never_changes() {
        assert_eq!(from_key(CAMPAIGN, "local", "", "first"), "camp_iykhmfzg6tjh4s6igcjvsarpee");
    }
}
