//! Runs of one size for the gate benchmark, and the calls that are made to them.
//!
//! A run grows while it is measured. So there are several of a size: the next one is used once a run has grown by a
//! tenth, or by ten events.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use anyhow::ensure;
use serde_json::{Value, json};

use super::agent::Agent;
use super::gate_folder::PROCESS_ID;

const GROWTH_MIN: u64 = 10;

pub(super) struct RunGroup {
    pub(super) size: u64,
    /// The index of the agent whose store has them.
    pub(super) agent: usize,
    /// By how many events a run may grow.
    growth: u64,
    runs: Vec<BenchRun>,
    /// The index of the run that is called.
    current: usize,
}

struct BenchRun {
    id: String,
    /// How many events it holds, its creation among them.
    revision: u64,
}

/// A pseudorandom number that depends only on its argument.
pub(super) fn pseudorandom(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

impl RunGroup {
    /// As many runs as are needed for this many events.
    pub(super) fn new(size: u64, events: u64, agent: usize) -> Self {
        let growth = (size / 10).max(GROWTH_MIN);
        let run = |number: u64| BenchRun { id: format!("run-{size}-{number}"), revision: 0 };
        Self { size, agent, growth, runs: (0..events.div_ceil(growth)).map(run).collect(), current: 0 }
    }

    /// Creates all of them, and emits their events.
    pub(super) fn fill(&mut self, agent: &mut Agent) -> anyhow::Result<()> {
        for run in &mut self.runs {
            agent.call("state_gate.create_run", &json!({"process_id": PROCESS_ID, "run_id": run.id}))?;
            run.revision = 1;
            while run.revision < self.size {
                run.emit(agent)?;
            }
        }
        Ok(())
    }

    /// Moves on to the next run if this one has grown too large, and reads its state, so that its stream is loaded and
    /// its server awake, as for an agent that works on it.
    pub(super) fn prepare(&mut self, agent: &mut Agent) -> anyhow::Result<()> {
        if self.current_run().revision >= self.size + self.growth && self.current + 1 < self.runs.len() {
            self.current += 1;
        }
        self.read_state(agent).map(drop)
    }

    pub(super) fn emit(&mut self, agent: &mut Agent) -> anyhow::Result<Duration> {
        let current = self.current;
        self.runs[current].emit(agent)
    }

    pub(super) fn read_state(&self, agent: &mut Agent) -> anyhow::Result<Duration> {
        self.current_run().read_state(agent)
    }

    /// Sends a random earlier event of the run again.
    pub(super) fn replay(&self, agent: &mut Agent, round: u64) -> anyhow::Result<Duration> {
        let run = self.current_run();
        run.replay(agent, 1 + pseudorandom((&run.id, round)) % (run.revision - 1))
    }

    fn current_run(&self) -> &BenchRun {
        &self.runs[self.current]
    }
}

impl BenchRun {
    /// The input of the event after a revision. Its key is pseudorandom, since the keys of agents have no order.
    fn event_input(&self, revision: u64) -> Value {
        let key = format!("{:016x}", pseudorandom((&self.id, revision, "key")));
        let mut emission = json!({
            "run_id": self.id, "event_name": "work", "payload": {"step": revision},
            "expected_revision": revision, "idempotency_key": key,
        });
        if revision == 1 {
            emission["artifacts"] = json!([{"path": "note.md", "text": "what was found"}]);
        }
        emission
    }

    fn emit(&mut self, agent: &mut Agent) -> anyhow::Result<Duration> {
        let (took, answer) = agent.call("state_gate.emit_event", &self.event_input(self.revision))?;
        let result = &answer["result"];
        let is_new = result["new_revision"] == self.revision + 1 && result["replayed"].is_null();
        ensure!(answer["success"] == true && is_new, "an event after {} was answered: {answer}", self.revision);
        self.revision += 1;
        Ok(took)
    }

    fn replay(&self, agent: &mut Agent, revision: u64) -> anyhow::Result<Duration> {
        let (took, answer) = agent.call("state_gate.emit_event", &self.event_input(revision))?;
        let result = &answer["result"];
        let is_same = result["new_revision"] == revision + 1 && result["replayed"] == true;
        ensure!(answer["success"] == true && is_same, "a replay of {revision} was answered: {answer}");
        Ok(took)
    }

    fn read_state(&self, agent: &mut Agent) -> anyhow::Result<Duration> {
        let (took, answer) = agent.call("state_gate.get_state", &json!({"run_id": self.id}))?;
        let is_right = answer["revision"] == self.revision && answer["current_state"] == "working";
        ensure!(is_right, "{} was answered: {answer}", self.id);
        Ok(took)
    }
}
