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

use super::messages::{GuardMessages, display_value, display_values};
use super::{ContentRequirement, ContextTest, Counter, Guard, GuardComparison, GuardPart, Test};
use crate::gate::evidence::{Artifact, Evidence};
use crate::gate::facts::Facts;
use crate::gate::finding::clip;
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
enum GuardVerdict {
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
/// Maximum number of artifacts without substance in the reasons of one guard.
const THIN_LISTED_MAX: usize = 5;
/// Maximum number of stale files in the reasons of one guard; the event lists all.
const STALE_LISTED_MAX: usize = 20;

impl GuardVerdict {
    fn from_bool(holds: bool, reason: impl FnOnce() -> String) -> Self {
        if holds { Self::Holds } else { Self::Lacks(vec![reason()]) }
    }

    fn reasons(&self) -> &[String] {
        match self {
            Self::Holds => &[],
            Self::Lacks(reasons) | Self::Undefined(reasons) | Self::Errs(reasons) => reasons,
        }
    }

    /// The verdict of a combined guard that cannot be decided: an error if a part has one, otherwise undefined.
    fn undecided(parts: &[Self], reasons: Vec<String>) -> Self {
        let errs = parts.iter().any(|part| matches!(part, Self::Errs(_)));
        if errs { Self::Errs(reasons) } else { Self::Undefined(reasons) }
    }
}

impl GuardInputs<'_> {
    /// A context variable. In a campaign, the campaign's number counts.
    fn variable(&self, name: &str) -> Option<&Value> {
        self.facts.campaign_numbers.get(name).or_else(|| self.context.get(name))
    }

    /// Evaluates the guard of this name.
    pub fn evaluate(&self, guard: &str) -> GuardResult {
        let verdict = Evaluation { inputs: self, verdicts: RefCell::default() }.evaluate_named(guard);
        let missing = verdict.reasons().to_vec();
        GuardResult { guard: guard.to_owned(), satisfied: verdict == GuardVerdict::Holds, missing }
    }
}

/// One evaluation. It caches verdicts by name; without that, a few guards that refer to each other repeatedly would
/// take exponential time.
struct Evaluation<'a> {
    inputs: &'a GuardInputs<'a>,
    verdicts: RefCell<BTreeMap<String, GuardVerdict>>,
}

/// A verdict, and the values for the placeholders of a message.
struct EvaluatedTest {
    verdict: GuardVerdict,
    current: String,
    required: String,
    /// Reasons that are added to the author's message.
    artifact_reasons: Vec<String>,
}

impl EvaluatedTest {
    fn new(verdict: GuardVerdict, current: &dyn fmt::Display, required: &dyn fmt::Display) -> Self {
        Self { verdict, current: current.to_string(), required: required.to_string(), artifact_reasons: Vec::new() }
    }
}

