//! `Cost`, the estimated cost of computing odds as a readable text for refusals.

use std::fmt::{Display, Formatter, Result};

/// Larger factors are described as "over a billion times".
const TIMES_MAX: u64 = 1_000_000_000;

/// An estimate as a multiple of what is allowed, or a count with its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    Work { times: u64 },
    Memory { times: u64 },
    Sides { given: u32, most: u32 },
}

impl Display for Cost {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        match *self {
            Self::Work { times } => {
                write!(
                    formatter,
                    "take {} the work that is allowed, which is about a second of it",
                    format_times(times)
                )
            }
            Self::Memory { times } => {
                write!(formatter, "take {} the memory that is allowed, which is 24 MB", format_times(times))
            }
            Self::Sides { given, most } => {
                let (given, most) = (group_digits(given.into()), group_digits(most.into()));
                write!(formatter, "need a row for each of {given} sides, and at most {most} are allowed")
            }
        }
    }
}

fn format_times(times: u64) -> String {
    match times {
        0..=2 => "up to twice".to_owned(),
        3..=TIMES_MAX => format!("about {} times", group_digits(round_to_two_digits(times))),
        _ => "over a billion times".to_owned(),
    }
}

/// Keeps the first two digits.
fn round_to_two_digits(number: u64) -> u64 {
    let unit = 10_u64.pow(number.checked_ilog10().unwrap_or_default().saturating_sub(1));
    number / unit * unit
}

/// Digits in groups of three.
fn group_digits(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
