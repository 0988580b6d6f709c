//! Parses colours that users chose into six hexadecimal digits.

/// Used for colours that cannot be parsed.
const GREY: [u8; 3] = [0x9a, 0xa4, 0xb2];

/// A colour without its alpha channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HexColour([u8; 3]);

impl HexColour {
    pub(super) const SHADOW: Self = Self([0x07, 0x09, 0x0f]);
    pub(super) const EMBER: Self = Self([0xff, 0xa9, 0x3a]);
    pub(super) const WHITE: Self = Self([0xff, 0xff, 0xff]);

    /// Reads #RGB and #RRGGBB, each also with an alpha channel.
    pub(super) fn parse(text: &str) -> Self {
        Self(parse_channels(text).unwrap_or(GREY))
    }

    pub(super) fn hex(self) -> String {
        let [red, green, blue] = self.0;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    /// The digits alone, for an id.
    pub(super) fn digits(self) -> String {
        self.hex().split_off(1)
    }
}

fn parse_channels(text: &str) -> Option<[u8; 3]> {
    let digit = |character: char| character.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let digits: Vec<u8> = text.strip_prefix('#')?.chars().map(digit).collect::<Option<_>>()?;
    match digits.len() {
        3 | 4 => Some([0, 1, 2].map(|channel| digits[channel] * 17)),
        6 | 8 => Some([0, 2, 4].map(|channel| digits[channel] * 16 + digits[channel + 1])),
        _ => None,
    }
}
