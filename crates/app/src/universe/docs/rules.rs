//! Documentation page of refusals, rendered from the failures that the rules can return.

use std::collections::BTreeSet;
use std::fmt::Write;

use skald_domain::universe::{Command, outcome};

use super::commands::{format_failure, reason_name};
use crate::limits;

pub(super) fn render_page() -> String {
    let mut page = include_str!("rules.md").to_owned();
    page.push_str("\n## Failures by command\n\n| command | fails with |\n|---|---|\n");
    let outcomes = || Command::NAMES.iter().filter_map(|name| Some((name, outcome(name)?)));
    for (name, outcome) in outcomes() {
        let failures: Vec<String> = outcome.failures.iter().map(format_failure).collect();
        let _ = writeln!(page, "| `{name}` | {} |", failures.join(", "));
    }
    page.push_str("\n## Reasons\n\n| reason | what to do |\n|---|---|\n");
    let failures = outcomes().flat_map(|(_, outcome)| outcome.failures);
    let reasons: BTreeSet<_> = failures.flat_map(|entry| entry.reasons).copied().collect();
    for reason in reasons {
        let _ = writeln!(page, "| `{}` | {} |", reason_name(reason), reason.hint());
    }
    page.push_str("\n## Limits\n\n| what | at most |\n|---|---|\n");
    for limit in limits::ALL.iter().filter(|limit| limit.what.contains("universe")) {
        let _ = writeln!(page, "| {} | {} {} |", limit.what, limit.value, limit.unit);
    }
    page
}
