//! Context variables that guards read: whether anything ever sets them, beside what they begin with.

use super::Checker;
use crate::gate::finding::{Rule, join};
use crate::gate::guard::{ContextTest, Test};
use crate::gate::process::Setting;

pub(super) fn check(checker: &mut Checker<'_>) {
    let process = checker.process;
    for (name, guard) in &process.guards {
        for (below, guard) in guard.written() {
            let Test::Context { variable, test } = &guard.test else { continue };
            let is_set = process.creation_sets(variable) == Setting::Set
                || process.events.iter().any(|event| process.event_sets(event, variable) == Setting::Set);
            let is_there = process.initial_context.contains_key(variable);
            if !is_set && (is_there || *test != ContextTest::NotExists) {
                let path = format!("{}{below}/variable", join("/guards", name));
                let never = if is_there { "changes" } else { "sets" };
                let message = format!("nothing ever {never} the context variable {variable:?}, which this guard reads");
                let hint =
                    "name it in `sets` or in the payload_schema of the event that sets it, or in the process's `sets`";
                checker.report(Rule::VariableNeverSet, &path, message, hint);
            }
        }
    }
}
