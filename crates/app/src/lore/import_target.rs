//! Target of an import's commands: the journal, or in a dry run a copy of the state.

use futures::future::join_all;
use skald_domain::decider::{Decider, DecisionContext};
use skald_domain::lore::{LoreCommand, LoreEvent, LoreRefusal, LoreRefusalKind, LoreRules, LoreState};

use super::batch::{ITEMS_AT_ONCE, PreparedItem};
use super::canon_hold::HeldChange;
use super::stream::LoreStream;
use crate::{App, Caller, Fault};
use skald_journal::{JournalFailure, StreamName, Submission, truncate_to_micros};

/// The tool name of an import in held changes. An import is no operation, so it has no name of its own.
const IMPORT: &str = "import";

/// What became of one command.
pub(super) enum ImportOutcome {
    /// The entity, and the post, that it was about.
    Applied { entity_id: Option<u64>, post_id: Option<u64> },
    /// Everything is already as the command says.
    Unchanged,
    /// The reason of the rules, or the conflict as which it waits.
    Refused(String),
}

impl ImportOutcome {
    fn of_events(events: &[LoreEvent]) -> Self {
        if let Some(held) = HeldChange::of_events(events) {
            return Self::Refused(held.fault().body().message.clone());
        }
        let event = events.first();
        Self::Applied { entity_id: event.and_then(LoreEvent::entity_id), post_id: event.and_then(LoreEvent::post_id) }
    }

    fn of_refusal(refusal: &LoreRefusal) -> Self {
        match refusal.kind() {
            LoreRefusalKind::Unchanged => Self::Unchanged,
            _ => Self::Refused(refusal.to_string()),
        }
    }
}

pub(super) struct ImportTarget<'a> {
    pub app: &'a App,
    pub caller: &'a Caller,
    pub stream: StreamName,
    /// The lore as it would be, in a dry run.
    pub copy: Option<LoreState>,
}

impl ImportTarget<'_> {
    /// Decides all commands in order, a part of them at once. A refusal is an outcome; any other failure ends the import.
    pub(super) async fn execute_all(&mut self, items: Vec<PreparedItem>) -> Result<Vec<ImportOutcome>, Fault> {
        let mut outcomes = Vec::with_capacity(items.len());
        let mut items = items.into_iter();
        loop {
            let part: Vec<PreparedItem> = items.by_ref().take(ITEMS_AT_ONCE).collect();
            if part.is_empty() {
                return Ok(outcomes);
            }
            let given = self.time_and_importer();
            if let Some(copy) = &mut self.copy {
                outcomes.extend(part.iter().map(|item| apply_to_copy(copy, &item.command, &given)));
                continue;
            }
            let running: Vec<_> = part.into_iter().map(|item| self.store_item(item, given.clone())).collect();
            for stored in join_all(running).await {
                outcomes.push(stored?);
            }
        }
    }

    async fn store_item(&self, item: PreparedItem, given: DecisionContext) -> Result<ImportOutcome, Fault> {
        let command = LoreCommand::FromTool { tool: IMPORT, command: Box::new(item.command) };
        let mut submission: Submission<LoreStream> = Submission::new(command, given);
        submission.side_rows = item.side_rows;
        match self.app.lore.execute(&self.stream, submission).await {
            Ok(done) => Ok(ImportOutcome::of_events(&done.events)),
            Err(JournalFailure::Refused(refusal)) => Ok(ImportOutcome::of_refusal(&refusal)),
            Err(failure) => Err(self.app.lore_fault(failure)),
        }
    }

    fn time_and_importer(&self) -> DecisionContext {
        DecisionContext { at: truncate_to_micros(self.app.clock.now()), by: self.caller.id().to_owned() }
    }
}

fn apply_to_copy(copy: &mut LoreState, command: &LoreCommand, given: &DecisionContext) -> ImportOutcome {
    match LoreRules::decide(copy, command, given) {
        Ok(events) => {
            let before = std::mem::take(copy);
            *copy = events.iter().fold(before, |state, event| LoreRules::evolve(state, event, given));
            ImportOutcome::of_events(&events)
        }
        Err(refusal) => ImportOutcome::of_refusal(&refusal),
    }
}
