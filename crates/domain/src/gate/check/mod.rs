//! Checks a process for consistency: names resolve, states can be reached and left, guards, events and roles are used.
//! A process with errors is rejected; warnings mark what hardly does what was meant.

mod graph;
mod guards;
mod names;
mod prompts;
mod roles;
#[cfg(test)]
mod tests;
mod tool_patterns;
mod variables;
mod wide_programs;

use super::finding::{FINDINGS_MAX, Finding, Rule};
use super::process::Process;
use super::yaml::Node;

/// All that is wrong with a process whose form is right.
pub(super) fn check(process: &Process, node: &Node) -> Vec<Finding> {
    let mut checker = Checker { process, node, findings: Vec::new() };
    names::check(&mut checker);
    guards::check(&mut checker);
    roles::check(&mut checker);
    variables::check(&mut checker);
    tool_patterns::check(&mut checker);
    // Of a graph whose edges lead nowhere, nothing true can be said.
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
    /// Whether more was found than is told; then what was meant is no longer looked for, which takes long.
    fn is_full(&self) -> bool {
        self.findings.len() >= FINDINGS_MAX
    }

    fn report(&mut self, rule: Rule, path: &str, message: impl Into<String>, hint: impl Into<String>) {
        let place = self.node.place_of(path);
        self.findings.push(Finding::new(rule, path, place, message, hint));
    }
}
