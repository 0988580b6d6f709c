//! Refusals of a run's commands: the reason, the input field at fault, and a hint.

use super::super::finding::shorten;
use super::super::guard::GuardResult;
use super::super::json_schema::SchemaMisfit;
use super::super::process::Decision;

/// Category of a refusal, from which the error code follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunRefusalKind {
    /// There is no such run.
    NotFound,
    /// The payload or the artifacts do not fit.
    InvalidPayload,
    /// The event cannot happen in this state.
    InvalidEvent,
    /// This role or this principal may not do it.
    Forbidden,
    GuardFailed,
    /// More than a limit allows.
    TooLarge,
    /// The run has changed since the command was prepared.
    OutOfDate,
    /// The rules do not allow it in the run's current state.
    Rejected,
}

#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RunRefusal {
    /// The stream is empty. The caller knows the id, so it is not repeated.
    #[error("there is no such run")]
    RunNotFound,
    #[error("run {run_id} exists already")]
    RunExists { run_id: String },
    #[error("the run is pinned to process {expected}, this is {given}")]
    OtherProcess { expected: String, given: String },
    #[error("the run has moved on from revision {facts_of} to {revision}")]
    OutOfDate { facts_of: u64, revision: u64 },
    #[error("the run is in the final state '{state}', where it ends")]
    Finished { state: String },
    #[error("the run was cancelled")]
    Cancelled,
    #[error("Event '{}' not found", shorten(event))]
    EventNotFound { event: String, nearest: Option<String>, known: Vec<String> },
    #[error("No transition defined for event '{event}' from state '{state}'")]
    NoTransition { event: String, state: String, states: Vec<String> },
    #[error("role '{role}' may not emit '{event}'")]
    RoleForbidden { event: String, role: String, allowed: Vec<String> },
    #[error("Permission denied for all available transitions")]
    TransitionsForbidden { event: String, role: String },
    #[error("role '{role}' has no {}", decision.flag())]
    MayNotDecide { role: String, decision: Decision },
    #[error("'{principal}' submitted to this run, and may not decide on it")]
    OwnWork { principal: String },
    #[error("only a person may override a guard, role '{role}' does not act as one")]
    NotHuman { role: String },
    #[error("role '{role}' may not cancel a run")]
    MayNotCancel { role: String },
    #[error("idempotency_key does not fit: {}", misfit.message)]
    KeyMisfit { misfit: SchemaMisfit },
    #[error("Payload does not match the schema")]
    PayloadMisfits { misfits: Vec<SchemaMisfit> },
    #[error("the context does not fit this process")]
    ContextMisfits {
        misfits: Vec<SchemaMisfit>,
        /// The variables that may be set, if the process names them; otherwise all that no guard reads.
        settable: Option<Vec<String>>,
    },
    #[error("artifact_paths contains invalid entries")]
    ArtifactMisfits { misfits: Vec<SchemaMisfit> },
    #[error("Guard conditions not satisfied")]
    GuardFailed { results: Vec<GuardResult> },
    #[error("guard '{guard}' is satisfied, there is nothing to override")]
    NothingToOverride { guard: String, event: String },
    #[error("{field} is required, it is empty")]
    Empty { field: &'static str },
    #[error("{what} has at most {count_max} {unit}, this would be {count}")]
    TooLarge { field: &'static str, what: &'static str, unit: &'static str, count: usize, count_max: usize },
}

impl RunRefusal {
    pub fn kind(&self) -> RunRefusalKind {
        match self {
            Self::RunNotFound => RunRefusalKind::NotFound,
            Self::Finished { .. } | Self::Cancelled | Self::EventNotFound { .. } | Self::NoTransition { .. } => {
                RunRefusalKind::InvalidEvent
            }
            Self::RoleForbidden { .. }
            | Self::TransitionsForbidden { .. }
            | Self::MayNotDecide { .. }
            | Self::OwnWork { .. }
            | Self::NotHuman { .. }
            | Self::MayNotCancel { .. } => RunRefusalKind::Forbidden,
            Self::KeyMisfit { .. }
            | Self::PayloadMisfits { .. }
            | Self::ContextMisfits { .. }
            | Self::ArtifactMisfits { .. }
            | Self::Empty { .. } => RunRefusalKind::InvalidPayload,
            Self::GuardFailed { .. } => RunRefusalKind::GuardFailed,
            Self::OutOfDate { .. } => RunRefusalKind::OutOfDate,
            Self::TooLarge { .. } => RunRefusalKind::TooLarge,
            Self::RunExists { .. } | Self::OtherProcess { .. } | Self::NothingToOverride { .. } => {
                RunRefusalKind::Rejected
            }
        }
    }

    /// JSON pointer to the input field at fault; `None` if the reason is the state of the run or the caller's role.
    pub fn pointer(&self) -> Option<String> {
        match self {
            Self::RunNotFound | Self::RunExists { .. } => Some("/run_id".to_owned()),
            Self::EventNotFound { .. } | Self::NoTransition { .. } | Self::NothingToOverride { .. } => {
                Some("/event_name".to_owned())
            }
            Self::KeyMisfit { misfit } => Some(misfit.path.clone()),
            Self::PayloadMisfits { misfits }
            | Self::ContextMisfits { misfits, .. }
            | Self::ArtifactMisfits { misfits } => misfits.first().map(|misfit| misfit.path.clone()),
            Self::Empty { field } | Self::TooLarge { field, .. } => Some(format!("/{field}")),
            Self::OutOfDate { .. }
            | Self::OtherProcess { .. }
            | Self::Finished { .. }
            | Self::Cancelled
            | Self::RoleForbidden { .. }
            | Self::TransitionsForbidden { .. }
            | Self::MayNotDecide { .. }
            | Self::OwnWork { .. }
            | Self::NotHuman { .. }
            | Self::MayNotCancel { .. }
            | Self::GuardFailed { .. } => None,
        }
    }

    /// The name or the id at fault, where there is one.
    pub fn value(&self) -> Option<&str> {
        match self {
            Self::RunExists { run_id: value }
            | Self::OtherProcess { given: value, .. }
            | Self::Finished { state: value }
            | Self::EventNotFound { event: value, .. }
            | Self::NoTransition { event: value, .. }
            | Self::RoleForbidden { role: value, .. }
            | Self::TransitionsForbidden { role: value, .. }
            | Self::MayNotDecide { role: value, .. }
            | Self::OwnWork { principal: value }
            | Self::NotHuman { role: value }
            | Self::MayNotCancel { role: value }
            | Self::NothingToOverride { guard: value, .. } => Some(value),
            Self::Empty { .. } => Some(""),
            Self::RunNotFound
            | Self::OutOfDate { .. }
            | Self::Cancelled
            | Self::KeyMisfit { .. }
            | Self::PayloadMisfits { .. }
            | Self::ContextMisfits { .. }
            | Self::ArtifactMisfits { .. }
            | Self::GuardFailed { .. }
            | Self::TooLarge { .. } => None,
        }
    }

    /// The misfits, each with its path.
    pub fn misfits(&self) -> &[SchemaMisfit] {
        match self {
            Self::KeyMisfit { misfit } => std::slice::from_ref(misfit),
            Self::PayloadMisfits { misfits }
            | Self::ContextMisfits { misfits, .. }
            | Self::ArtifactMisfits { misfits } => misfits,
            _ => &[],
        }
    }

    /// The guards that were evaluated and not satisfied.
    pub fn guards(&self) -> &[GuardResult] {
        match self {
            Self::GuardFailed { results } => results,
            _ => &[],
        }
    }

    /// What to do next.
    pub fn hint(&self) -> String {
        match self {
            Self::RunNotFound => "list the runs for their ids, or create one".to_owned(),
            Self::RunExists { .. } => "use it as it is, or create one under another id".to_owned(),
            Self::OutOfDate { .. } => "read the state again, and decide again".to_owned(),
            Self::OtherProcess { .. } => "a changed process serves new runs only; create one".to_owned(),
            Self::Finished { .. } | Self::Cancelled => "create another run to start again".to_owned(),
            Self::EventNotFound { nearest: Some(nearest), .. } => format!("did you mean '{nearest}'?"),
            Self::EventNotFound { known, .. } => format!("the events of this process: {}", join_names(known)),
            Self::NoTransition { states, .. } if states.is_empty() => "this event has no transition at all".to_owned(),
            Self::NoTransition { states, .. } => {
                format!("it can be emitted in {}; list the events for what can be emitted now", states.join(", "))
            }
            Self::RoleForbidden { allowed, .. } if allowed.is_empty() => "no role may emit it".to_owned(),
            Self::RoleForbidden { allowed, .. } => format!("roles that may: {}", allowed.join(", ")),
            Self::TransitionsForbidden { .. } => "let somebody of another role emit it".to_owned(),
            Self::MayNotDecide { .. } => "let somebody of a role that has it decide".to_owned(),
            Self::OwnWork { .. } => "let somebody else decide, who submitted nothing to this run".to_owned(),
            Self::NotHuman { .. } => "ask a person to do it".to_owned(),
            Self::MayNotCancel { .. } => "ask a person to do it, or finish the run".to_owned(),
            Self::KeyMisfit { .. } => "send a key of your own, a new one for each event".to_owned(),
            Self::PayloadMisfits { .. } => "change what is listed and send it again under a new key".to_owned(),
            Self::ContextMisfits { settable, .. } => {
                let settable = match settable.as_deref() {
                    None => "any variable that no guard reads may be set".to_owned(),
                    Some([]) => "creating a run of this process sets none".to_owned(),
                    Some(names) => format!("variables that may be set: {}", join_names(names)),
                };
                format!("change or leave out what is listed; {settable}")
            }
            Self::ArtifactMisfits { .. } => "mend what is listed: a file lies below the artifact folder and is named by \
                                             its path relative to it; content that is handed in, its type and its schema \
                                             fit what the process declares"
                .to_owned(),
            Self::GuardFailed { .. } => "provide what is missing, then emit the event again".to_owned(),
            Self::NothingToOverride { event, .. } => format!("emit '{event}' as it is"),
            Self::Empty { .. } => "send at least one character that is not a space".to_owned(),
            Self::TooLarge { .. } => "send less".to_owned(),
        }
    }
}

/// Names that one hint lists.
const LISTED_MAX: usize = 50;

fn join_names(names: &[String]) -> String {
    let more = if names.len() > LISTED_MAX { ", …" } else { "" };
    format!("{}{more}", names.iter().take(LISTED_MAX).map(String::as_str).collect::<Vec<_>>().join(", "))
}
