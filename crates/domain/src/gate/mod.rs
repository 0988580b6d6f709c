//! Rules of the gate: processes, their runs, and the guards between states.
//!
//! A [`Process`] is read from a file and checked by [`load`]; [`RunRules`] decide the commands of a run, and a [`Look`]
//! shows what may happen next. File hashes, facts of a campaign and the acting role are passed in. Evidence is
//! identified by its content, not its name; a context variable that a guard reads can be set only where the process
//! declares it; a principal that submitted evidence may not decide on it; and every accepted event records the guard
//! that let it through.

mod campaign_numbers;
mod check;
mod content_measure;
mod evidence;
mod facts;
mod finding;
mod guard;
mod json_schema;
mod process;
#[cfg(test)]
mod property_tests;
mod run;
mod schema_cost;
#[cfg(test)]
mod tests;
mod view;
mod yaml;

pub use campaign_numbers::{CampaignNumber, CampaignNumbers};
pub use content_measure::ContentMeasure;
pub use evidence::{Artifact, Evidence, name_matches, normalize_artifact_path};
pub use facts::Facts;
pub use finding::{Finding, Rule, Severity, SourcePosition};
pub use guard::{
    CelExpression, ContentRequirement, ContextTest, Counter, Guard, GuardComparison, GuardInputs, GuardPart,
    GuardResult, Test,
};
pub use json_schema::{Schema, SchemaMisfit};
pub use process::{
    APPROVE, ArtifactKind, Decision, EVERYBODY, EventKind, LoadedProcess, Locale, OVERRIDE_GUARD, OnGuardFail,
    Permission, Process, REJECT, Role, Setting, State, ToolPermissions, Transition, load,
};
pub use run::{
    AGENT, ActingRole, Cancelled, Created, Emit, Emitted, Overridden, Override, ProcessPin, Run, RunCommand, RunEvent,
    RunRefusal, RunRefusalKind, RunRules, RunState, RunStatus, SubmittedArtifact,
};
pub use view::{
    AllowedEvent, ArtifactStatus, EventView, GuardStatus, MissingGuard, Plan, Progress, RequiredArtifact, RunView,
    Step, TransitionView,
};
