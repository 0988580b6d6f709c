//! Decides commands of a run into an event or a refusal. Checks run in this order: the run exists and is active, the
//! event exists, the role and the principal may emit it, the state has a transition, the submission fits, the guards
//! hold.
//!
//! Guarded transitions are tried first, in the order of the file, then those without a guard. If none can be taken, the
//! first with `on_guard_fail: record` stores what was submitted; otherwise the refusal lists every guard that failed.

use serde_json::{Map, Value};

use super::super::facts::Facts;
use super::super::finding::nearest_word;
use super::super::guard::GuardResult;
use super::super::process::{Decision, OVERRIDE_GUARD, OnGuardFail, Process, Transition, is_role_allowed};
use super::check_submission;
use super::command::{AGENT, Emit, Override, RunCommand};
use super::event::{Cancelled, Created, Emitted, Overridden, ProcessPin, RunEvent};
use super::refusal::RunRefusal;
use super::state::{RunState, RunStatus};
use crate::decider::DecisionContext;
use crate::limits;

type Decided = Result<RunEvent, RunRefusal>;

pub(super) fn decide(state: &RunState, command: &RunCommand, given: &DecisionContext) -> Decided {
    match command {
        RunCommand::Create { id, process, role, context, campaign_id, campaign_numbers, folder } => {
            if let Some(run) = state.run() {
                return Err(RunRefusal::RunExists { run_id: run.id.clone() });
            }
            Ok(RunEvent::Created(Box::new(Created {
                run_id: id.clone(),
                process: ProcessPin {
                    id: process.id.clone(),
                    version: process.version.clone(),
                    hash: process.hash.clone(),
                },
                role: role.clone(),
                state: process.initial_state.clone(),
                context: check_submission::build_initial_context(process, context, *campaign_numbers)?,
                campaign_id: campaign_id.clone(),
                folder: folder.clone(),
                is_final: process.is_final(&process.initial_state),
            })))
        }
        RunCommand::Emit(emit) => decide_emit(state, emit, given),
        RunCommand::Override(override_) => decide_override(state, override_, given),
        RunCommand::Cancel { role, reason } => {
            if role == AGENT {
                return Err(RunRefusal::MayNotCancel { role: role.clone() });
            }
            check_active(state)?;
            if let Some(reason) = reason {
                check_reason("reason", reason)?;
            }
            Ok(RunEvent::Cancelled(Cancelled { role: role.clone(), reason: reason.clone() }))
        }
    }
}

fn decide_emit(state: &RunState, emit: &Emit, given: &DecisionContext) -> Decided {
    let Emit { process, role, event: name, payload, artifacts, unfit, facts, facts_of } = emit;
    check_active(state)?;
    check_facts_revision(state, *facts_of)?;
    check_pinned_process(state, process)?;
    let event = process.event(name).ok_or_else(|| event_not_found(process, name))?;
    if !is_role_allowed(&event.allowed_roles, role) {
        let allowed = event.allowed_roles.clone();
        return Err(RunRefusal::RoleForbidden { event: name.clone(), role: role.clone(), allowed });
    }
    let decision = check_decision(state, process, name, role, (&given.by, facts))?;
    let transitions = event_transitions(state, process, name)?;
    if decision.is_some() {
        check_submission::check_no_artifacts(name, artifacts)?;
    }
    let (evidence, artifacts) = check_submission::check_artifacts(state, process, artifacts, unfit)?;
    let facts = &facts.without_resubmitted(&artifacts);
    let set = check_submission::check_payload(state, process, event, payload, facts)?;
    let inputs = state.guard_inputs(process, &evidence, payload, facts);
    let Choice { outcome, guards } = choose_transition(&transitions, role, |guard| inputs.evaluate(guard), name)?;
    let (to, guard, recorded) = match outcome {
        TransitionOutcome::Moved(transition) => (transition.to.clone(), transition.guard.clone(), false),
        TransitionOutcome::Recorded => (state.state.clone(), None, true),
    };
    Ok(RunEvent::Emitted(Box::new(Emitted {
        event: name.clone(),
        role: role.clone(),
        from: state.state.clone(),
        is_final: process.is_final(&to),
        to,
        guard,
        recorded,
        payload: payload.clone(),
        set,
        artifacts,
        guards,
        stale: facts.stale_paths(&evidence),
        campaign: facts.campaign.clone().filter(|_| process.reads_campaign()),
        campaign_numbers: changed_numbers(state, facts),
        decision: decision.is_some(),
    })))
}

