//! Batches of changes: one command for each item, stored together, with one result for each item in input order.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures::future::{BoxFuture, join_all};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use skald_domain::lore::{LoreCommand, LoreRefusal, LoreRefusalKind};

use super::access::EnteredLore;
use super::canon_hold::{HeldChange, held_already};
use super::mirror::MirrorFreshness;
use super::stream::{LoreStream, refusal_fault};
use crate::execute_command::{CommandAnswer, CommandTerms, EXPECTED_REVISION_LABEL};
use crate::{App, Call, Code, Fault, Operation, limits};
use skald_journal::{Applied, JournalFailure, SideRow};

/// Items that are sent to the journal at once. Several callers with full batches fit into the mailbox of one stream.
pub(super) const ITEMS_AT_ONCE: usize = 32;
/// How often an item that was prepared on a state that has changed since is prepared again.
const ATTEMPTS: usize = 32;

/// The results of a batch, one for each item.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct BatchOutput {
    /// One for each item, in order.
    results: Vec<CommandAnswer<ItemResult>>,
    #[schemars(extend("x-unlisted" = true))]
    went_to: BatchDestination,
    /// How fresh it is, on a campaign that is linked to Kanka.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    mirror: Option<MirrorFreshness>,
}

/// The campaign whose lore was changed.
#[derive(Debug, Serialize, JsonSchema)]
struct BatchDestination {
    campaign_id: String,
    campaign: String,
}

/// What became of one item.
#[derive(Debug, Default, Clone, Serialize, JsonSchema)]
pub(super) struct ItemResult {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entity_id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub post_id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// How a text mentions it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mention: Option<String>,
    pub success: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// The conflict as which it waits for a person to decide.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<u64>,
    /// Entities with such a name that were there already.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub similar: Vec<super::entity_view::NamedEntity>,
    /// Links by name that lead nowhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unresolved: Vec<String>,
}

impl ItemResult {
    pub(super) fn of_success() -> Self {
        Self { success: true, ..Self::default() }
    }

    /// The result of an item that was held; `named` is what it would have been.
    fn of_held(held: HeldChange, named: &Self) -> Self {
        let failure = ItemFailure::Held { id: held.id(), fault: Box::new(held.fault()) };
        let ItemResult { entity_id, post_id, revision, .. } = *named;
        Self { revision, ..Self::of_failure(&failure, Self { entity_id, post_id, ..Self::default() }) }
    }

    /// The result of an item that was not stored; `named` has the ids that the item named.
    pub(super) fn of_failure(failure: &ItemFailure, named: Self) -> Self {
        match failure {
            ItemFailure::Unchanged => Self { success: true, ..named },
            ItemFailure::Held { id, fault } => {
                let failure = ItemFailure::Fault(fault.clone());
                Self { held: Some(id.clone()), ..Self::of_failure(&failure, named) }
            }
            ItemFailure::Fault(fault) | ItemFailure::Stale(fault) => Self {
                success: false,
                error: Some(fault.to_string()),
                code: Some(fault.code()),
                revision: None,
                ..named
            },
        }
    }
}

/// A command that was made of an item, with the rows that are stored with it.
pub(super) struct PreparedItem {
    pub command: LoreCommand,
    pub side_rows: Vec<SideRow>,
    /// Whether the item was prepared on a state that must not have changed meanwhile, such as the text that it adds to.
    pub pinned_to_state: bool,
}

impl PreparedItem {
    pub(super) fn new(command: LoreCommand, side_row: Option<SideRow>) -> Self {
        Self { command, side_rows: side_row.into_iter().collect(), pinned_to_state: false }
    }
}

/// Why an item was not stored.
#[derive(Debug)]
pub(super) enum ItemFailure {
    Fault(Box<Fault>),
    /// The item was prepared on a state that has changed since.
    Stale(Box<Fault>),
    /// The same change is held already.
    Held {
        id: String,
        fault: Box<Fault>,
    },
    /// Everything is already as the item says, which is no failure for the caller.
    Unchanged,
}

