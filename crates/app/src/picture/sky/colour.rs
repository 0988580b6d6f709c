//! Colours that users chose, as six digits.

/// What is drawn where a colour cannot be read.
const GREY: [u8; 3] = [0x9a, 0xa4, 0xb2];

/// A colour without its alpha channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Colour([u8; 3]);

impl Colour {
    pub(super) const SHADOW: Self = Self([0x07, 0x09, 0x0f]);
    pub(super) const EMBER: Self = Self([0xff, 0xa9, 0x3a]);
    pub(super) const WHITE: Self = Self([0xff, 0xff, 0xff]);

    /// Reads #RGB and #RRGGBB, each also with an alpha channel.
    pub(super) fn read(text: &str) -> Self {
        let digits: Option<Vec<u8>> = text.strip_prefix('#').map(|digits| {
            digits.chars().filter_map(|digit| digit.to_digit(16)).filter_map(|digit| u8::try_from(digit).ok()).collect()
        });
        match digits.as_deref() {
            Some([red, green, blue] | [red, green, blue, _]) => Self([red * 17, green * 17, blue * 17]),
            Some([a, b, c, d, e, f] | [a, b, c, d, e, f, _, _]) => Self([a * 16 + b, c * 16 + d, e * 16 + f]),
            _ => Self(GREY),
        }
    }

    pub(super) fn text(self) -> String {
        let [red, green, blue] = self.0;
        format!("#{red:02x}{green:02x}{blue:02x}")
    }

    /// The digits alone, for an id.
    pub(super) fn digits(self) -> String {
        self.text().split_off(1)
    }
}
