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
                write!(formatter, "take {} the work that is allowed, which is about a second of it", about(times))
            }
            Self::Memory { times } => {
                write!(formatter, "take {} the memory that is allowed, which is 24 MB", about(times))
            }
            Self::Sides { given, most } => {
                let (given, most) = (grouped(given.into()), grouped(most.into()));
                write!(formatter, "need a row for each of {given} sides, and at most {most} are allowed")
            }
        }
    }
}

fn about(times: u64) -> String {
    match times {
        0..=2 => "up to twice".to_owned(),
        3..=TIMES_MAX => format!("about {} times", grouped(rounded(times))),
        _ => "over a billion times".to_owned(),
    }
}

/// Keeps the first two digits.
fn rounded(number: u64) -> u64 {
    let unit = 10_u64.pow(number.checked_ilog10().unwrap_or_default().saturating_sub(1));
    number / unit * unit
}

/// Digits in groups of three.
fn grouped(number: u64) -> String {
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
