//! Number types of a universe: finite, some within a range, some whole.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::check_bounds::{Check, FieldMisfit, Reason};
use super::id_name_color::Name;

/// 2^53: above it, `f64` cannot represent every whole number.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

/// Any finite number. A whole number is written as an integer: 1, not 1.0.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Deserialize)]
#[serde(transparent)]
pub struct Number(pub f64);

impl Deref for Number {
    type Target = f64;

    fn deref(&self) -> &f64 {
        &self.0
    }
}

impl From<f64> for Number {
    fn from(number: f64) -> Self {
        Self(number)
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_number(self.0, serializer)
    }
}

fn write_number<S: Serializer>(number: f64, serializer: S) -> Result<S::Ok, S::Error> {
    // Negative zero has no integer form, and infinity fails the comparison.
    let is_whole = number.abs() < EXACT_MAX && number.fract() == 0.0 && !(number == 0.0 && number.is_sign_negative());
    if is_whole {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
        serializer.serialize_i64(number as i64)
    } else {
        serializer.serialize_f64(number)
    }
}

impl JsonSchema for Number {
    fn schema_name() -> Cow<'static, str> {
        "Number".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number" })
    }
}

impl Check for Number {
    fn check(&self) -> Result<(), FieldMisfit> {
        if self.0.is_finite() { Ok(()) } else { Err(FieldMisfit::new(Reason::NotFinite, "is not a finite number")) }
    }
}

/// A number from `LOW` to `HIGH`, which are in hundredths and both included.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Deserialize)]
#[serde(transparent)]
pub struct NumberInRange<const LOW: i32, const HIGH: i32>(pub f64);

/// A part of a whole, from 0 to 1.
pub type Fraction = NumberInRange<0, 100>;

impl<const LOW: i32, const HIGH: i32> NumberInRange<LOW, HIGH> {
    fn bounds() -> (f64, f64) {
        (f64::from(LOW) / 100.0, f64::from(HIGH) / 100.0)
    }

    /// The number clamped to its range, for views.
    pub fn clamped(self) -> f64 {
        let (low, high) = Self::bounds();
        self.0.clamp(low, high)
    }
}

impl<const LOW: i32, const HIGH: i32> Deref for NumberInRange<LOW, HIGH> {
    type Target = f64;

    fn deref(&self) -> &f64 {
        &self.0
    }
}

impl<const LOW: i32, const HIGH: i32> Serialize for NumberInRange<LOW, HIGH> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_number(self.0, serializer)
    }
}

impl<const LOW: i32, const HIGH: i32> JsonSchema for NumberInRange<LOW, HIGH> {
    fn schema_name() -> Cow<'static, str> {
        format!("Within{LOW}To{HIGH}").into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let (low, high) = Self::bounds();
        json_schema!({ "type": "number", "minimum": Number(low), "maximum": Number(high) })
    }
}

impl<const LOW: i32, const HIGH: i32> Check for NumberInRange<LOW, HIGH> {
    fn check(&self) -> Result<(), FieldMisfit> {
        let (low, high) = Self::bounds();
        if (low..=high).contains(&self.0) {
            return Ok(());
        }
        Err(FieldMisfit::new(Reason::OutOfRange, format!("is {}, allowed: {low} to {high}", self.0)))
    }

    fn check_except_ranges(&self) -> Result<(), FieldMisfit> {
        Number(self.0).check()
    }

    fn clamp_ranges(&mut self) {
        self.0 = self.clamped();
    }
}

/// A whole number from `LOW` to `HIGH`, both included. It is stored as `f64`, since a state may be sent with a number
/// that is out of range or not whole.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Default, Deserialize)]
#[serde(transparent)]
pub struct IntegerInRange<const LOW: u32, const HIGH: u32>(pub f64);

/// How many there are of something.
pub type Count = IntegerInRange<0, { u32::MAX }>;

impl<const LOW: u32, const HIGH: u32> JsonSchema for IntegerInRange<LOW, HIGH> {
    fn schema_name() -> Cow<'static, str> {
        format!("Whole{LOW}To{HIGH}").into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": LOW, "maximum": HIGH })
    }
}

impl<const LOW: u32, const HIGH: u32> Check for IntegerInRange<LOW, HIGH> {
    fn check(&self) -> Result<(), FieldMisfit> {
        if self.0.fract() == 0.0 && (f64::from(LOW)..=f64::from(HIGH)).contains(&self.0) {
            return Ok(());
        }
        Err(FieldMisfit::new(Reason::OutOfRange, format!("is {}, allowed: whole numbers from {LOW} to {HIGH}", self.0)))
    }

    fn check_except_ranges(&self) -> Result<(), FieldMisfit> {
        Number(self.0).check()
    }

    fn clamp_ranges(&mut self) {
        self.0 = self.0.round().clamp(f64::from(LOW), f64::from(HIGH));
    }
}

