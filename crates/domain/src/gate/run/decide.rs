//! Decides commands of a run into an event or a refusal. Checks run in this order: the run exists and is active, the
//! event exists, the role and the principal may emit it, the state has a transition, the submission fits, the guards
//! hold.
//!
//! Guarded transitions are tried first, in the order of the file, then those without a guard. If none can be taken, the
//! first with `on_guard_fail: record` stores what was submitted; otherwise the refusal lists every guard that failed.

use serde_json::Map;

use super::super::facts::Facts;
use super::super::finding::nearest;
use super::super::guard::GuardResult;
use super::super::process::{Decision, OVERRIDE_GUARD, OnGuardFail, Process, Transition, admits};
use super::command::{AGENT, Emit, Override, RunCommand};
use super::event::{Cancelled, Created, Emitted, Overridden, ProcessPin, RunEvent};
use super::refusal::RunRefusal;
use super::state::{RunState, RunStatus};
use super::submit;
use crate::decider::Given;
use crate::limits;

type Decided = Result<RunEvent, RunRefusal>;

pub(super) fn decide(state: &RunState, command: &RunCommand, given: &Given) -> Decided {
    match command {
        RunCommand::Create { id, process, role, context, campaign_id, folder } => {
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
                context: submit::initial_context(process, context)?,
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
            going_on(state)?;
            if let Some(reason) = reason {
                bounded("reason", reason)?;
            }
            Ok(RunEvent::Cancelled(Cancelled { role: role.clone(), reason: reason.clone() }))
        }
    }
}

fn decide_emit(state: &RunState, emit: &Emit, given: &Given) -> Decided {
    let Emit { process, role, event: name, payload, artifacts, unfit, facts, facts_of } = emit;
    going_on(state)?;
    up_to_date(state, *facts_of)?;
    pinned(state, process)?;
    let event = process.event(name).ok_or_else(|| not_found(process, name))?;
    if !admits(&event.allowed_roles, role) {
        let allowed = event.allowed_roles.clone();
        return Err(RunRefusal::RoleForbidden { event: name.clone(), role: role.clone(), allowed });
    }
    let decision = may_decide(state, process, name, role, (&given.by, facts))?;
    let transitions = transitions(state, process, name)?;
    if decision.is_some() {
        submit::nothing(name, artifacts)?;
    }
    let (evidence, artifacts) = submit::artifacts(state, process, artifacts, unfit)?;
    let facts = &facts.without(&artifacts);
    let set = submit::payload(state, process, event, payload)?;
    let scene = state.scene(process, &evidence, payload, facts);
    let Choice { taken, guards } = choose(&transitions, role, |guard| scene.evaluate(guard), name)?;
    let (to, guard, recorded) = match taken {
        Taken::Moved(transition) => (transition.to.clone(), transition.guard.clone(), false),
        Taken::Recorded => (state.state.clone(), None, true),
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
        stale: facts.stale_of(&evidence),
        campaign: facts.campaign.clone().filter(|_| process.asks_for_campaign()),
        decision: decision.is_some(),
    })))
}

enum Taken<'a> {
    Moved(&'a Transition),
    Recorded,
}

struct Choice<'a> {
    taken: Taken<'a>,
    guards: Vec<GuardResult>,
}

fn choose<'a>(
    transitions: &[&'a Transition],
    role: &str,
    evaluate: impl Fn(&str) -> GuardResult,
    event: &str,
) -> Result<Choice<'a>, RunRefusal> {
    let mut guards: Vec<GuardResult> = Vec::new();
    let mut is_recorded = false;
    for transition in transitions.iter().filter(|transition| may_take(transition, role)) {
        let Some(guard) = &transition.guard else { return Ok(Choice { taken: Taken::Moved(transition), guards }) };
        // A guard that was evaluated before was not satisfied, or its transition would have been taken.
        if !guards.iter().any(|result| result.guard == *guard) {
            guards.push(evaluate(guard));
        }
        if guards.last().is_some_and(|result| result.guard == *guard && result.satisfied) {
            return Ok(Choice { taken: Taken::Moved(transition), guards });
        }
        is_recorded |= transition.on_guard_fail == OnGuardFail::Record;
    }
    match guards.is_empty() {
        true => Err(RunRefusal::TransitionsForbidden { event: event.to_owned(), role: role.to_owned() }),
        false if is_recorded => Ok(Choice { taken: Taken::Recorded, guards }),
        false => Err(RunRefusal::GuardFailed { results: guards }),
    }
}

fn may_take(transition: &Transition, role: &str) -> bool {
    transition.allowed_roles.as_ref().is_none_or(|roles| admits(roles, role))
}

