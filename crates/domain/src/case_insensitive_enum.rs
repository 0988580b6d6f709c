//! Macro for enumerations that are parsed in any case and with surrounding spaces.

/// Implements `Deserialize` and `FromStr` for an enumeration whose words are matched without regard to case.
/// The enumeration derives `Serialize` and `JsonSchema` itself, so its words are repeated here.
macro_rules! case_insensitive_enum {
    ($name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        impl $name {
            /// The canonical words, in order.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                let text = text.trim();
                $(if text.eq_ignore_ascii_case($word) { return Ok(Self::$variant); })+
                let text: String = text.chars().take(64).collect();
                Err(format!("{text:?} is not allowed, allowed: {}", Self::WORDS.join(", ")))
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

pub(crate) use case_insensitive_enum;
