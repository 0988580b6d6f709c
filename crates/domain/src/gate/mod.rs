//! The gate: a process that an agent cannot talk its way around.
//!
//! A [`Process`] is read from a file and checked by [`load`]; a run goes through it by [`RunRules`], and a [`Look`] says
//! what may happen next. What the rules need of the world is handed in: hashes of files, facts of a campaign, and as whom
//! somebody acts. Evidence is content, not a name; context that a guard reads is set only by what the process names; who
//! submitted decides nothing; and what was let through says in its event which guard let it.

mod check;
mod effort;
mod evidence;
mod facts;
mod finding;
mod guard;
mod process;
#[cfg(test)]
mod properties;
mod run;
mod schema;
#[cfg(test)]
mod tests;
mod view;
mod yaml;

pub use evidence::{Artifact, Evidence, name_matches, plain_path};
pub use facts::Facts;
pub use finding::{Finding, Place, Rule, Severity};
pub use guard::{Comparison, ContextTest, Counter, Expression, Guard, GuardResult, Part, Scene, Test};
pub use process::{
    APPROVE, ArtifactKind, Decision, EVERYBODY, EventKind, Loaded, Locale, OVERRIDE_GUARD, OnGuardFail, Permission,
    Process, REJECT, Role, Setting, State, ToolPermissions, Transition, load,
};
pub use run::{
    AGENT, Cancelled, Created, Emit, Emitted, Overridden, Override, ProcessPin, RefusalKind, Run, RunCommand, RunEvent,
    RunRefusal, RunRules, RunState, RunStatus, Standing, Submitted,
};
pub use schema::{Misfit, Schema};
pub use view::{
    AllowedEvent, EventView, GuardStatus, Look, MissingGuard, Plan, Presence, Progress, RequiredArtifact, Step,
    TransitionView,
};