impl From<Fault> for ItemFailure {
    fn from(fault: Fault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

/// Checks the number of items that were sent in a field; `fitting` of them are in the typed input. A batch is several
/// commands, so that a revision of the whole stream would hold for the first of them only.
pub(super) fn check_batch(call: &Call<'_>, fitting: usize, field: &str) -> Result<(), Fault> {
    if let Some(revision) = call.control.expected_revision {
        let message = format!("{EXPECTED_REVISION_LABEL} is {revision}, but a batch takes none for all of its items");
        return Err(Fault::new(Code::InvalidParams, message).hint("send expected_revision with each item"));
    }
    let count = fitting + call.misfits.len();
    let most = limits::BATCH_ITEMS_MAX;
    if (1..=most).contains(&count) {
        return Ok(());
    }
    let fault = Fault::new(Code::InvalidParams, format!("{field} has {count} items, allowed: 1 to {most}"));
    let hint = if count == 0 { "send at least one" } else { "send them in several calls" };
    Err(fault.with_path(format!("/{field}")).hint(hint))
}

/// What an item of a batch changes, as far as the state before it tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum BatchSubject {
    /// Something new, which no other item can be about.
    New,
    Entity(u64),
    Post(u64),
    /// It names something that is not there, such as an entity whose name an earlier item gives.
    Missing,
}

/// How many of the first items can be prepared on the same state: no item is about what one before it changes. At least
/// the first can.
fn independent_items<I: BatchItem>(lore: &EnteredLore, items: &[I]) -> usize {
    let mut subjects = BTreeSet::new();
    let is_independent = |item: &&I| match item.subject(lore) {
        BatchSubject::New => true,
        BatchSubject::Missing => false,
        subject => subjects.insert(subject),
    };
    items.iter().take(ITEMS_AT_ONCE).take_while(is_independent).count().max(1)
}

/// One item of a batch, which becomes a command.
pub(super) trait BatchItem: Sync {
    /// Makes the command, given the lore as it is now and the JSON pointer of the item.
    fn prepare<'a>(
        &'a self,
        app: &'a App,
        lore: &'a EnteredLore,
        pointer: &'a str,
    ) -> BoxFuture<'a, Result<PreparedItem, Fault>>;

    /// What it changes. An item is prepared on what the items before it that change the same have left.
    fn subject(&self, lore: &EnteredLore) -> BatchSubject;

    /// The result of an item that was not stored has the ids that the item names.
    fn failed_result(&self, lore: &EnteredLore, failure: &ItemFailure) -> ItemResult;
}

/// What is known of an item before it is sent.
enum ItemPreparation {
    /// It was stored before, under the same idempotency key.
    Answered(CommandAnswer<ItemResult>),
    Command(PreparedItem),
}

/// Where an item is in the input.
struct ItemPlace {
    /// Among the items that fit.
    index: usize,
    /// Among all items that were sent.
    number: usize,
    /// JSON pointer.
    pointer: String,
}

impl ItemPlace {
    fn new(call: &Call<'_>, field: &str, index: usize) -> Self {
        // Misfits are in order, so each one at or before the item moves it by one.
        let number = call.misfits.iter().fold(index, |number, misfit| number + usize::from(misfit.index <= number));
        Self { index, number, pointer: format!("/{field}/{number}") }
    }

    /// The key of the call with the number of the item, and the request that it stands for.
    fn idempotency_key(&self, call: &Call<'_>) -> Option<(String, String)> {
        let key = call.control.idempotency_key.as_ref()?;
        let sent = call.input.pointer(&self.pointer).unwrap_or(&Value::Null);
        Some((format!("{key}#{}", self.number), sent.to_string()))
    }
}

/// Makes the result of an item that was stored.
pub(super) type ItemAnswer = Arc<dyn Fn(&Applied<LoreStream>) -> ItemResult + Send + Sync>;

impl BatchOutput {
    /// The ids of the entities of all items that succeeded, now or at the first try.
    pub(super) fn entity_ids(&self) -> Vec<Option<u64>> {
        let entity_id = |result: &CommandAnswer<ItemResult>| match result {
            CommandAnswer::Now(result) => result.entity_id.filter(|_| result.success),
            CommandAnswer::Again(stored) => stored.field("entity_id").and_then(Value::as_u64),
        };
        self.results.iter().map(entity_id).collect()
    }

