//! Searches for the most expensive odds within the limits: `cargo xtask bench` compares them with its targets.
//!
//! Prints the longest time in milliseconds, the most memory of the process in megabytes, and how the answers were.

use std::collections::BTreeMap;
use std::io::Write;

use skald_domain::dice::notation::{Dialect, parse};
use skald_domain::dice::odds::{ComputationBudget, Cost, OddsRefusal, line_odds};
use skald_domain::dice::{RandomRequest, Randomness, RollMode, Seed};
use skald_domain::limits;

/// Expressions that are tried unless an argument says how many.
const TRIED: u32 = 3_000;
/// Nesting of generated expressions.
const DEPTH: u32 = 4;

/// Writes expressions, mostly near the limits.
struct RandomExpressionWriter(Randomness);

impl RandomExpressionWriter {
    fn below(&mut self, number: u32) -> u32 {
        self.0.roll_die(number) - 1
    }

    fn choose<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(u32::try_from(words.len()).unwrap_or(1)) as usize]
    }

    /// From 1 to 10^`digits`, every length of number alike.
    fn number(&mut self, digits: u32) -> u32 {
        let length = self.below(digits + 1);
        self.below(10_u32.pow(length)) + 1
    }

    fn line(&mut self) -> String {
        let left = self.expression(DEPTH);
        match self.below(8) {
            0 => format!("{left} >= {}", self.expression(1)),
            1 => format!("{left} vs {}", self.expression(DEPTH)),
            2 => format!("{}x({left})", self.number(2)),
            // As many equal parts as fit.
            3 => {
                let part = self.pool();
                let times = (limits::EXPRESSION_CHARS_MAX / (part.len() + 1)).min(40);
                vec![part; times].join("+")
            }
            _ => left,
        }
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 {
            return self.pool();
        }
        match self.below(6) {
            0 | 1 => self.pool(),
            2 => {
                let operator = self.choose(&["+", "-", "*", "/"]);
                format!("({}{operator}{})", self.expression(depth - 1), self.expression(depth - 1))
            }
            3 => {
                let items: Vec<String> = (0..=self.below(6)).map(|_| self.expression(depth - 1)).collect();
                let keep = self.choose(&["", "kh1", "kl2", "dh1", "dl3", "kh3"]);
                format!("{{{}}}{keep}", items.join(","))
            }
            4 => format!("-{}", self.pool()),
            _ => format!("({}+{})", self.expression(depth - 1), self.number(6)),
        }
    }

    fn pool(&mut self) -> String {
        let (count, sides) = (self.number(3), self.number(6));
        let explode = match self.below(8) {
            0 => self.choose(&["!", "!!", "!p"]).to_owned(),
            1 => format!("!>={}", self.number(3)),
            2 => format!("!!<={}", self.number(3)),
            _ => String::new(),
        };
        let reroll = if self.below(8) == 0 { self.choose(&["ro=1", "rr<=2", "min2", "max5"]) } else { "" };
        let keep = match self.below(3) {
            0 => format!("{}{}", self.choose(&["kh", "kl", "dh", "dl"]), self.number(3)),
            _ => String::new(),
        };
        let successes = if self.below(6) == 0 { format!("cs>={}", self.number(3)) } else { String::new() };
        format!("{count}d{sides}{reroll}{explode}{keep}{successes}")
    }
}

/// Why there was no answer, its numbers set aside.
fn kind(refusal: &OddsRefusal) -> &'static str {
    match refusal {
        OddsRefusal::TooCostly(Cost::Work { .. }) => "too much work",
        OddsRefusal::TooCostly(Cost::Memory { .. }) => "too much memory",
        OddsRefusal::TooCostly(Cost::Sides { .. }) => "too many sides",
        OddsRefusal::DivisionByZero { .. } => "division by zero",
        OddsRefusal::NumberTooLarge => "a number too large",
        OddsRefusal::GivenUp => "given up",
    }
}

/// The time that this process has had on a processor, in milliseconds: others share the machine.
fn processor_time() -> f64 {
    let status = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    status.split(' ').next().and_then(|nanoseconds| nanoseconds.parse::<f64>().ok()).unwrap_or(f64::NAN) / 1e6
}

/// The most memory that this process has had, in megabytes.
fn peak() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse::<f64>().unwrap_or(f64::NAN) / 1_000.0
}

fn main() {
    let tried = std::env::args().nth(1).and_then(|tried| tried.parse().ok()).unwrap_or(TRIED);
    let seed = std::env::args().nth(2).and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let request = RandomRequest { seed: Some(Seed::from_integer(seed)), roll_mode: RollMode::Replay };
    let Ok(randomness) = Randomness::new(request, [0; 32]) else { return };
    let mut writer = RandomExpressionWriter(randomness);
    let (mut longest, mut slowest) = (0.0, String::new());
    let (mut most, mut largest) = (peak(), String::new());
    let mut answers = BTreeMap::<String, u32>::new();
    for _ in 0..tried {
        let text = writer.line();
        let answer = match parse(&text, Dialect::Auto) {
            Err(_) => "not understood".to_owned(),
            Ok(notation) => {
                let began = processor_time();
                let odds = line_odds(&notation.roll, &ComputationBudget::default());
                if let Ok(odds) = &odds {
                    std::hint::black_box((
                        odds.summary(),
                        odds.distribution.table(Some(0), None, 200),
                        odds.need(0.5).ok(),
                    ));
                }
                let took = processor_time() - began;
                if took > longest {
                    (longest, slowest) = (took, text.clone());
                }
                odds.map_or_else(|refusal| kind(&refusal).to_owned(), |_| "answered".to_owned())
            }
        };
        if peak() > most {
            (most, largest) = (peak(), text);
        }
        *answers.entry(answer).or_default() += 1;
    }
    let mut out = std::io::stdout();
    let _ = writeln!(out, "longest_ms {longest:.1}\npeak_mb {most:.1}");
    let _ = writeln!(out, "slowest {slowest}\nlargest {largest}\nanswers {answers:?}");
}
