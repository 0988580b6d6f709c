//! Evaluates guards: satisfied or not, with what is missing.

use std::cell::RefCell;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use imbl::OrdMap;
use num_traits::FromPrimitive;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use super::text::{Words, listed, shown};
use super::{ContextTest, Counter, Guard, GuardComparison, GuardPart, Test};
use crate::gate::evidence::Evidence;
use crate::gate::facts::Facts;
use crate::gate::finding::clipped;
use crate::gate::process::Process;

/// The inputs of guards.
#[derive(Debug, Clone, Copy)]
pub struct GuardInputs<'a> {
    pub process: &'a Process,
    pub run_id: &'a str,
    pub state: &'a str,
    /// The context before the event.
    pub context: &'a OrdMap<String, Value>,
    /// The evidence, including what the event submits.
    pub evidence: &'a Evidence,
    pub attempts: &'a OrdMap<String, u64>,
    pub visits: &'a OrdMap<String, u64>,
    /// The payload of the event.
    pub payload: &'a Map<String, Value>,
    pub facts: &'a Facts,
}

/// What a guard came to; it is kept with the event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GuardResult {
    pub guard: String,
    pub satisfied: bool,
    /// What is missing, in the language of the process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

impl GuardResult {
    /// `name: reason`, as a refusal lists it.
    pub fn line(&self) -> String {
        format!("{}: {}", self.guard, self.missing.join(", "))
    }
}

/// Result of evaluating a guard. Besides yes and no, a guard can be undecidable, and then so is its negation.
#[derive(Debug, Clone, PartialEq)]
enum Verdict {
    Holds,
    Lacks(Vec<String>),
    /// The variable is not defined: neither the guard nor its negation is satisfied.
    Undefined(Vec<String>),
    Errs(Vec<String>),
}

/// Maximum number of reasons of one guard; a combined guard repeats those of its parts.
const REASONS_MAX: usize = 100;
/// Maximum characters of one reason: the values in a message come from callers, and guards quote each other's reasons.
const REASON_CHARS_MAX: usize = 2_000;
/// Maximum number of stale files in the reasons of one guard; the event lists all.
const STALE_TOLD_MAX: usize = 20;

impl Verdict {
    fn when(holds: bool, reason: impl FnOnce() -> String) -> Self {
        if holds { Self::Holds } else { Self::Lacks(vec![reason()]) }
    }

    fn reasons(&self) -> &[String] {
        match self {
            Self::Holds => &[],
            Self::Lacks(reasons) | Self::Undefined(reasons) | Self::Errs(reasons) => reasons,
        }
    }

    /// The verdict of a combined guard that cannot be decided: an error if a part has one, otherwise undefined.
    fn unknown(parts: &[Self], reasons: Vec<String>) -> Self {
        let errs = parts.iter().any(|part| matches!(part, Self::Errs(_)));
        if errs { Self::Errs(reasons) } else { Self::Undefined(reasons) }
    }
}

impl GuardInputs<'_> {
    /// Evaluates the guard of this name.
    pub fn evaluate(&self, guard: &str) -> GuardResult {
        let verdict = Evaluation { scene: self, known: RefCell::default() }.named(guard);
        let missing = verdict.reasons().to_vec();
        GuardResult { guard: guard.to_owned(), satisfied: verdict == Verdict::Holds, missing }
    }
}

/// One evaluation. It caches verdicts by name; without that, a few guards that refer to each other repeatedly would
/// take exponential time.
struct Evaluation<'a> {
    scene: &'a GuardInputs<'a>,
    known: RefCell<BTreeMap<String, Verdict>>,
}

/// A verdict, and the values for the placeholders of a message.
struct Judged {
    verdict: Verdict,
    current: String,
    required: String,
    /// Reasons that are added to the author's message.
    beside: Vec<String>,
}

impl Judged {
    fn new(verdict: Verdict, current: &dyn fmt::Display, required: &dyn fmt::Display) -> Self {
        Self { verdict, current: current.to_string(), required: required.to_string(), beside: Vec::new() }
    }
}