    /// Adds the results of items that do not fit, each at its place.
    pub(super) fn with_misfits(mut self, call: &Call<'_>) -> Self {
        for misfit in call.misfits {
            let failure = ItemFailure::from(misfit.fault.clone());
            let result = CommandAnswer::Now(ItemResult::of_failure(&failure, ItemResult::default()));
            self.results.insert(misfit.index.min(self.results.len()), result);
        }
        self
    }

    pub(super) fn result_mut(&mut self, index: usize) -> Option<&mut ItemResult> {
        match self.results.get_mut(index) {
            Some(CommandAnswer::Now(result)) => Some(result),
            _ => None,
        }
    }
}

impl App {
    /// Runs a batch whose items have one text each, and names with each result the links in it that lead nowhere.
    pub(super) async fn run_batch_of_texts<O: Operation, I: BatchItem>(
        &self,
        call: &Call<'_>,
        campaign_id: Option<&str>,
        (field, items): (&str, &[I]),
        sent_text: fn(&I) -> Option<&str>,
        result: fn(&Applied<LoreStream>) -> ItemResult,
    ) -> Result<BatchOutput, Fault> {
        check_batch(call, items.len(), field)?;
        let lore = self.enter_lore::<O>(call, campaign_id).await?;
        let answer = |index: usize| -> ItemAnswer {
            let unresolved = lore.links_to_nowhere(sent_text(&items[index]));
            Arc::new(move |done| ItemResult { unresolved: unresolved.clone(), ..result(done) })
        };
        Ok(self.run_batch::<O, _>(call, &lore, (field, items), answer).await.with_misfits(call))
    }

