//! Tests of the shipped processes: helpers that walk a run through a process.

mod evidence_and_prompts;
mod exploration;
mod game_processes;
mod substance;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use skald_domain::decider::{Decider, DecisionContext};
use skald_domain::gate::{
    ContentMeasure, Emit, Emitted, Facts, Process, RunCommand, RunEvent, RunRefusal, RunRules, RunState, RunStatus,
    RunView, SubmittedArtifact, load,
};

use super::shipped_processes;

/// A run of a shipped process.
struct Walk {
    process: Arc<Process>,
    run: RunState,
    facts: Facts,
    revision: u64,
}

impl Walk {
    fn start(id: &str, context: Value) -> Self {
        let (_, source) = shipped_processes().into_iter().find(|(found, _)| *found == id).unwrap();
        let process = Arc::new(load(source).process.unwrap());
        let mut walk = Self { process, run: RunState::default(), facts: Facts::default(), revision: 0 };
        let create = RunCommand::Create {
            id: "run-1".to_owned(),
            process: Arc::clone(&walk.process),
            role: "agent".to_owned(),
            context: to_object(context),
            campaign_id: None,
            campaign_numbers: None,
            folder: None,
        };
        walk.execute("robot", &create).unwrap();
        walk
    }

    fn execute(&mut self, by: &str, command: &RunCommand) -> Result<Vec<RunEvent>, RunRefusal> {
        let given = DecisionContext { at: "2024-01-15T10:30:00Z".parse().unwrap(), by: by.to_owned() };
        let events = RunRules::decide(&self.run, command, &given)?;
        for event in &events {
            self.run = RunRules::evolve(std::mem::take(&mut self.run), event, &given);
            self.revision += 1;
        }
        Ok(events)
    }

    fn emit(
        &mut self,
        who: (&str, &str),
        event: &str,
        payload: Value,
        files: &[(&str, &str)],
    ) -> Result<Emitted, RunRefusal> {
        let files: Vec<(&str, String)> = files.iter().map(|(path, words)| (*path, write_out(path, words))).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, content)| (*path, content.as_str())).collect();
        self.emit_as_written(who, event, payload, &files)
    }

    /// Like `emit`, with files that have this content and no other.
    fn emit_as_written(
        &mut self,
        who: (&str, &str),
        event: &str,
        payload: Value,
        files: &[(&str, &str)],
    ) -> Result<Emitted, RunRefusal> {
        let command = RunCommand::Emit(Box::new(Emit {
            process: Arc::clone(&self.process),
            role: who.1.to_owned(),
            event: event.to_owned(),
            payload: to_object(payload),
            artifacts: files.iter().map(|(path, content)| submitted_file(&self.process, path, content)).collect(),
            unfit: Vec::new(),
            facts: self.facts.clone(),
            facts_of: self.run.revision(),
        }));
        match &self.execute(who.0, &command)?[..] {
            [RunEvent::Emitted(emitted)] => Ok((**emitted).clone()),
            other => panic!("{other:?}"),
        }
    }

    /// The agent emits an event, after which the run must be in `state`.
    fn assert_agent_reaches(&mut self, event: &str, payload: Value, files: &[(&str, &str)], state: &str) {
        let emitted = self.emit(("robot", "agent"), event, payload, files);
        assert!(emitted.is_ok(), "{event}: {emitted:?}");
        assert_eq!(self.run.state(), state, "{event}");
    }

    /// A person emits an event, after which the run must be in `state`.
    fn assert_person_reaches(&mut self, event: &str, payload: Value, state: &str) {
        let emitted = self.emit(("hanna", "human"), event, payload, &[]);
        assert!(emitted.is_ok(), "{event}: {emitted:?}");
        assert_eq!(self.run.state(), state, "{event}");
    }

    /// The agent emits an event that a guard must refuse. Returns the results of the guards.
    fn assert_guard_refuses(&mut self, event: &str, payload: Value, files: &[(&str, &str)]) -> Vec<String> {
        match self.emit(("robot", "agent"), event, payload, files) {
            Err(RunRefusal::GuardFailed { results }) => {
                results.iter().map(skald_domain::gate::GuardResult::line).collect()
            }
            other => panic!("{other:?}"),
        }
    }

    fn run_view(&self) -> RunView<'_> {
        RunView { process: &self.process, run: &self.run, facts: &self.facts, principal: "robot", role: "agent" }
    }
}

fn to_object(value: Value) -> Map<String, Value> {
    serde_json::from_value(value).unwrap()
}

/// A text with a few words in it and all that the guards of the shipped processes ask for. JSON stays as it is.
fn write_out(path: &str, words: &str) -> String {
    if std::path::Path::new(path).extension().is_some_and(|extension| extension == "json") {
        return words.to_owned();
    }
    let lines = ["Place: the mill at the ford", "Wants: the miller, to be left alone", "Now: the water rises"];
    let lines = lines.join(".\n");
    let filler = "Whoever was there tells it in another way, and none of them was sober. ".repeat(5);
    format!("# {words}\n{lines}.\nWays out: by boat, or by talking.\n\n## Secret\n{filler}\n")
}

fn submitted_file(process: &Process, path: &str, content: &str) -> SubmittedArtifact {
    let digest = Sha256::digest(content.as_bytes());
    SubmittedArtifact {
        pointer: "/artifact_paths/0".to_owned(),
        path: path.to_owned(),
        sha256: digest.iter().fold(String::new(), |digits, byte| format!("{digits}{byte:02x}")),
        bytes: content.len() as u64,
        artifact_type: None,
        inline: false,
        json: serde_json::from_str(content).ok(),
        measure: Some(ContentMeasure::from_content(content.as_bytes(), process.searched_words())),
    }
}

#[test]
fn each_loads_without_a_finding_under_its_own_id() {
    for (id, source) in shipped_processes() {
        let loaded = load(source);
        assert_eq!(loaded.findings, [], "{id}");
        assert_eq!(loaded.process.unwrap().id, id);
    }
    let ids: BTreeSet<&str> = shipped_processes().into_iter().map(|(id, _)| id).collect();
    assert_eq!(ids.len(), 5);
}

#[test]
fn each_says_what_it_asks_for_and_what_to_do() {
    for (id, source) in shipped_processes() {
        let process = load(source).process.unwrap();
        for (name, guard) in &process.guards {
            assert!(guard.description.is_some(), "{id}: guard {name} has no description");
        }
        for event in &process.events {
            assert!(event.description.is_some(), "{id}: event {} has no description", event.name);
        }
        for state in &process.states {
            assert!(state.prompt.is_some() || state.is_final, "{id}: state {} has no prompt", state.name);
        }
    }
}

/// No prompt on the way through a process contains an unfilled placeholder.
#[test]
fn prompts_are_filled_in() {
    for (walk, state) in [
        (exploration::walk_exploration(), "decide"),
        (game_processes::walk_session_preparation(), "ready"),
        (game_processes::walk_quest(), "resolved"),
        (game_processes::walk_character_creation(), "ready"),
        (game_processes::walk_canon_review(), "canon"),
    ] {
        assert_eq!((walk.run.state(), walk.run.status()), (state, RunStatus::Finished));
        for state in walk.run.entered_states() {
            let prompt = walk.run_view().prompt(state).unwrap_or_default();
            assert!(!prompt.contains("{context."), "{} {state}: {prompt}", walk.process.id);
        }
    }
}