impl Evaluation<'_> {
    fn words(&self) -> Words {
        Words(self.scene.process.locale)
    }

    fn named(&self, name: &str) -> Verdict {
        if let Some(known) = self.known.borrow().get(name) {
            return known.clone();
        }
        let verdict = match self.scene.process.guards.get(name) {
            Some(guard) => self.guard(guard),
            None => Verdict::Errs(vec![self.words().undefined_guard(name)]),
        };
        self.known.borrow_mut().insert(name.to_owned(), verdict.clone());
        verdict
    }

    fn part(&self, part: &GuardPart) -> Verdict {
        match part {
            GuardPart::Named(name) => self.named(name),
            GuardPart::Inline(guard) => self.guard(guard),
        }
    }

    fn guard(&self, guard: &Guard) -> Verdict {
        let Judged { verdict, current, required, beside } = self.test(&guard.test);
        let said = |reasons: Vec<String>| {
            let own = guard
                .message
                .as_ref()
                .map(|message| vec![message.replace("{required}", &required).replace("{current}", &current)]);
            own.unwrap_or(reasons).iter().chain(&beside).map(|reason| clipped(reason, REASON_CHARS_MAX)).collect()
        };
        match verdict {
            Verdict::Holds => Verdict::Holds,
            Verdict::Lacks(reasons) => Verdict::Lacks(said(reasons)),
            Verdict::Undefined(reasons) => Verdict::Undefined(said(reasons)),
            // An error keeps its own reasons: the author's message is about a guard that is not satisfied.
            Verdict::Errs(reasons) => Verdict::Errs(reasons),
        }
    }

    fn test(&self, test: &Test) -> Judged {
        match test {
            Test::ArtifactExists { artifact_type } => {
                self.artifacts(artifact_type, 1, |words, _| words.artifact_missing(artifact_type))
            }
            Test::ArtifactCount { artifact_type, min_count } => {
                self.artifacts(artifact_type, *min_count, |words, current| {
                    words.artifact_count(artifact_type, current, *min_count)
                })
            }
            Test::Context { variable, test } => self.context(variable, test),
            Test::Run { counter, of, comparison, value } => self.counter(*counter, of, *comparison, value),
            Test::Cel(expression) => {
                let verdict = match expression.holds(self.scene) {
                    Ok(holds) => Verdict::when(holds, || self.words().not_met(expression.source())),
                    Err(why) => Verdict::Errs(vec![self.words().failed(expression.source(), &why)]),
                };
                Judged::new(verdict, &false, &true)
            }
            Test::All(parts) => self.all(parts),
            Test::Any(parts) => self.any(parts),
            Test::Not(part) => self.not(part),
        }
    }

    fn artifacts(&self, artifact_type: &str, required: u64, reason: impl FnOnce(Words, u64) -> String) -> Judged {
        let (evidence, stale) = (self.scene.evidence, &self.scene.facts.stale);
        let current = evidence.distinct(artifact_type, stale);
        let verdict = Verdict::when(current >= required, || reason(self.words(), current));
        let mut judged = Judged::new(verdict, &current, &required);
        if judged.verdict != Verdict::Holds {
            let paths = evidence.stale(artifact_type, stale).take(STALE_TOLD_MAX);
            judged.beside = paths.map(|path| self.words().artifact_stale(path)).collect();
        }
        judged
    }

    fn context(&self, variable: &str, test: &ContextTest) -> Judged {
        let words = self.words();
        let found = self.scene.context.get(variable);
        match test {
            ContextTest::Exists => {
                let verdict = Verdict::when(found.is_some(), || words.missing(variable));
                return Judged::new(verdict, &found.map_or_else(|| words.nothing(), shown), &"");
            }
            ContextTest::NotExists => {
                let verdict = Verdict::when(found.is_none(), || words.unwanted(variable));
                return Judged::new(verdict, &found.map(shown).unwrap_or_default(), &"");
            }
            _ => {}
        }
        let required = match test {
            ContextTest::Equals(value) | ContextTest::NotEquals(value) => shown(value),
            ContextTest::In(values) | ContextTest::NotIn(values) => listed(values),
            ContextTest::Compare(_, number) => number.to_string(),
            ContextTest::Exists | ContextTest::NotExists => String::new(),
        };
        let Some(current) = found else {
            return Judged::new(Verdict::Undefined(vec![words.undefined(variable)]), &words.nothing(), &required);
        };
        let is_in = |values: &[Value]| values.iter().any(|value| equal(current, value));
        let verdict = match test {
            ContextTest::Equals(value) => {
                Verdict::when(equal(current, value), || words.equals(variable, current, value))
            }
            ContextTest::NotEquals(value) => {
                Verdict::when(!equal(current, value), || words.not_equals(variable, current, value))
            }
            ContextTest::In(values) => Verdict::when(is_in(values), || words.one_of(variable, current, values)),
            ContextTest::NotIn(values) => Verdict::when(!is_in(values), || words.none_of(variable, current, values)),
            ContextTest::Compare(comparison, bound) => match current {
                Value::Number(number) => Verdict::when(compares(*comparison, number, bound), || {
                    words.compared(variable, current, &words.bound(*comparison, bound))
                }),
                _ => Verdict::Errs(vec![words.no_number(variable, current)]),
            },
            ContextTest::Exists | ContextTest::NotExists => Verdict::Holds,
        };
        Judged::new(verdict, &shown(current), &required)
    }

    fn counter(&self, counter: Counter, of: &str, comparison: GuardComparison, bound: &Number) -> Judged {
        let counts = match counter {
            Counter::Attempts => self.scene.attempts,
            Counter::Visits => self.scene.visits,
        };
        let current = counts.get(of).copied().unwrap_or(0);
        let words = self.words();
        let verdict = Verdict::when(compares(comparison, &Number::from(current), bound), || {
            words.counted(counter, of, current, &words.bound(comparison, bound))
        });
        Judged::new(verdict, &current, bound)
    }

    fn all(&self, parts: &[GuardPart]) -> Judged {
        let verdicts: Vec<Verdict> = parts.iter().map(|part| self.part(part)).collect();
        let held = verdicts.iter().filter(|verdict| **verdict == Verdict::Holds).count();
        let reasons = distinct(&verdicts);
        let verdict = if held == parts.len() {
            Verdict::Holds
        } else if verdicts.iter().any(|verdict| matches!(verdict, Verdict::Lacks(_))) {
            Verdict::Lacks(reasons)
        } else {
            Verdict::unknown(&verdicts, reasons)
        };
        Judged::new(verdict, &held, &parts.len())
    }

    fn any(&self, parts: &[GuardPart]) -> Judged {
        let verdicts: Vec<Verdict> = parts.iter().map(|part| self.part(part)).collect();
        let is_held = verdicts.contains(&Verdict::Holds);
        let reasons = distinct(&verdicts);
        let reason = match reasons.len() {
            1 => reasons,
            _ => vec![clipped(&self.words().any_of(&reasons), REASON_CHARS_MAX)],
        };
        let verdict = if is_held {
            Verdict::Holds
        } else if verdicts.iter().all(|verdict| matches!(verdict, Verdict::Lacks(_))) {
            Verdict::Lacks(reason)
        } else {
            Verdict::unknown(&verdicts, reason)
        };
        Judged::new(verdict, &usize::from(is_held), &1)
    }

    fn not(&self, part: &GuardPart) -> Judged {
        let name = match part {
            GuardPart::Named(name) => Some(name.as_str()),
            GuardPart::Inline(_) => None,
        };
        let verdict = match self.part(part) {
            Verdict::Holds => Verdict::Lacks(vec![self.words().should_not_hold(name)]),
            Verdict::Lacks(_) => Verdict::Holds,
            unknown => unknown,
        };
        Judged::new(verdict, &true, &false)
    }
}

