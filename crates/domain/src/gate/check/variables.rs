//! Context variables that guards read: whether anything ever sets them.

use super::Checker;
use crate::gate::finding::{Rule, join};
use crate::gate::guard::{ContextTest, Test};
use crate::gate::process::Setting;

pub(super) fn check(checker: &mut Checker<'_>) {
    let process = checker.process;
    for (name, guard) in &process.guards {
        for (below, guard) in guard.written() {
            let Test::Context { variable, test } = &guard.test else { continue };
            let is_set = process.initial_context.contains_key(variable)
                || process.creation_sets(variable) == Setting::Set
                || process.events.iter().any(|event| process.event_sets(event, variable) == Setting::Set);
            if !is_set && *test != ContextTest::NotExists {
                let path = format!("{}{below}/variable", join("/guards", name));
                let message = format!("nothing ever sets the context variable {variable:?}, which this guard reads");
                let hint =
                    "name it in `sets` or in the payload_schema of the event that sets it, or in initial_context";
                checker.report(Rule::VariableNeverSet, &path, message, hint);
            }
        }
    }
}
