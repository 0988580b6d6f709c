//! Seeded random numbers: the same seed gives the same dice on every platform.
//!
//! Algorithm `CHACHA20_MASK_V1`: the seed is the key of ChaCha20 (nonce and counter zero). For each die, take the next
//! 32-bit little-endian word of the key stream and keep its lowest k bits, k being the smallest number with 2^k >=
//! sides. If that is less than sides, the face is one more than it; otherwise the word is rejected and the next one
//! taken. There is no modulo, so no face is favoured. A die with one side takes no word.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

use super::DiceRefusal;
use crate::case_insensitive_enum::case_insensitive_enum;

/// The name and version that every roll's answer carries.
pub const ALGORITHM: &str = "CHACHA20_MASK_V1";

/// Domain separation: an integer seed never hashes like any other use of SHA-256.
const INTEGER_SEED_PREFIX: &str = "skald/dice/seed/v1:";

/// 32 bytes that determine a roll. Written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// SHA-256 of the prefix `skald/dice/seed/v1:` and the number in decimal, with a minus sign if it is negative.
    pub fn from_integer(number: i128) -> Self {
        Self(Sha256::digest(format!("{INTEGER_SEED_PREFIX}{number}")).into())
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Seed({self})")
    }
}

impl FromStr for Seed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.as_bytes();
        if digits.len() != 64 || !digits.iter().all(u8::is_ascii_hexdigit) {
            let shown: String = text.chars().take(64).collect();
            return Err(format!("{shown:?} is not a seed, allowed: an integer, or 64 hexadecimal digits"));
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = hex_value(pair[0]) << 4 | hex_value(pair[1]);
        }
        Ok(Self(bytes))
    }
}

fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SeedVisitor)
    }
}

struct SeedVisitor;

impl Visitor<'_> for SeedVisitor {
    type Value = Seed;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an integer, or 64 hexadecimal digits")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Seed, E> {
        Ok(Seed::from_integer(number.into()))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Seed, E> {
        Ok(Seed::from_integer(number.into()))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Seed, E> {
        text.parse().map_err(E::custom)
    }
}

impl JsonSchema for Seed {
    fn schema_name() -> Cow<'static, str> {
        "Seed".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        if generator.contract().is_serialize() {
            json_schema!({ "type": "string", "pattern": "^[0-9a-f]{64}$" })
        } else {
            json_schema!({ "anyOf": [{ "type": "integer" }, { "type": "string" }] })
        }
    }
}

/// LIVE: new dice. REPLAY: those of a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum RollMode {
    #[default]
    Live,
    Replay,
}

case_insensitive_enum!(RollMode {
    Live = "LIVE",
    Replay = "REPLAY"
});

/// What a caller asks of the randomness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-brief" = true))]
pub struct RandomRequest {
    /// An integer or 64 hex digits; counts in REPLAY only.
    pub seed: Option<Seed>,
    /// LIVE (default): new dice. REPLAY: those of the seed.
    #[serde(default)]
    pub roll_mode: RollMode,
}

/// Who chose the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum SeedSource {
    Client,
    Server,
}

case_insensitive_enum!(SeedSource {
    Client = "CLIENT",
    Server = "SERVER"
});

/// How a roll came about: enough to repeat it anywhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RandomReport {
    pub seed_used: Seed,
    pub rng_algo: Cow<'static, str>,
    pub seed_source: SeedSource,
    pub roll_mode: RollMode,
}

/// A stream of dice from one seed.
#[derive(Debug)]
pub struct Randomness {
    stream: ChaCha20Rng,
    report: RandomReport,
}

impl Randomness {
    /// Chooses the seed: the caller's in a replay, otherwise the entropy that was handed in.
    pub fn new(request: RandomRequest, entropy: [u8; 32]) -> Result<Self, DiceRefusal> {
        let (seed, seed_source) = match (request.roll_mode, request.seed) {
            (RollMode::Replay, Some(seed)) => (seed, SeedSource::Client),
            (RollMode::Replay, None) => return Err(DiceRefusal::SeedMissing),
            (RollMode::Live, _) => (Seed::from_bytes(entropy), SeedSource::Server),
        };
        Ok(Self {
            stream: ChaCha20Rng::from_seed(seed.0),
            report: RandomReport {
                seed_used: seed,
                rng_algo: ALGORITHM.into(),
                seed_source,
                roll_mode: request.roll_mode,
            },
        })
    }

    /// A face from 1 to `sides`; 0 if `sides` is 0.
    pub fn roll_die(&mut self, sides: u32) -> u32 {
        if sides < 2 {
            return sides;
        }
        let mask = u32::MAX >> (sides - 1).leading_zeros();
        loop {
            let drawn = self.stream.next_u32() & mask;
            if drawn < sides {
                return drawn + 1;
            }
        }
    }

    pub fn into_report(self) -> RandomReport {
        self.report
    }
}