/// The reasons of several verdicts without duplicates, at most `REASONS_MAX`.
fn distinct(verdicts: &[Verdict]) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for reason in verdicts.iter().flat_map(Verdict::reasons) {
        if reasons.len() < REASONS_MAX && !reasons.contains(reason) {
            reasons.push(reason.clone());
        }
    }
    reasons
}

/// Equal and of the same type; numbers are compared by value, so that 1 equals 1.0.
fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => order(one, other) == Some(Ordering::Equal),
        _ => one == other,
    }
}

fn compares(comparison: GuardComparison, current: &Number, bound: &Number) -> bool {
    let Some(order) = order(current, bound) else { return false };
    match comparison {
        GuardComparison::LessThan => order.is_lt(),
        GuardComparison::AtMost => order.is_le(),
        GuardComparison::GreaterThan => order.is_gt(),
        GuardComparison::AtLeast => order.is_ge(),
    }
}

/// Compares numbers exactly: integers are not rounded to floating point.
fn order(one: &Number, other: &Number) -> Option<Ordering> {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        (Some(one), None) => order_mixed(one, other.as_f64()?),
        (None, Some(other)) => order_mixed(other, one.as_f64()?).map(Ordering::reverse),
        (None, None) => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

fn order_mixed(whole: i128, other: f64) -> Option<Ordering> {
    // Clamp to fit an `i128`; no integer in JSON is as large as this bound.
    let floor = other.floor();
    let order = whole.cmp(&i128::from_f64(floor.clamp(-1e30, 1e30))?);
    Some(order.then(floor.partial_cmp(&other)?))
}
