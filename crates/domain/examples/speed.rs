//! Benchmark of exact odds, in microseconds: `cargo xtask bench` compares the results with its targets.

#![expect(clippy::disallowed_methods, reason = "this measures time")]

use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use skald_domain::dice::notation::{Dialect, Roll, parse};
use skald_domain::dice::odds::{ComputationBudget, odds};

/// Each is worked out so often; the median counts.
const ROUNDS: usize = 21;

fn main() {
    for text in ["100d6", "4d6kh3", "20d20kh10", "10d10!", "1000d1000kh500", "1000d6", "10d10!kh3", "500d20"] {
        let Ok(notation) = parse(text, Dialect::Auto) else { continue };
        let Roll::Total(expression) = notation.roll else { continue };
        let mut took: Vec<f64> = (0..ROUNDS)
            .map(|_| {
                let began = Instant::now();
                let _ = black_box(odds(black_box(&expression), &ComputationBudget::default()));
                began.elapsed().as_secs_f64() * 1e6
            })
            .collect();
        took.sort_by(f64::total_cmp);
        let _ = writeln!(std::io::stdout(), "{text} {:.1}", took[ROUNDS / 2]);
    }
}