/// The numbers of the campaign that differ from the context. The others were stored by an earlier event.
fn changed_numbers(state: &RunState, facts: &Facts) -> Map<String, Value> {
    let changed = facts.campaign_numbers.iter().filter(|(name, value)| state.context.get(*name) != Some(*value));
    changed.map(|(name, value)| (name.clone(), value.clone())).collect()
}

enum TransitionOutcome<'a> {
    Moved(&'a Transition),
    Recorded,
}

struct Choice<'a> {
    outcome: TransitionOutcome<'a>,
    guards: Vec<GuardResult>,
}

fn choose_transition<'a>(
    transitions: &[&'a Transition],
    role: &str,
    evaluate: impl Fn(&str) -> GuardResult,
    event: &str,
) -> Result<Choice<'a>, RunRefusal> {
    let mut guards: Vec<GuardResult> = Vec::new();
    let mut is_recorded = false;
    for transition in transitions.iter().filter(|transition| can_take(transition, role)) {
        let Some(guard) = &transition.guard else {
            return Ok(Choice { outcome: TransitionOutcome::Moved(transition), guards });
        };
        // A guard that was evaluated before was not satisfied, or its transition would have been taken.
        if !guards.iter().any(|result| result.guard == *guard) {
            guards.push(evaluate(guard));
        }
        if guards.last().is_some_and(|result| result.guard == *guard && result.satisfied) {
            return Ok(Choice { outcome: TransitionOutcome::Moved(transition), guards });
        }
        is_recorded |= transition.on_guard_fail == OnGuardFail::Record;
    }
    match guards.is_empty() {
        true => Err(RunRefusal::TransitionsForbidden { event: event.to_owned(), role: role.to_owned() }),
        false if is_recorded => Ok(Choice { outcome: TransitionOutcome::Recorded, guards }),
        false => Err(RunRefusal::GuardFailed { results: guards }),
    }
}

fn can_take(transition: &Transition, role: &str) -> bool {
    transition.allowed_roles.as_ref().is_none_or(|roles| is_role_allowed(roles, role))
}

fn decide_override(state: &RunState, command: &Override, given: &DecisionContext) -> Decided {
    let Override { process, acting_role, event: name, to, reason, facts, facts_of } = command;
    check_active(state)?;
    check_facts_revision(state, *facts_of)?;
    check_pinned_process(state, process)?;
    let role = &acting_role.role;
    if !acting_role.is_human {
        return Err(RunRefusal::NotHuman { role: role.clone() });
    }
    if let Some(event) = process.event(OVERRIDE_GUARD)
        && !is_role_allowed(&event.allowed_roles, role)
    {
        let allowed = event.allowed_roles.clone();
        return Err(RunRefusal::RoleForbidden { event: OVERRIDE_GUARD.to_owned(), role: role.clone(), allowed });
    }
    let event = process.event(name).ok_or_else(|| event_not_found(process, name))?;
    let decision = check_decision(state, process, name, role, (&given.by, facts))?;
    // A person may override without the role of the agent that does the work, but a decision needs a role that may emit
    // it.
    if decision.is_some() && !is_role_allowed(&event.allowed_roles, role) {
        let allowed = event.allowed_roles.clone();
        return Err(RunRefusal::RoleForbidden { event: name.clone(), role: role.clone(), allowed });
    }
    check_reason("reason", reason)?;
    let mut transitions = event_transitions(state, process, name)?;
    if decision.is_some() {
        transitions.retain(|transition| can_take(transition, role));
        if transitions.is_empty() {
            return Err(RunRefusal::TransitionsForbidden { event: name.clone(), role: role.clone() });
        }
    }
    let leads = |transition: &&&Transition| to.as_ref().is_none_or(|to| *to == transition.to);
    let found = transitions.iter().filter(leads).find_map(|transition| Some((*transition, transition.guard.clone()?)));
    let Some((transition, guard)) = found else { return Err(no_transition(state, process, name)) };
    let payload = Map::new();
    let result = state.guard_inputs(process, &state.evidence, &payload, facts).evaluate(&guard);
    if result.satisfied {
        return Err(RunRefusal::NothingToOverride { guard, event: name.clone() });
    }
    Ok(RunEvent::Overridden(Box::new(Overridden {
        event: name.clone(),
        role: role.clone(),
        from: state.state.clone(),
        to: transition.to.clone(),
        guard,
        reason: reason.trim().to_owned(),
        guards: vec![result],
        stale: facts.stale_paths(&state.evidence),
        campaign: facts.campaign.clone().filter(|_| process.reads_campaign()),
        campaign_numbers: changed_numbers(state, facts),
        decision: decision.is_some(),
        is_final: process.is_final(&transition.to),
    })))
}

