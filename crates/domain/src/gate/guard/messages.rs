//! Messages about guards, in the language of the process (English or Japanese).

use serde_json::Value;

use super::super::finding::{clip, shorten};
use super::super::process::Locale;
use super::{ContentRequirement, Counter, GuardComparison};
use crate::gate::evidence::Artifact;

/// Characters of a value that a reason shows.
const VALUE_CHARS_MAX: usize = 500;

/// Messages in one language.
#[derive(Debug, Clone, Copy)]
pub(in crate::gate) struct GuardMessages(pub(in crate::gate) Locale);

impl GuardMessages {
    fn pick(self, en: impl FnOnce() -> String, ja: impl FnOnce() -> String) -> String {
        match self.0 {
            Locale::En => en(),
            Locale::Ja => ja(),
        }
    }

    pub(super) fn artifact_missing(self, artifact_type: &str) -> String {
        self.pick(
            || format!("Artifact '{artifact_type}' does not exist"),
            || format!("成果物 '{artifact_type}' が未提出"),
        )
    }

    pub(super) fn artifact_count(self, artifact_type: &str, current: u64, required: u64) -> String {
        self.pick(
            || format!("Artifact '{artifact_type}' count is {current}, required {required}"),
            || format!("成果物 '{artifact_type}' の件数が不足 (現在: {current}, 必要: {required})"),
        )
    }

    /// What each artifact needs to count, to be appended to a reason.
    pub(super) fn each_needs(self, requirement: &ContentRequirement) -> String {
        let mut parts = Vec::new();
        if requirement.min_bytes > 0 {
            let most = requirement.min_bytes;
            parts.push(self.pick(|| format!("{most} bytes of text"), || format!("{most} バイト")));
        }
        if requirement.min_lines > 0 {
            let most = requirement.min_lines;
            parts.push(self.pick(|| format!("{most} lines"), || format!("{most} 行")));
        }
        parts.extend(requirement.contains.iter().map(|word| format!("'{word}'")));
        self.pick(
            || format!(" (each with at least {})", parts.join(", ")),
            || format!(" (各成果物に必要: {})", parts.join("、")),
        )
    }

    /// Why an artifact does not count for a guard that asks for substance.
    pub(super) fn artifact_thin(self, artifact: &Artifact, requirement: &ContentRequirement) -> String {
        let measure = artifact.measure.clone().unwrap_or_default();
        let mut parts = Vec::new();
        if measure.bytes < requirement.min_bytes {
            let (current, required) = (measure.bytes, requirement.min_bytes);
            parts.push(self.pick(
                || format!("bytes of text: {current}, required {required}"),
                || format!("バイト数: {current} (必要: {required})"),
            ));
        }
        if measure.lines < requirement.min_lines {
            let (current, required) = (measure.lines, requirement.min_lines);
            parts.push(self.pick(
                || format!("lines: {current}, required {required}"),
                || format!("行数: {current} (必要: {required})"),
            ));
        }
        let lacks: Vec<String> = requirement
            .contains
            .iter()
            .filter(|word| !measure.contains.contains(word))
            .map(|word| format!("'{word}'"))
            .collect();
        if !lacks.is_empty() {
            let lacks = lacks.join(", ");
            parts.push(self.pick(|| format!("without {lacks}"), || format!("{lacks} がない")));
        }
        let (path, parts) = (shorten(&artifact.path), parts.join("; "));
        self.pick(
            || format!("Artifact '{path}' does not count: {parts}"),
            || format!("成果物 '{path}' は数えられません: {parts}"),
        )
    }

    pub(super) fn artifact_stale(self, path: &str) -> String {
        self.pick(
            || format!("Artifact file '{path}' is gone or has changed since it was submitted"),
            || format!("成果物ファイル '{path}' は提出後に変更または削除されています"),
        )
    }

