//! Findings in a process file: rule, severity, line and column, message and hint.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

/// Findings reported for one file.
pub(super) const FINDINGS_MAX: usize = 200;

/// A place in a file, counted from 1, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[schemars(rename = "Place")]
pub struct SourcePosition {
    pub line: usize,
    pub column: usize,
}

impl SourcePosition {
    pub const START: Self = Self { line: 1, column: 1 };
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The process is not taken.
    Error,
    /// The process is taken, and hardly does what was meant.
    Warning,
}

macro_rules! rules {
    ($($rule:ident $name:literal $severity:ident;)+) => {
        /// What a finding is about, by name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
        pub enum Rule { $(#[serde(rename = $name)] $rule),+ }

        impl Rule {
            /// All rules, in the order in which they are documented.
            pub const ALL: &'static [Self] = &[$(Self::$rule),+];

            pub fn name(self) -> &'static str {
                match self { $(Self::$rule => $name),+ }
            }

            pub fn severity(self) -> Severity {
                match self { $(Self::$rule => Severity::$severity),+ }
            }
        }
    };
}

rules! {
    InvalidYaml "INVALID_YAML" Error;
    TooLarge "TOO_LARGE" Error;
    TooDeep "TOO_DEEP" Error;
    DuplicateKey "DUPLICATE_KEY" Error;
    UnknownKey "UNKNOWN_KEY" Error;
    MissingRequiredField "MISSING_REQUIRED_FIELD" Error;
    InvalidValue "INVALID_VALUE" Error;
    InvalidSchema "INVALID_SCHEMA" Error;
    DuplicateStateName "DUPLICATE_STATE_NAME" Error;
    DuplicateEventName "DUPLICATE_EVENT_NAME" Error;
    DuplicateRoleName "DUPLICATE_ROLE_NAME" Error;
    DuplicateArtifactType "DUPLICATE_ARTIFACT_TYPE" Error;
    InvalidInitialState "INVALID_INITIAL_STATE" Error;
    InvalidInitialContext "INVALID_INITIAL_CONTEXT" Error;
    InvalidTransitionFrom "INVALID_TRANSITION_FROM" Error;
    InvalidTransitionTo "INVALID_TRANSITION_TO" Error;
    InvalidTransitionEvent "INVALID_TRANSITION_EVENT" Error;
    InvalidGuardReference "INVALID_GUARD_REFERENCE" Error;
    InvalidGuardArtifactType "INVALID_GUARD_ARTIFACT_TYPE" Error;
    InvalidGuardCounter "INVALID_GUARD_COUNTER" Error;
    InvalidMinCount "INVALID_MIN_COUNT" Error;
    InvalidContextGuardValue "INVALID_CONTEXT_GUARD_VALUE" Error;
    InvalidExpression "INVALID_EXPRESSION" Error;
    GuardCycle "GUARD_CYCLE" Error;
    InvalidRoleReference "INVALID_ROLE_REFERENCE" Error;
    InvalidWildcardRole "INVALID_WILDCARD_ROLE" Error;
    InvalidRequiredArtifact "INVALID_REQUIRED_ARTIFACT" Error;
    UnreachableState "UNREACHABLE_STATE" Error;
    NoFinalState "NO_FINAL_STATE" Error;
    IgnoredKey "IGNORED_KEY" Warning;
    DeadEnd "DEAD_END" Warning;
    NoWayToFinal "NO_WAY_TO_FINAL" Warning;
    FinalStateLeft "FINAL_STATE_LEFT" Warning;
    ShadowedTransition "SHADOWED_TRANSITION" Warning;
    RecordWithoutGuard "RECORD_WITHOUT_GUARD" Warning;
    UnusedGuard "UNUSED_GUARD" Warning;
    UnusedEvent "UNUSED_EVENT" Warning;
    NobodyMayEmit "NOBODY_MAY_EMIT" Warning;
    GuardAlwaysSatisfied "GUARD_ALWAYS_SATISFIED" Warning;
    VariableNeverSet "VARIABLE_NEVER_SET" Warning;
    VariableOpen "VARIABLE_OPEN" Warning;
    RequiredArtifactNotGuarded "REQUIRED_ARTIFACT_NOT_GUARDED" Warning;
    UnknownReference "UNKNOWN_REFERENCE" Warning;
    RoleDisagrees "ROLE_DISAGREES" Warning;
    ToolPatternTooWide "TOOL_PATTERN_TOO_WIDE" Warning;
}

/// One thing that is wrong with a process file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    pub severity: Severity,
    pub code: Rule,
    /// JSON pointer to what it is about.
    pub path: String,
    pub line: usize,
    pub column: usize,
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl Finding {
    pub(super) fn new(
        code: Rule,
        path: impl Into<String>,
        place: SourcePosition,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let (line, column) = (place.line, place.column);
        Self {
            severity: code.severity(),
            code,
            path: path.into(),
            line,
            column,
            message: message.into(),
            hint: hint.into(),
        }
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let severity = if self.is_error() { "error" } else { "warning" };
        let Self { line, column, code, message, hint, .. } = self;
        write!(formatter, "{line}:{column}: {severity} {}: {message}; {hint}", code.name())
    }
}

/// Appends a step to a JSON pointer.
pub(super) fn join_pointer(path: &str, step: impl fmt::Display) -> String {
    format!("{path}/{}", step.to_string().replace('~', "~0").replace('/', "~1"))
}

/// Limits of the search for a similar word: candidates, and characters of each. Comparing every unknown name with a
/// long list would take minutes.
const COMPARED_MAX: usize = 200;
const COMPARED_CHARS_MAX: usize = 40;

/// The most similar allowed word, if one is similar enough.
pub(super) fn nearest_word<'a>(given: &str, allowed: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let is_short = |word: &str| word.char_indices().nth(COMPARED_CHARS_MAX).is_none();
    if !is_short(given) {
        return None;
    }
    let given = given.to_lowercase();
    allowed
        .into_iter()
        .filter(|word| is_short(word))
        .take(COMPARED_MAX)
        .map(|word| (strsim::jaro_winkler(&given, &word.to_lowercase()), word))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, word)| word)
}

/// A hint with the most similar word, or else with the allowed words.
pub(super) fn suggest_word(given: &str, allowed: &[&str]) -> String {
    match (nearest_word(given, allowed.iter().copied()), allowed) {
        (Some(word), _) => format!("did you mean {word:?}?"),
        (None, []) => "define it, or leave it out".to_owned(),
        (None, _) => {
            let listed: Vec<&str> = allowed.iter().copied().take(20).collect();
            let more = if allowed.len() > listed.len() { ", …" } else { "" };
            format!("use one of: {}{more}", listed.join(", "))
        }
    }
}

/// A caller's text, cut to a length that a message can quote.
pub(super) fn shorten(text: &str) -> String {
    clip(text, 80)
}

/// A text, cut to at most `chars_max` characters.
pub(super) fn clip(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        Some(_) => text.chars().take(chars_max - 1).chain(['…']).collect(),
    }
}
