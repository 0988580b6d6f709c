//! Checks the roles of a process: they exist, agree with the events, and let somebody emit each event.

use super::Checker;
use crate::gate::finding::{Rule, instead, join};
use crate::gate::process::{Decision, EVERYBODY, EventKind, OVERRIDE_GUARD, Process, Transition, admits};

/// Roles that one finding names.
const ROLES_TOLD_MAX: usize = 20;

pub(super) fn check(checker: &mut Checker<'_>) {
    let process = checker.process;
    for (index, event) in process.events.iter().enumerate() {
        lists(checker, &format!("/events/{index}/allowed_roles"), &event.allowed_roles);
    }
    for (index, transition) in process.transitions.iter().enumerate() {
        if let Some(roles) = &transition.allowed_roles {
            lists(checker, &format!("/transitions/{index}/allowed_roles"), roles);
        }
    }
    events(checker);
    agreement(checker);
}

fn lists(checker: &mut Checker<'_>, path: &str, roles: &[String]) {
    let known: Vec<&str> = checker.process.roles.iter().map(|role| role.name.as_str()).collect();
    for (index, role) in roles.iter().enumerate() {
        if role == EVERYBODY && roles.len() > 1 {
            let message = "\"*\" stands for every role, and is here beside others";
            checker.report(Rule::InvalidWildcardRole, &join(path, index), message, "name the roles, or \"*\" alone");
        } else if role != EVERYBODY && !known.contains(&role.as_str()) && !checker.is_full() {
            let message = format!("there is no role {role:?}");
            checker.report(Rule::InvalidRoleReference, &join(path, index), message, instead(role, &known));
        }
    }
}

/// Whether a role may emit an event by a transition.
fn may(process: &Process, event: &EventKind, transition: &Transition, role: &str) -> bool {
    admits(&event.allowed_roles, role)
        && transition.allowed_roles.as_ref().is_none_or(|roles| admits(roles, role))
        && Decision::of(&event.name).is_none_or(|decision| process.may_decide(role, decision))
}

fn events(checker: &mut Checker<'_>) {
    let process = checker.process;
    // "*" also admits roles that the process does not name.
    let mut roles: Vec<&str> = process.roles.iter().map(|role| role.name.as_str()).collect();
    roles.push(EVERYBODY);
    for (index, event) in process.events.iter().enumerate() {
        let path = format!("/events/{index}/name");
        let transitions: Vec<&Transition> =
            process.transitions.iter().filter(|transition| transition.event == event.name).collect();
        if event.name == OVERRIDE_GUARD {
            continue;
        }
        if transitions.is_empty() {
            let message = format!("no transition has the event {:?}", event.name);
            checker.report(Rule::UnusedEvent, &path, message, "write a transition for it, or remove it");
            continue;
        }
        let somebody =
            transitions.iter().any(|transition| roles.iter().any(|role| may(process, event, transition, role)));
        if !somebody {
            let message = format!("nobody may emit {:?}", event.name);
            let hint = match Decision::of(&event.name) {
                Some(decision) => deciders(process, event, decision),
                None => "name roles in allowed_roles that its transitions allow too; [] means nobody".to_owned(),
            };
            checker.report(Rule::NobodyMayEmit, &path, message, hint);
        }
    }
}

/// The hint for a decision that no role may take: which role needs the flag.
fn deciders(process: &Process, event: &EventKind, decision: Decision) -> String {
    let flag = decision.flag();
    let named = process.roles.iter().map(|role| role.name.as_str()).filter(|role| admits(&event.allowed_roles, role));
    let named: Vec<&str> = named.take(ROLES_TOLD_MAX).collect();
    if named.iter().any(|role| process.may_decide(role, decision)) {
        return format!("let one of its transitions allow a role that has {flag}");
    }
    match &named[..] {
        [] => format!("name in allowed_roles a role that has {flag}: true"),
        named => format!("write {flag}: true on a role that decides: {}", named.join(", ")),
    }
}

/// Checks that `roles[].allowed_events` agrees with the events. It is only for readers: the event's `allowed_roles`
/// decide.
fn agreement(checker: &mut Checker<'_>) {
    let process = checker.process;
    for (index, role) in process.roles.iter().enumerate() {
        for (place, name) in role.allowed_events.iter().enumerate() {
            let Some(event) = process.event(name) else { continue };
            if !admits(&event.allowed_roles, &role.name) {
                let path = format!("/roles/{index}/allowed_events/{place}");
                let message = format!("role {:?} lists {name:?}, whose allowed_roles leave it out", role.name);
                checker.report(Rule::RoleDisagrees, &path, message, "the event decides; make them agree");
            }
        }
    }
}