    /// Shown for a variable that is not defined.
    pub(super) fn undefined_value(self) -> String {
        self.pick(|| "not defined".to_owned(), || "未定義".to_owned())
    }

    pub(super) fn undefined_variable(self, variable: &str) -> String {
        self.pick(
            || format!("Context variable '{variable}' is not defined"),
            || format!("コンテキスト変数 '{variable}' が未定義"),
        )
    }

    pub(super) fn equals(self, variable: &str, current: &Value, expected: &Value) -> String {
        let (current, expected) = (display_value(current), display_value(expected));
        self.pick(
            || format!("Context variable '{variable}' is '{current}', expected '{expected}'"),
            || format!("コンテキスト変数 '{variable}' は '{current}' (必要: '{expected}')"),
        )
    }

    pub(super) fn not_equals(self, variable: &str, current: &Value, expected: &Value) -> String {
        let (current, expected) = (display_value(current), display_value(expected));
        self.pick(
            || format!("Context variable '{variable}' is '{current}', expected not '{expected}'"),
            || format!("コンテキスト変数 '{variable}' は '{current}' (必要: '{expected}' 以外)"),
        )
    }

    pub(super) fn one_of(self, variable: &str, current: &Value, expected: &[Value]) -> String {
        let (current, expected) = (display_value(current), display_values(expected));
        self.pick(
            || format!("Context variable '{variable}' is '{current}', expected one of [{expected}]"),
            || format!("コンテキスト変数 '{variable}' は '{current}' (必要: [{expected}] のいずれか)"),
        )
    }

    pub(super) fn none_of(self, variable: &str, current: &Value, expected: &[Value]) -> String {
        let (current, expected) = (display_value(current), display_values(expected));
        self.pick(
            || format!("Context variable '{variable}' is '{current}', expected not in [{expected}]"),
            || format!("コンテキスト変数 '{variable}' は '{current}' (必要: [{expected}] 以外)"),
        )
    }

    pub(super) fn missing_variable(self, variable: &str) -> String {
        self.pick(
            || format!("Context variable '{variable}' does not exist"),
            || format!("コンテキスト変数 '{variable}' が存在しません"),
        )
    }

    pub(super) fn unwanted_variable(self, variable: &str) -> String {
        self.pick(
            || format!("Context variable '{variable}' exists but should not"),
            || format!("コンテキスト変数 '{variable}' が存在しています (存在しないことが必要)"),
        )
    }

    pub(super) fn comparison_failed(self, variable: &str, current: &Value, expected: &str) -> String {
        let current = display_value(current);
        self.pick(
            || format!("Context variable '{variable}' is '{current}', expected {expected}"),
            || format!("コンテキスト変数 '{variable}' は '{current}' (必要: {expected})"),
        )
    }

    pub(super) fn not_a_number(self, variable: &str, current: &Value) -> String {
        let current = display_value(current);
        self.pick(
            || format!("Context variable '{variable}' is '{current}', expected a number"),
            || format!("コンテキスト変数 '{variable}' は '{current}' (必要: 数値)"),
        )
    }

    pub(super) fn counter_failed(self, counter: Counter, of: &str, current: u64, expected: &str) -> String {
        let (en, ja) = match counter {
            Counter::Attempts => ("Accepted events", "受理されたイベント"),
            Counter::Visits => ("Visits of state", "状態への到達"),
        };
        self.pick(
            || format!("{en} '{of}': {current}, expected {expected}"),
            || format!("{ja} '{of}': {current} 回 (必要: {expected})"),
        )
    }

    /// A bound as text: "at most 3".
    pub(super) fn bound(self, comparison: GuardComparison, value: &serde_json::Number) -> String {
        let (en, ja) = match comparison {
            GuardComparison::LessThan => ("less than", "未満"),
            GuardComparison::AtMost => ("at most", "以下"),
            GuardComparison::GreaterThan => ("greater than", "より大きい値"),
            GuardComparison::AtLeast => ("at least", "以上"),
        };
        self.pick(|| format!("{en} {value}"), || format!("{value} {ja}"))
    }