/// Writes 3.0 as 3: both are the same whole number.
impl<const LOW: u32, const HIGH: u32> Serialize for IntegerInRange<LOW, HIGH> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_number(self.0, serializer)
    }
}

/// The seed of a generator: a text or a number.
#[derive(Debug, Clone, PartialEq)]
pub enum Seed {
    Number(Number),
    Text(Name),
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => number.serialize(serializer),
            Self::Text(text) => text.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Either;

        impl Visitor<'_> for Either {
            type Value = Seed;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a string or a number")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Seed, E> {
                Ok(Seed::Text(text.into()))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<Seed, E> {
                Ok(Seed::Number(Number(number)))
            }

            #[expect(clippy::cast_precision_loss, reason = "a number of JSON is a double")]
            fn visit_i64<E: Error>(self, number: i64) -> Result<Seed, E> {
                self.visit_f64(number as f64)
            }

            #[expect(clippy::cast_precision_loss, reason = "a number of JSON is a double")]
            fn visit_u64<E: Error>(self, number: u64) -> Result<Seed, E> {
                self.visit_f64(number as f64)
            }
        }

        deserializer.deserialize_any(Either)
    }
}

impl JsonSchema for Seed {
    fn schema_name() -> Cow<'static, str> {
        "Seed".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number"] })
    }
}

impl Check for Seed {
    fn check(&self) -> Result<(), FieldMisfit> {
        match self {
            Self::Number(number) => number.check(),
            Self::Text(text) => text.check(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{from_str, to_string};

    use super::*;

    #[test]
    fn a_number_is_written_as_it_would_be_by_hand() {
        for (given, written) in [
            ("1", "1"),
            ("1.0", "1"),
            ("-2.50", "-2.5"),
            ("0.1", "0.1"),
            ("-0.0", "-0.0"),
            ("1e300", "1e+300"),
            ("9007199254740993", "9007199254740992.0"),
        ] {
            let number: Number = from_str(given).unwrap();
            assert_eq!(to_string(&number).unwrap(), written, "{given}");
            assert_eq!(from_str::<Number>(written).unwrap(), number);
        }
        assert!(from_str::<Number>("\"1\"").is_err() && from_str::<Number>("null").is_err());
        assert_eq!(Number(f64::NAN).check().unwrap_err().reason, Reason::NotFinite);
        assert_eq!(Number(f64::INFINITY).check().unwrap_err().reason, Reason::NotFinite);
    }

    #[test]
    fn a_range_has_both_its_ends() {
        assert!(NumberInRange::<50, 300>(0.5).check().is_ok() && NumberInRange::<50, 300>(3.0).check().is_ok());
        let misfit = NumberInRange::<50, 300>(3.1).check().unwrap_err();
        assert_eq!((misfit.reason, misfit.problem.as_str()), (Reason::OutOfRange, "is 3.1, allowed: 0.5 to 3"));
        assert!(Fraction::default().check().is_ok() && NumberInRange::<0, 100>(f64::NAN).check().is_err());
        assert!(IntegerInRange::<1, 5>(5.0).check().is_ok() && IntegerInRange::<1, 5>(0.0).check().is_err());
        assert_eq!(to_string(&from_str::<IntegerInRange<1, 5>>("3.0").unwrap()).unwrap(), "3");
        assert!(Count::default().check().is_ok() && IntegerInRange::<0, 5>(2.5).check().is_err());
        assert_eq!(
            IntegerInRange::<1, 5>(-1.0).check().unwrap_err().problem,
            "is -1, allowed: whole numbers from 1 to 5"
        );
    }

    #[test]
    fn what_is_out_of_range_is_kept_and_clamped() {
        for (number, within, whole) in [(-7.5, 0.5, 1.0), (0.4, 0.5, 1.0), (2.4, 2.4, 2.0), (9.0, 3.0, 5.0)] {
            let (mut fraction, mut count) = (NumberInRange::<50, 300>(number), IntegerInRange::<1, 5>(number));
            assert!(fraction.check_except_ranges().is_ok() && count.check_except_ranges().is_ok());
            fraction.clamp_ranges();
            count.clamp_ranges();
            assert_eq!((fraction, count), (NumberInRange(within), IntegerInRange(whole)));
            assert!(fraction.check().is_ok() && count.check().is_ok());
        }
        assert_eq!(Fraction::default().clamped().to_string(), "0");
        assert!(NumberInRange::<0, 100>(f64::NAN).check_except_ranges().is_err());
        assert!(IntegerInRange::<1, 5>(f64::INFINITY).check_except_ranges().is_err());
    }

    #[test]
    fn a_seed_is_a_word_or_a_number() {
        for seed in ["\"abc\"", "7", "-7", "0.25"] {
            assert_eq!(to_string(&from_str::<Seed>(seed).unwrap()).unwrap(), seed);
        }
        assert!(from_str::<Seed>("true").is_err());
    }
}