impl Evaluation<'_> {
    fn messages(&self) -> GuardMessages {
        GuardMessages(self.inputs.process.locale)
    }

    fn evaluate_named(&self, name: &str) -> GuardVerdict {
        if let Some(verdicts) = self.verdicts.borrow().get(name) {
            return verdicts.clone();
        }
        let verdict = match self.inputs.process.guards.get(name) {
            Some(guard) => self.evaluate_guard(guard),
            None => GuardVerdict::Errs(vec![self.messages().undefined_guard(name)]),
        };
        self.verdicts.borrow_mut().insert(name.to_owned(), verdict.clone());
        verdict
    }

    fn evaluate_part(&self, part: &GuardPart) -> GuardVerdict {
        match part {
            GuardPart::Named(name) => self.evaluate_named(name),
            GuardPart::Inline(guard) => self.evaluate_guard(guard),
        }
    }

    fn evaluate_guard(&self, guard: &Guard) -> GuardVerdict {
        let EvaluatedTest { verdict, current, required, artifact_reasons } = self.evaluate_test(&guard.test);
        let said = |reasons: Vec<String>| {
            let own = guard
                .message
                .as_ref()
                .map(|message| vec![message.replace("{required}", &required).replace("{current}", &current)]);
            own.unwrap_or(reasons)
                .iter()
                .chain(&artifact_reasons)
                .map(|reason| clip(reason, REASON_CHARS_MAX))
                .collect()
        };
        match verdict {
            GuardVerdict::Holds => GuardVerdict::Holds,
            GuardVerdict::Lacks(reasons) => GuardVerdict::Lacks(said(reasons)),
            GuardVerdict::Undefined(reasons) => GuardVerdict::Undefined(said(reasons)),
            // An error keeps its own reasons: the author's message is about a guard that is not satisfied.
            GuardVerdict::Errs(reasons) => GuardVerdict::Errs(reasons),
        }
    }

    fn evaluate_test(&self, test: &Test) -> EvaluatedTest {
        match test {
            Test::ArtifactExists { artifact_type, requirement } => {
                self.evaluate_artifacts(artifact_type, 1, requirement, |words, _| words.artifact_missing(artifact_type))
            }
            Test::ArtifactCount { artifact_type, min_count, requirement } => {
                self.evaluate_artifacts(artifact_type, *min_count, requirement, |words, current| {
                    words.artifact_count(artifact_type, current, *min_count)
                })
            }
            Test::Context { variable, test } => self.evaluate_context(variable, test),
            Test::Run { counter, of, comparison, value } => self.evaluate_counter(*counter, of, *comparison, value),
            Test::Cel(expression) => {
                let verdict = match expression.evaluate(self.inputs) {
                    Ok(holds) => {
                        GuardVerdict::from_bool(holds, || self.messages().condition_not_met(expression.source()))
                    }
                    Err(why) => GuardVerdict::Errs(vec![self.messages().evaluation_failed(expression.source(), &why)]),
                };
                EvaluatedTest::new(verdict, &false, &true)
            }
            Test::All(parts) => self.evaluate_all(parts),
            Test::Any(parts) => self.evaluate_any(parts),
            Test::Not(part) => self.evaluate_not(part),
        }
    }

    fn evaluate_artifacts(
        &self,
        artifact_type: &str,
        required: u64,
        requirement: &ContentRequirement,
        reason: impl FnOnce(GuardMessages, u64) -> String,
    ) -> EvaluatedTest {
        let (evidence, stale, words) = (self.inputs.evidence, &self.inputs.facts.stale, self.messages());
        let is_thin = |artifact: &Artifact| !artifact.measure.as_ref().is_some_and(|found| requirement.is_met(found));
        let current = if requirement.is_empty() {
            evidence.count_distinct(artifact_type, stale)
        } else {
            evidence.count_accepted(artifact_type, stale, required, |artifact| !is_thin(artifact))
        };
        let verdict = GuardVerdict::from_bool(current >= required, || {
            let reason = reason(words, current);
            if requirement.is_empty() { reason } else { format!("{reason}{}", words.each_needs(requirement)) }
        });
        let mut judged = EvaluatedTest::new(verdict, &current, &required);
        if judged.verdict != GuardVerdict::Holds {
            if !requirement.is_empty() {
                let found = evidence.of_type(artifact_type).filter(|artifact| !stale.contains(&artifact.path));
                let thin = found.filter(|artifact| is_thin(artifact)).take(THIN_LISTED_MAX);
                judged.artifact_reasons.extend(thin.map(|artifact| words.artifact_thin(artifact, requirement)));
            }
            let paths = evidence.stale_paths(artifact_type, stale).take(STALE_LISTED_MAX);
            judged.artifact_reasons.extend(paths.map(|path| words.artifact_stale(path)));
        }
        judged
    }

    fn evaluate_context(&self, variable: &str, test: &ContextTest) -> EvaluatedTest {
        let words = self.messages();
        let found = self.inputs.variable(variable);
        match test {
            ContextTest::Exists => {
                let verdict = GuardVerdict::from_bool(found.is_some(), || words.missing_variable(variable));
                return EvaluatedTest::new(verdict, &found.map_or_else(|| words.undefined_value(), display_value), &"");
            }
            ContextTest::NotExists => {
                let verdict = GuardVerdict::from_bool(found.is_none(), || words.unwanted_variable(variable));
                return EvaluatedTest::new(verdict, &found.map(display_value).unwrap_or_default(), &"");
            }
            _ => {}
        }
        let required = match test {
            ContextTest::Equals(value) | ContextTest::NotEquals(value) => display_value(value),
            ContextTest::In(values) | ContextTest::NotIn(values) => display_values(values),
            ContextTest::Compare(_, number) => number.to_string(),
            ContextTest::Exists | ContextTest::NotExists => String::new(),
        };
        let Some(current) = found else {
            return EvaluatedTest::new(
                GuardVerdict::Undefined(vec![words.undefined_variable(variable)]),
                &words.undefined_value(),
                &required,
            );
        };
        let is_in = |values: &[Value]| values.iter().any(|value| is_equal(current, value));
        let verdict = match test {
            ContextTest::Equals(value) => {
                GuardVerdict::from_bool(is_equal(current, value), || words.equals(variable, current, value))
            }
            ContextTest::NotEquals(value) => {
                GuardVerdict::from_bool(!is_equal(current, value), || words.not_equals(variable, current, value))
            }
            ContextTest::In(values) => {
                GuardVerdict::from_bool(is_in(values), || words.one_of(variable, current, values))
            }
            ContextTest::NotIn(values) => {
                GuardVerdict::from_bool(!is_in(values), || words.none_of(variable, current, values))
            }
            ContextTest::Compare(comparison, bound) => match current {
                Value::Number(number) => GuardVerdict::from_bool(is_comparison_met(*comparison, number, bound), || {
                    words.comparison_failed(variable, current, &words.bound(*comparison, bound))
                }),
                _ => GuardVerdict::Errs(vec![words.not_a_number(variable, current)]),
            },
            ContextTest::Exists | ContextTest::NotExists => GuardVerdict::Holds,
        };
        EvaluatedTest::new(verdict, &display_value(current), &required)
    }

    fn evaluate_counter(
        &self,
        counter: Counter,
        of: &str,
        comparison: GuardComparison,
        bound: &Number,
    ) -> EvaluatedTest {
        let counts = match counter {
            Counter::Attempts => self.inputs.attempts,
            Counter::Visits => self.inputs.visits,
        };
        let current = counts.get(of).copied().unwrap_or(0);
        let words = self.messages();
        let verdict = GuardVerdict::from_bool(is_comparison_met(comparison, &Number::from(current), bound), || {
            words.counter_failed(counter, of, current, &words.bound(comparison, bound))
        });
        EvaluatedTest::new(verdict, &current, bound)
    }

    fn evaluate_all(&self, parts: &[GuardPart]) -> EvaluatedTest {
        let verdicts: Vec<GuardVerdict> = parts.iter().map(|part| self.evaluate_part(part)).collect();
        let held = verdicts.iter().filter(|verdict| **verdict == GuardVerdict::Holds).count();
        let reasons = distinct_reasons(&verdicts);
        let verdict = if held == parts.len() {
            GuardVerdict::Holds
        } else if verdicts.iter().any(|verdict| matches!(verdict, GuardVerdict::Lacks(_))) {
            GuardVerdict::Lacks(reasons)
        } else {
            GuardVerdict::undecided(&verdicts, reasons)
        };
        EvaluatedTest::new(verdict, &held, &parts.len())
    }

    fn evaluate_any(&self, parts: &[GuardPart]) -> EvaluatedTest {
        let verdicts: Vec<GuardVerdict> = parts.iter().map(|part| self.evaluate_part(part)).collect();
        let is_held = verdicts.contains(&GuardVerdict::Holds);
        let reasons = distinct_reasons(&verdicts);
        let reason = match reasons.len() {
            1 => reasons,
            _ => vec![clip(&self.messages().any_of(&reasons), REASON_CHARS_MAX)],
        };
        let verdict = if is_held {
            GuardVerdict::Holds
        } else if verdicts.iter().all(|verdict| matches!(verdict, GuardVerdict::Lacks(_))) {
            GuardVerdict::Lacks(reason)
        } else {
            GuardVerdict::undecided(&verdicts, reason)
        };
        EvaluatedTest::new(verdict, &usize::from(is_held), &1)
    }

    fn evaluate_not(&self, part: &GuardPart) -> EvaluatedTest {
        let name = match part {
            GuardPart::Named(name) => Some(name.as_str()),
            GuardPart::Inline(_) => None,
        };
        let verdict = match self.evaluate_part(part) {
            GuardVerdict::Holds => GuardVerdict::Lacks(vec![self.messages().should_not_hold(name)]),
            GuardVerdict::Lacks(_) => GuardVerdict::Holds,
            unknown => unknown,
        };
        EvaluatedTest::new(verdict, &true, &false)
    }
}

