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
    /// Which of the agents has them.
    pub(super) agent: usize,
    /// How much one of them may grow.
    growth: u64,
    runs: Vec<Run>,
    /// The one that is called.
    current: usize,
}

struct Run {
    id: String,
    /// How many events it holds, its creation among them.
    revision: u64,
}

/// The same number for the same things, and any other for others.
pub(super) fn chance(of: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

impl RunGroup {
    /// As many as are needed for so many events.
    pub(super) fn new(size: u64, events: u64, agent: usize) -> Self {
        let growth = (size / 10).max(GROWTH_MIN);
        let run = |number: u64| Run { id: format!("run-{size}-{number}"), revision: 0 };
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

    /// Has a run of the right size ready, and looks at it: its stream is open and its server awake, as they are for an
    /// agent that works on it.
    pub(super) fn prepare(&mut self, agent: &mut Agent) -> anyhow::Result<()> {
        if self.run().revision >= self.size + self.growth && self.current + 1 < self.runs.len() {
            self.current += 1;
        }
        self.look(agent).map(drop)
    }

    pub(super) fn emit(&mut self, agent: &mut Agent) -> anyhow::Result<Duration> {
        let current = self.current;
        self.runs[current].emit(agent)
    }

    pub(super) fn look(&self, agent: &mut Agent) -> anyhow::Result<Duration> {
        self.run().look(agent)
    }

    /// Sends any event of the run again.
    pub(super) fn replay(&self, agent: &mut Agent, round: u64) -> anyhow::Result<Duration> {
        let run = self.run();
        run.replay(agent, 1 + chance((&run.id, round)) % (run.revision - 1))
    }

    fn run(&self) -> &Run {
        &self.runs[self.current]
    }
}

impl Run {
    /// The event that follows a revision. Keys of agents are in no order.
    fn emission(&self, revision: u64) -> Value {
        let key = format!("{:016x}", chance((&self.id, revision, "key")));
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
        let (took, answer) = agent.call("state_gate.emit_event", &self.emission(self.revision))?;
        let result = &answer["result"];
        let is_new = result["new_revision"] == self.revision + 1 && result["replayed"].is_null();
        ensure!(answer["success"] == true && is_new, "an event after {} was answered: {answer}", self.revision);
        self.revision += 1;
        Ok(took)
    }

    fn replay(&self, agent: &mut Agent, revision: u64) -> anyhow::Result<Duration> {
        let (took, answer) = agent.call("state_gate.emit_event", &self.emission(revision))?;
        let result = &answer["result"];
        let is_same = result["new_revision"] == revision + 1 && result["replayed"] == true;
        ensure!(answer["success"] == true && is_same, "a replay of {revision} was answered: {answer}");
        Ok(took)
    }

    fn look(&self, agent: &mut Agent) -> anyhow::Result<Duration> {
        let (took, answer) = agent.call("state_gate.get_state", &json!({"run_id": self.id}))?;
        let is_right = answer["revision"] == self.revision && answer["current_state"] == "working";
        ensure!(is_right, "{} was answered: {answer}", self.id);
        Ok(took)
    }
}