    /// Runs all items of an input field, a part of them at a time, and collects their results in order.
    pub(super) async fn run_batch<O: Operation, I: BatchItem>(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        (field, items): (&str, &[I]),
        answer: impl Fn(usize) -> ItemAnswer + Send + Sync,
    ) -> BatchOutput {
        let mut results = Vec::with_capacity(items.len());
        let mut newest: Option<EnteredLore> = None;
        while results.len() < items.len() {
            let begin = results.len();
            let next = &items[begin];
            if begin > 0 && next.subject(newest.as_ref().unwrap_or(lore)) != BatchSubject::New {
                match self.load_lore(call, lore.campaign_id.clone()).await {
                    Ok(loaded) => newest = Some(loaded),
                    Err(fault) => {
                        results.push(CommandAnswer::Now(next.failed_result(lore, &ItemFailure::from(fault))));
                        continue;
                    }
                }
            }
            let lore = newest.as_ref().unwrap_or(lore);
            let chunk = &items[begin..begin + independent_items(lore, &items[begin..])];
            let places: Vec<ItemPlace> =
                (begin..begin + chunk.len()).map(|index| ItemPlace::new(call, field, index)).collect();
            let preparing = chunk
                .iter()
                .zip(&places)
                .map(|(item, place)| Box::pin(self.prepare_item::<O, I>(call, lore, item, place)) as BoxFuture<'_, _>);
            let prepared = join_all(preparing).await;
            // All are prepared before the first is sent, so that they are stored in order.
            let running = chunk.iter().zip(&places).zip(prepared).map(|((item, place), prepared)| {
                Box::pin(self.run_item::<O, I>(call, lore, (item, place), prepared, answer(place.index)))
                    as BoxFuture<'_, _>
            });
            results.extend(join_all(running).await);
        }
        let went_to = BatchDestination { campaign_id: lore.campaign_id.clone(), campaign: lore.campaign_name.clone() };
        BatchOutput { results, went_to, mirror: None }
    }

    /// Decides and stores the command of one item. An item under an idempotency key has the key of the call with its own
    /// number. A command that was prepared on a state that has changed since is prepared again on the newest one.
    async fn run_item<O: Operation, I: BatchItem>(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        (item, place): (&I, &ItemPlace),
        mut prepared: Result<ItemPreparation, ItemFailure>,
        answer: ItemAnswer,
    ) -> CommandAnswer<ItemResult> {
        let mut newest: Option<EnteredLore> = None;
        let mut attempt = 1;
        loop {
            let current = newest.as_ref().unwrap_or(lore);
            let failure = match prepared {
                Ok(ItemPreparation::Answered(answered)) => return answered,
                Ok(ItemPreparation::Command(command)) => {
                    match self.send_item::<O>(call, current, place, command, &answer).await {
                        Ok(answered) => return answered,
                        Err(failure) => failure,
                    }
                }
                Err(failure) => failure,
            };
            let is_last = !matches!(failure, ItemFailure::Stale(_)) || attempt == ATTEMPTS;
            let loaded = if is_last { None } else { self.load_lore(call, lore.campaign_id.clone()).await.ok() };
            let Some(loaded) = loaded else { return CommandAnswer::Now(item.failed_result(current, &failure)) };
            prepared = self.prepare_item::<O, I>(call, &loaded, item, place).await;
            newest = Some(loaded);
            attempt += 1;
        }
    }

    /// Makes the command of an item. A retry is answered before that: what it names may have another name now, or be
    /// archived.
    async fn prepare_item<O: Operation, I: BatchItem>(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        item: &I,
        place: &ItemPlace,
    ) -> Result<ItemPreparation, ItemFailure> {
        if let Some((key, request)) = place.idempotency_key(call)
            && let Some(answered) = self.find_stored_answer::<O, ItemResult>(call, &lore.stream, &key, &request).await?
        {
            return Ok(ItemPreparation::Answered(answered));
        }
        Ok(ItemPreparation::Command(item.prepare(self, lore, &place.pointer).await?))
    }

    async fn send_item<O: Operation>(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        place: &ItemPlace,
        prepared: PreparedItem,
        answer: &ItemAnswer,
    ) -> Result<CommandAnswer<ItemResult>, ItemFailure> {
        let key = place.idempotency_key(call);
        let prepared = self.reuse_held_text(lore, prepared).await?;
        let terms = CommandTerms { side_rows: prepared.side_rows, ..CommandTerms::new(None, key) };
        let answer = Arc::clone(answer);
        let stored_answer = move |done: &Applied<LoreStream>| match HeldChange::of_events(&done.events) {
            Some(held) => ItemResult::of_held(held, &answer(done)),
            None => answer(done),
        };
        let command = LoreCommand::FromTool { tool: O::NAME, command: Box::new(prepared.command) };
        let done = self.execute_with_terms::<O, _, _>(&self.lore, call, &lore.stream, command, terms, stored_answer);
        match done.await {
            Ok((answered, _)) => Ok(answered),
            Err(not_done) if is_unchanged(&not_done.failure) => Err(ItemFailure::Unchanged),
            Err(not_done) => {
                let is_stale = prepared.pinned_to_state && is_conflict(&not_done.failure);
                let held = match &not_done.failure {
                    JournalFailure::Refused(refusal) => held_already(refusal),
                    _ => None,
                };
                let fault = Box::new(self.lore_fault(not_done.failure));
                if let Some(id) = held {
                    return Err(ItemFailure::Held { id, fault });
                }
                Err(if is_stale { ItemFailure::Stale(fault) } else { ItemFailure::Fault(fault) })
            }
        }
    }

    pub(super) fn lore_fault(&self, failure: JournalFailure<LoreRefusal>) -> Fault {
        self.journal_fault(failure, |refusal| refusal_fault(&refusal))
    }
}

pub(super) fn is_unchanged(failure: &JournalFailure<LoreRefusal>) -> bool {
    matches!(failure, JournalFailure::Refused(refusal) if refusal.kind() == LoreRefusalKind::Unchanged)
}

fn is_conflict(failure: &JournalFailure<LoreRefusal>) -> bool {
    matches!(failure, JournalFailure::Refused(refusal) if refusal.kind() == LoreRefusalKind::RevisionConflict)
}
