//! Tests of runs, and the helpers they share.

mod attacks;
mod campaign_numbers;
mod deciding;
mod emitting;
mod explaining;
mod refusal_texts;
mod substance;

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use super::*;
use crate::decider::{Decider, DecisionContext};

pub(super) const EXPLORATION: &str = include_str!("exploration.yaml");

pub(super) fn load_process(source: &str) -> Arc<Process> {
    let loaded = load(source);
    Arc::new(loaded.process.unwrap_or_else(|| panic!("{:#?}", loaded.findings)))
}

pub(super) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

/// A submitted file.
pub(super) fn submitted_file(path: &str, content: &str) -> SubmittedArtifact {
    let sha256 =
        Sha256::digest(content.as_bytes()).iter().fold(String::new(), |digits, byte| format!("{digits}{byte:02x}"));
    SubmittedArtifact {
        pointer: "/artifact_paths/0".to_owned(),
        path: path.to_owned(),
        sha256,
        bytes: content.len() as u64,
        artifact_type: None,
        inline: false,
        json: serde_json::from_str(content).ok(),
        measure: None,
    }
}

/// A run under test. Commands go through the rules, and each advances the clock by a minute.
pub(super) struct RunFixture {
    pub(super) process: Arc<Process>,
    pub(super) state: RunState,
    pub(super) journal: Vec<(DecisionContext, RunEvent)>,
    pub(super) facts: Facts,
    clock: Timestamp,
}

impl RunFixture {
    pub(super) fn empty(process: Arc<Process>) -> Self {
        let clock = "2024-01-15T10:00:00Z".parse().unwrap();
        Self { process, state: RunState::default(), journal: Vec::new(), facts: Facts::default(), clock }
    }

    /// A run of this process, just created.
    pub(super) fn with_run(source: &str) -> Self {
        let mut fixture = Self::empty(load_process(source));
        let create = fixture.create_command(Map::new());
        fixture.execute("alice", &create).unwrap();
        fixture
    }

    pub(super) fn create_command(&self, context: Map<String, Value>) -> RunCommand {
        let (id, process) = ("run-1".to_owned(), Arc::clone(&self.process));
        RunCommand::Create {
            id,
            process,
            role: "agent".to_owned(),
            context,
            campaign_id: None,
            campaign_numbers: None,
            folder: None,
        }
    }

    pub(super) fn execute(&mut self, by: &str, command: &RunCommand) -> Result<Vec<RunEvent>, RunRefusal> {
        self.clock += jiff::SignedDuration::from_mins(1);
        let given = DecisionContext { at: self.clock, by: by.to_owned() };
        let events = RunRules::decide(&self.state, command, &given)?;
        for event in &events {
            self.state = RunRules::evolve(std::mem::take(&mut self.state), event, &given);
            self.journal.push((given.clone(), event.clone()));
        }
        Ok(events)
    }

    pub(super) fn emit(
        &mut self,
        (by, role): (&str, &str),
        event: &str,
        payload: Value,
        artifacts: Vec<SubmittedArtifact>,
    ) -> Result<Emitted, RunRefusal> {
        let command = RunCommand::Emit(Box::new(Emit {
            process: Arc::clone(&self.process),
            role: role.to_owned(),
            event: event.to_owned(),
            payload: object(payload),
            artifacts,
            unfit: Vec::new(),
            facts: self.facts.clone(),
            facts_of: self.state.revision(),
        }));
        let before = self.state.clone();
        match self.execute(by, &command) {
            Ok(events) => match &events[..] {
                [RunEvent::Emitted(emitted)] => Ok((**emitted).clone()),
                other => panic!("{other:?}"),
            },
            Err(refusal) => {
                assert_eq!(self.state, before, "a refused attempt leaves nothing behind");
                assert!(!refusal.to_string().is_empty() && !refusal.hint().is_empty());
                Err(refusal)
            }
        }
    }

    /// The agent emits an event with files and without a payload.
    pub(super) fn emit_as_agent(
        &mut self,
        event: &str,
        artifacts: Vec<SubmittedArtifact>,
    ) -> Result<Emitted, RunRefusal> {
        self.emit(("robot", "agent"), event, Value::Object(Map::new()), artifacts)
    }

    pub(super) fn override_guard(
        &mut self,
        by: &str,
        acting_role: (&str, bool),
        event: &str,
    ) -> Result<Vec<RunEvent>, RunRefusal> {
        let (role, is_human) = acting_role;
        let command = RunCommand::Override(Box::new(Override {
            process: Arc::clone(&self.process),
            acting_role: ActingRole { role: role.to_owned(), is_human },
            event: event.to_owned(),
            to: None,
            reason: "it is late".to_owned(),
            facts: self.facts.clone(),
            facts_of: self.state.revision(),
        }));
        self.execute(by, &command)
    }

    pub(super) fn view(&self) -> RunView<'_> {
        self.view_as("robot", "agent")
    }

    pub(super) fn view_as<'a>(&'a self, principal: &'a str, role: &'a str) -> RunView<'a> {
        RunView { process: &self.process, run: &self.state, facts: &self.facts, principal, role }
    }
}