fn decide_override(state: &RunState, command: &Override, given: &Given) -> Decided {
    let Override { process, standing, event: name, to, reason, facts, facts_of } = command;
    going_on(state)?;
    up_to_date(state, *facts_of)?;
    pinned(state, process)?;
    let role = &standing.role;
    if !standing.is_human {
        return Err(RunRefusal::NotHuman { role: role.clone() });
    }
    if let Some(event) = process.event(OVERRIDE_GUARD)
        && !admits(&event.allowed_roles, role)
    {
        let allowed = event.allowed_roles.clone();
        return Err(RunRefusal::RoleForbidden { event: OVERRIDE_GUARD.to_owned(), role: role.clone(), allowed });
    }
    let event = process.event(name).ok_or_else(|| not_found(process, name))?;
    let decision = may_decide(state, process, name, role, (&given.by, facts))?;
    // A person may override without the role of the agent that does the work, but a decision needs a role that may emit
    // it.
    if decision.is_some() && !admits(&event.allowed_roles, role) {
        let allowed = event.allowed_roles.clone();
        return Err(RunRefusal::RoleForbidden { event: name.clone(), role: role.clone(), allowed });
    }
    bounded("reason", reason)?;
    let mut transitions = transitions(state, process, name)?;
    if decision.is_some() {
        transitions.retain(|transition| may_take(transition, role));
        if transitions.is_empty() {
            return Err(RunRefusal::TransitionsForbidden { event: name.clone(), role: role.clone() });
        }
    }
    let leads = |transition: &&&Transition| to.as_ref().is_none_or(|to| *to == transition.to);
    let found = transitions.iter().filter(leads).find_map(|transition| Some((*transition, transition.guard.clone()?)));
    let Some((transition, guard)) = found else { return Err(no_transition(state, process, name)) };
    let payload = Map::new();
    let result = state.scene(process, &state.evidence, &payload, facts).evaluate(&guard);
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
        stale: facts.stale_of(&state.evidence),
        campaign: facts.campaign.clone().filter(|_| process.asks_for_campaign()),
        decision: decision.is_some(),
        is_final: process.is_final(&transition.to),
    })))
}

fn going_on(state: &RunState) -> Result<(), RunRefusal> {
    match (state.run(), state.status) {
        (None, _) => Err(RunRefusal::RunNotFound),
        (Some(_), RunStatus::Active) => Ok(()),
        (Some(_), RunStatus::Finished) => Err(RunRefusal::Finished { state: state.state.clone() }),
        (Some(_), RunStatus::Cancelled) => Err(RunRefusal::Cancelled),
    }
}

/// Refuses facts that were looked up for another revision: they may lack evidence that matters now.
fn up_to_date(state: &RunState, facts_of: u64) -> Result<(), RunRefusal> {
    if state.revision == facts_of {
        return Ok(());
    }
    Err(RunRefusal::OutOfDate { facts_of, revision: state.revision })
}

fn pinned(state: &RunState, process: &Process) -> Result<(), RunRefusal> {
    let expected = state.run().map_or("", |run| run.process.hash.as_str());
    if expected == process.hash {
        return Ok(());
    }
    Err(RunRefusal::OtherProcess { expected: expected.to_owned(), given: process.hash.clone() })
}

fn not_found(process: &Process, event: &str) -> RunRefusal {
    let known: Vec<String> = process.events.iter().map(|event| event.name.clone()).collect();
    let nearest = nearest(event, known.iter().map(String::as_str)).map(str::to_owned);
    RunRefusal::EventNotFound { event: event.to_owned(), nearest, known }
}

fn no_transition(state: &RunState, process: &Process, event: &str) -> RunRefusal {
    let states = process.states_of_event(event).into_iter().map(str::to_owned).collect();
    RunRefusal::NoTransition { event: event.to_owned(), state: state.state.clone(), states }
}

/// The transitions of an event out of the current state, in the order in which they are tried; at least one.
fn transitions<'a>(state: &'a RunState, process: &'a Process, event: &str) -> Result<Vec<&'a Transition>, RunRefusal> {
    let found: Vec<&Transition> =
        process.transitions_from(&state.state).filter(|transition| transition.event == event).collect();
    if found.is_empty() { Err(no_transition(state, process, event)) } else { Ok(found) }
}

/// Checks whether this principal may take the decision that an event stands for; `None` for other events. Nobody
/// decides on their own work, even if they submitted it with another token.
pub(in crate::gate) fn may_decide(
    state: &RunState,
    process: &Process,
    event: &str,
    role: &str,
    (principal, facts): (&str, &Facts),
) -> Result<Option<Decision>, RunRefusal> {
    let Some(decision) = Decision::of(event) else { return Ok(None) };
    if !process.may_decide(role, decision) {
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

fn bounded(field: &'static str, text: &str) -> Result<(), RunRefusal> {
    if text.trim().is_empty() {
        return Err(RunRefusal::Empty { field });
    }
    submit::within(field, "a reason", "characters", text.chars().count(), limits::TEXT_CHARS_MAX)
}
