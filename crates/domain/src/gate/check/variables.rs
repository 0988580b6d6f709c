//! Checks that something sets the context variables that guards read, besides the initial context. A CEL expression may
//! also read an initial value that nothing changes.

use super::Checker;
use crate::gate::finding::{Rule, join_pointer};
use crate::gate::guard::{ContextTest, Test};
use crate::gate::process::{ReadVariables, Setting};

pub(super) fn check(checker: &mut Checker<'_>) {
    let process = checker.process;
    let is_set = |variable: &str| {
        process.from_campaign.contains_key(variable)
            || process.creation_setting(variable) == Setting::Set
            || process.events.iter().any(|event| process.event_setting(event, variable) == Setting::Set)
    };
    let hint = "name it in `sets` or in the payload_schema of the event that sets it, or in the process's `sets`";
    for (name, guard) in &process.guards {
        for (below, guard) in guard.inline_guards() {
            let path = format!("{}{below}", join_pointer("/guards", name));
            match &guard.test {
                Test::Context { variable, test } => {
                    let is_there = process.initial_context.contains_key(variable);
                    if !is_set(variable) && (is_there || *test != ContextTest::NotExists) {
                        let never = if is_there { "changes" } else { "sets" };
                        let message =
                            format!("nothing ever {never} the context variable {variable:?}, which this guard reads");
                        checker.report(Rule::VariableNeverSet, &format!("{path}/variable"), message, hint);
                    }
                }
                Test::Cel(_) => {
                    let mut reads = ReadVariables::default();
                    guard.collect_reads(&mut reads);
                    // An expression may compare with an initial value that is the same for every run.
                    let is_known = |variable: &str| process.initial_context.contains_key(variable) || is_set(variable);
                    for variable in reads.variables.iter().filter(|variable| !is_known(variable)) {
                        let message =
                            format!("nothing ever sets the context variable {variable:?}, which this expression reads");
                        checker.report(Rule::VariableNeverSet, &format!("{path}/expression"), message, hint);
                    }
                }
                _ => {}
            }
        }
    }
}
