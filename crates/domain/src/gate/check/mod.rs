//! Checks a process for consistency: names resolve, states can be reached and left, guards, events and roles are used.
//! A process with errors is rejected; warnings mark what the author probably did not mean.

mod graph;
mod guards;
mod launcher_programs;
mod names;
mod prompts;
mod roles;
#[cfg(test)]
mod tests;
mod tool_patterns;
mod variables;

use super::finding::{FINDINGS_MAX, Finding, Rule};
use super::process::Process;
use super::yaml::Node;

/// Checks a process whose form has no errors.
pub(super) fn check(process: &Process, node: &Node) -> Vec<Finding> {
    let mut checker = Checker { process, node, findings: Vec::new() };
    names::check(&mut checker);
    guards::check(&mut checker);
    roles::check(&mut checker);
    variables::check(&mut checker);
    tool_patterns::check(&mut checker);
    // With names that do not resolve, findings about the graph would be wrong.
    if !checker.findings.iter().any(Finding::is_error) {
        graph::check(&mut checker);
        prompts::check(&mut checker);
    }
    checker.findings
}

struct Checker<'a> {
    process: &'a Process,
    node: &'a Node,
    findings: Vec<Finding>,
}

impl Checker<'_> {
    /// Whether the limit of findings is reached. Then the slow search for similar names is skipped.
    fn is_full(&self) -> bool {
        self.findings.len() >= FINDINGS_MAX
    }

    fn report(&mut self, rule: Rule, path: &str, message: impl Into<String>, hint: impl Into<String>) {
        let place = self.node.place_of(path);
        self.findings.push(Finding::new(rule, path, place, message, hint));
    }
}