/// The reasons of several verdicts without duplicates, at most `REASONS_MAX`.
fn distinct_reasons(verdicts: &[GuardVerdict]) -> Vec<String> {
    let mut reasons: Vec<String> = Vec::new();
    for reason in verdicts.iter().flat_map(GuardVerdict::reasons) {
        if reasons.len() < REASONS_MAX && !reasons.contains(reason) {
            reasons.push(reason.clone());
        }
    }
    reasons
}

/// Equal and of the same type; numbers are compared by value, so that 1 equals 1.0.
fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => compare_numbers(one, other) == Some(Ordering::Equal),
        _ => one == other,
    }
}

fn is_comparison_met(comparison: GuardComparison, current: &Number, bound: &Number) -> bool {
    let Some(order) = compare_numbers(current, bound) else { return false };
    match comparison {
        GuardComparison::LessThan => order.is_lt(),
        GuardComparison::AtMost => order.is_le(),
        GuardComparison::GreaterThan => order.is_gt(),
        GuardComparison::AtLeast => order.is_ge(),
    }
}

/// Compares numbers exactly: integers are not rounded to floating point.
fn compare_numbers(one: &Number, other: &Number) -> Option<Ordering> {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        (Some(one), None) => compare_mixed(one, other.as_f64()?),
        (None, Some(other)) => compare_mixed(other, one.as_f64()?).map(Ordering::reverse),
        (None, None) => one.as_f64()?.partial_cmp(&other.as_f64()?),
    }
}

fn compare_mixed(whole: i128, other: f64) -> Option<Ordering> {
    // Clamp to fit an `i128`; no integer in JSON is as large as this bound.
    let floor = other.floor();
    let order = whole.cmp(&i128::from_f64(floor.clamp(-1e30, 1e30))?);
    Some(order.then(floor.partial_cmp(&other)?))
}