    pub(super) fn condition_not_met(self, expression: &str) -> String {
        let expression = shorten(expression);
        self.pick(
            || format!("Condition '{expression}' is not met"),
            || format!("条件 '{expression}' が満たされていません"),
        )
    }

    pub(super) fn evaluation_failed(self, expression: &str, why: &str) -> String {
        let expression = shorten(expression);
        self.pick(
            || format!("Condition '{expression}' cannot be evaluated: {why}"),
            || format!("条件 '{expression}' を評価できません: {why}"),
        )
    }

    /// Why an expression over `campaign` cannot be evaluated.
    pub(super) fn no_campaign(self) -> String {
        self.pick(
            || "this run belongs to no campaign".to_owned(),
            || "この実行はキャンペーンに属していません".to_owned(),
        )
    }

    pub(super) fn any_of(self, reasons: &[String]) -> String {
        self.pick(|| format!("one of: {}", reasons.join("; ")), || format!("次のいずれか: {}", reasons.join("、")))
    }

    pub(super) fn should_not_hold(self, guard: Option<&str>) -> String {
        match guard {
            Some(guard) => self.pick(
                || format!("Guard '{guard}' is satisfied but should not be"),
                || format!("ガード '{guard}' が満たされています (満たされないことが必要)"),
            ),
            None => self.pick(
                || "A condition holds that should not".to_owned(),
                || "満たされてはならない条件が満たされています".to_owned(),
            ),
        }
    }

    pub(super) fn undefined_guard(self, guard: &str) -> String {
        self.pick(|| format!("Guard '{guard}' is not defined"), || format!("ガード '{guard}' が定義されていません"))
    }

    /// The description of a guard that has none of its own.
    pub(in crate::gate) fn default_description(self, to: &str) -> String {
        self.pick(|| format!("Guard for transition to '{to}'"), || format!("状態 '{to}' への遷移のガード"))
    }

    /// Why an event cannot be emitted in the current state.
    pub(in crate::gate) fn only_in_states(self, states: &[&str]) -> String {
        if states.is_empty() {
            return self
                .pick(|| "cannot be emitted in any state".to_owned(), || "どの状態でも発行できません".to_owned());
        }
        self.pick(
            || format!("cannot be emitted in the current state (only in {})", states.join(", ")),
            || format!("現在の状態では発行できません（{} 状態でのみ発行可能）", states.join(", ")),
        )
    }

    /// Why an event is blocked that would be accepted with what its guards require.
    pub(in crate::gate) fn guards_unsatisfied(self) -> String {
        self.pick(
            || "Guard conditions not satisfied; emit it with what is missing".to_owned(),
            || "ガード条件が満たされていません。不足しているものを添えて発行してください".to_owned(),
        )
    }

    pub(in crate::gate) fn role_forbidden(self, role: &str) -> String {
        self.pick(|| format!("role '{role}' may not emit it"), || format!("ロール '{role}' では発行できません"))
    }

    pub(in crate::gate) fn own_work(self, principal: &str) -> String {
        self.pick(
            || format!("'{principal}' submitted to this run, and may not decide on it"),
            || format!("'{principal}' はこの実行に提出しているため判断できません"),
        )
    }

    pub(in crate::gate) fn run_over(self) -> String {
        self.pick(|| "the run is over".to_owned(), || "この実行は終了しています".to_owned())
    }
}

/// A value for messages: text without quotes, cut if it is long.
pub(super) fn display_value(value: &Value) -> String {
    match value {
        Value::String(text) => clip(text, VALUE_CHARS_MAX),
        other => clip(&other.to_string(), VALUE_CHARS_MAX),
    }
}

pub(super) fn display_values(values: &[Value]) -> String {
    clip(&values.iter().map(display_value).collect::<Vec<_>>().join(", "), VALUE_CHARS_MAX)
}