fn check_active(state: &RunState) -> Result<(), RunRefusal> {
    match (state.run(), state.status) {
        (None, _) => Err(RunRefusal::RunNotFound),
        (Some(_), RunStatus::Active) => Ok(()),
        (Some(_), RunStatus::Finished) => Err(RunRefusal::Finished { state: state.state.clone() }),
        (Some(_), RunStatus::Cancelled) => Err(RunRefusal::Cancelled),
    }
}

/// Refuses facts that were looked up for another revision: they may lack evidence that matters now.
fn check_facts_revision(state: &RunState, facts_of: u64) -> Result<(), RunRefusal> {
    if state.revision == facts_of {
        return Ok(());
    }
    Err(RunRefusal::OutOfDate { facts_of, revision: state.revision })
}

fn check_pinned_process(state: &RunState, process: &Process) -> Result<(), RunRefusal> {
    let expected = state.run().map_or("", |run| run.process.hash.as_str());
    if expected == process.hash {
        return Ok(());
    }
    Err(RunRefusal::OtherProcess { expected: expected.to_owned(), given: process.hash.clone() })
}

fn event_not_found(process: &Process, event: &str) -> RunRefusal {
    let known: Vec<String> = process.events.iter().map(|event| event.name.clone()).collect();
    let nearest = nearest_word(event, known.iter().map(String::as_str)).map(str::to_owned);
    RunRefusal::EventNotFound { event: event.to_owned(), nearest, known }
}

fn no_transition(state: &RunState, process: &Process, event: &str) -> RunRefusal {
    let states = process.states_of_event(event).into_iter().map(str::to_owned).collect();
    RunRefusal::NoTransition { event: event.to_owned(), state: state.state.clone(), states }
}

/// The transitions of an event out of the current state, in the order in which they are tried; at least one.
fn event_transitions<'a>(
    state: &'a RunState,
    process: &'a Process,
    event: &str,
) -> Result<Vec<&'a Transition>, RunRefusal> {
    let found: Vec<&Transition> =
        process.transitions_from(&state.state).filter(|transition| transition.event == event).collect();
    if found.is_empty() { Err(no_transition(state, process, event)) } else { Ok(found) }
}

/// Checks whether this principal may take the decision that an event stands for; `None` for other events. Nobody
/// decides on their own work, even if they submitted it with another token.
pub(in crate::gate) fn check_decision(
    state: &RunState,
    process: &Process,
    event: &str,
    role: &str,
    (principal, facts): (&str, &Facts),
) -> Result<Option<Decision>, RunRefusal> {
    let Some(decision) = Decision::from_event(event) else { return Ok(None) };
    if !process.can_decide(role, decision) {
        return Err(RunRefusal::MayNotDecide { role: role.to_owned(), decision });
    }
    if state.has_submitted(principal) {
        return Err(RunRefusal::OwnWork { principal: principal.to_owned() });
    }
    if let Some(submitter) = facts.same_person.iter().find(|other| state.has_submitted(other)) {
        return Err(RunRefusal::OwnWork { principal: format!("{principal} (also {submitter})") });
    }
    Ok(Some(decision))
}

fn check_reason(field: &'static str, text: &str) -> Result<(), RunRefusal> {
    if text.trim().is_empty() {
        return Err(RunRefusal::Empty { field });
    }
    check_submission::check_limit(field, "a reason", "characters", text.chars().count(), limits::TEXT_CHARS_MAX)
}
