//! Checks the roles of a process: they exist, agree with the events, and let somebody emit each event.

use super::Checker;
use crate::gate::finding::{Rule, join_pointer, suggest_word};
use crate::gate::process::{Decision, EVERYBODY, EventKind, OVERRIDE_GUARD, Process, Transition, is_role_allowed};

/// Roles that one finding names.
const ROLES_LISTED_MAX: usize = 20;

pub(super) fn check(checker: &mut Checker<'_>) {
    let process = checker.process;
    for (index, event) in process.events.iter().enumerate() {
        check_role_list(checker, &format!("/events/{index}/allowed_roles"), &event.allowed_roles);
    }
    for (index, transition) in process.transitions.iter().enumerate() {
        if let Some(roles) = &transition.allowed_roles {
            check_role_list(checker, &format!("/transitions/{index}/allowed_roles"), roles);
        }
    }
    check_events(checker);
    check_allowed_events(checker);
}

fn check_role_list(checker: &mut Checker<'_>, path: &str, roles: &[String]) {
    let known: Vec<&str> = checker.process.roles.iter().map(|role| role.name.as_str()).collect();
    for (index, role) in roles.iter().enumerate() {
        if role == EVERYBODY && roles.len() > 1 {
            let message = "\"*\" stands for every role, and is here beside others";
            checker.report(
                Rule::InvalidWildcardRole,
                &join_pointer(path, index),
                message,
                "name the roles, or \"*\" alone",
            );
        } else if role != EVERYBODY && !known.contains(&role.as_str()) && !checker.is_full() {
            let message = format!("there is no role {role:?}");
            checker.report(Rule::InvalidRoleReference, &join_pointer(path, index), message, suggest_word(role, &known));
        }
    }
}

/// Whether a role may emit an event by a transition.
fn can_emit(process: &Process, event: &EventKind, transition: &Transition, role: &str) -> bool {
    is_role_allowed(&event.allowed_roles, role)
        && transition.allowed_roles.as_ref().is_none_or(|roles| is_role_allowed(roles, role))
        && Decision::from_event(&event.name).is_none_or(|decision| process.can_decide(role, decision))
}

fn check_events(checker: &mut Checker<'_>) {
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
            transitions.iter().any(|transition| roles.iter().any(|role| can_emit(process, event, transition, role)));
        if !somebody {
            let message = format!("nobody may emit {:?}", event.name);
            let hint = match Decision::from_event(&event.name) {
                Some(decision) => decision_hint(process, event, decision),
                None => "name roles in allowed_roles that its transitions allow too; [] means nobody".to_owned(),
            };
            checker.report(Rule::NobodyMayEmit, &path, message, hint);
        }
    }
}

/// The hint for a decision that no role may take: which role needs the flag.
fn decision_hint(process: &Process, event: &EventKind, decision: Decision) -> String {
    let flag = decision.flag();
    let named =
        process.roles.iter().map(|role| role.name.as_str()).filter(|role| is_role_allowed(&event.allowed_roles, role));
    let named: Vec<&str> = named.take(ROLES_LISTED_MAX).collect();
    if named.iter().any(|role| process.can_decide(role, decision)) {
        return format!("let one of its transitions allow a role that has {flag}");
    }
    match &named[..] {
        [] => format!("name in allowed_roles a role that has {flag}: true"),
        named => format!("write {flag}: true on a role that decides: {}", named.join(", ")),
    }
}

/// Checks that `roles[].allowed_events` agrees with the events. It is only for readers: the event's `allowed_roles`
/// decide.
fn check_allowed_events(checker: &mut Checker<'_>) {
    let process = checker.process;
    for (index, role) in process.roles.iter().enumerate() {
        for (place, name) in role.allowed_events.iter().enumerate() {
            let Some(event) = process.event(name) else { continue };
            if !is_role_allowed(&event.allowed_roles, &role.name) {
                let path = format!("/roles/{index}/allowed_events/{place}");
                let message = format!("role {:?} lists {name:?}, whose allowed_roles leave it out", role.name);
                checker.report(Rule::RoleDisagrees, &path, message, "the event decides; make them agree");
            }
        }
    }
}
