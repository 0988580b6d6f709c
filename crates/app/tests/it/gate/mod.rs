//! Tests of the gate through the engine: runs, events, submitted evidence and permissions.

mod campaign;
mod emit_event;
mod folder;
mod listing;
mod permissions;
mod quotas;
mod races;
mod refusals;
mod sealed;
mod substance;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use skald_app::{
    App, Caller, CampaignRole, Clock, Conversation, Entropy, Fault, Holder, LocalEngine, Principal, PrincipalKind,
};
use skald_journal::Journal;

pub(crate) use crate::universe::{call, call_as_owner, run};

/// A clock that advances by one millisecond on every call.
struct TickingClock(AtomicI64);

impl Default for TickingClock {
    fn default() -> Self {
        Self(AtomicI64::new(1_768_478_400_000))
    }
}

impl Clock for TickingClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_millisecond(self.0.fetch_add(1, Ordering::Relaxed)).expect("a moment")
    }
}

/// Entropy that differs on every call.
#[derive(Default)]
struct CountingEntropy(AtomicI64);

impl Entropy for CountingEntropy {
    fn bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.0.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        bytes
    }
}

pub(crate) fn engine() -> Arc<LocalEngine> {
    engine_with(Arc::new(skald_store::Memory::new()))
}

pub(crate) fn engine_with(journal: Arc<dyn Journal>) -> Arc<LocalEngine> {
    LocalEngine::new(app_with(journal))
}

pub(crate) fn app_with(journal: Arc<dyn Journal>) -> App {
    let (entropy, clock) = (CountingEntropy::default(), TickingClock::default());
    App::new(Arc::new(entropy), Arc::new(clock), journal)
}

/// The holder of a token with a role in every campaign, and a gate role if one is given.
pub(crate) fn token_holder(name: &str, kind: PrincipalKind, gate_role: Option<&str>, role: CampaignRole) -> Caller {
    let roles: BTreeMap<String, CampaignRole> = [("*".to_owned(), role)].into();
    let holder =
        Holder { gate_role: gate_role.map(str::to_owned), ..Holder::new(&format!("token_{name}"), name, kind, roles) };
    Caller { principal: Principal::Holder(Arc::new(holder)), conversation: Conversation::None }
}

pub(crate) fn human_caller(name: &str) -> Caller {
    token_holder(name, PrincipalKind::Human, Some("human"), CampaignRole::Gm)
}

pub(crate) const RUN: &str = "run-550e8400-e29b-41d4-a716-446655440000";

/// Creates a run of the exploration process with the run id of its documentation.
pub(crate) async fn create_exploration_run(engine: &LocalEngine) -> Value {
    call_as_owner(engine, "state_gate.create_run", json!({"process_id": "exploration-process", "run_id": RUN})).await
}

/// The input of `state_gate.emit_event` with inline artifacts.
pub(crate) fn event_input(name: &str, revision: u64, key: &str, payload: &Value, artifacts: &[(&str, &str)]) -> Value {
    let artifacts: Vec<Value> = artifacts.iter().map(|(path, text)| json!({"path": path, "text": text})).collect();
    json!({
        "run_id": RUN, "event_name": name, "payload": payload, "expected_revision": revision,
        "idempotency_key": key, "artifacts": artifacts,
    })
}

pub(crate) async fn emit_event(engine: &LocalEngine, caller: &Caller, input: Value) -> Result<Value, Fault> {
    call(engine, caller, "state_gate.emit_event", input).await
}

/// Creates a run and moves it to the state `observe`, at revision 2.
pub(crate) async fn create_observing_run(engine: &LocalEngine) {
    create_exploration_run(engine).await;
    let plan =
        event_input("submit_experiment_plan", 1, "plan", &json!({"plan": "ask ten"}), &[("experiment_plan.md", "ask")]);
    let answer = emit_event(engine, &Caller::owner(), plan).await.expect("an answer");
    assert_eq!(answer["result"]["transition"], json!({"from_state": "experiment", "to_state": "observe"}), "{answer}");
}
