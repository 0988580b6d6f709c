//! The registry of nouns: the `Noun` trait, with everything that the rest of the program needs, and the list.

use std::sync::Arc;

use futures::future::BoxFuture;
use skald_journal::{Record, RegisteredKind, SideRowCheck, StoreError, StreamKinds};

use crate::{
    App, CampaignStates, ChangeReaders, FaultField, OperationEntry, PromptEntry, Resource, ResourceChange, Toolset,
    campaign, dice, gate, lore, tokens, universe,
};

/// One noun of Skald. No method has a default, so that a noun that forgets a part does not compile.
pub trait Noun: Send + Sync + 'static {
    /// Its operations, in the order of the reference pages.
    fn operations(&self) -> Vec<OperationEntry>;

    fn resources(&self) -> Vec<Resource>;

    fn prompts(&self) -> Vec<PromptEntry>;

    /// Its part of the MCP server instructions, and the toolset with which it is shown.
    fn instructions(&self) -> Option<(Toolset, &'static str)>;

    /// The fields that only its errors have.
    fn fault_fields(&self) -> &'static [FaultField];

    /// Its streams in the journal, which `verify` and `rebuild` replay.
    fn stream_kind(&self) -> Option<RegisteredKind>;

    /// The kinds of rows that it keeps beside the journal, and how `verify` checks them.
    fn side_rows(&self) -> Vec<(&'static str, SideRowCheck)>;

    /// The resources that read differently after a record of its streams, if nothing in it is secret.
    fn changed_resources(&self, record: &Record) -> Vec<ResourceChange>;

    /// If a resource is read from a larger one of this noun, the URI under which changes of the larger one are
    /// announced.
    fn containing_resource(&self, uri: &str) -> Option<String>;

    /// Who is notified of a record of its streams.
    fn record_audience(&self) -> RecordAudience;

    /// Returns once readers see the state after a record of its streams. Without streams that are read from memory it
    /// returns at once.
    fn wait_for_published_state<'a>(
        &'a self,
        app: &'a App,
        record: &'a Record,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Called for every record that is appended, of any noun, by this process or another, before subscribers are
    /// notified of it.
    fn record_appended(&self, app: &App, record: &Record);

    /// Called when a record of any noun has changed something in a campaign: the resources of this noun that may read
    /// differently because of it.
    fn changed_by_campaign(&self, app: &App, record: &Record, campaign_id: &str) -> Vec<CampaignEffect>;

    /// Names of fields in its records that no answer, resource or history may contain.
    fn secret_fields(&self) -> &'static [&'static str];
}

/// A resource that reads differently because something else in its campaign has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignEffect {
    pub change: ResourceChange,
    /// Only game masters and this principal may know of it.
    pub created_by: Arc<str>,
}

/// Who is notified of the records of a noun.
#[derive(Debug, Clone, Copy)]
pub enum RecordAudience {
    /// Nobody: the records are secret.
    Nobody,
    /// The members of the campaign whose id is the stream's id.
    CampaignOfStreamId,
    /// The members of the campaign whose id is the stream's id; of a record that is secret in part, those who may know.
    CampaignOfStreamIdBySecrecy(RecordSecrecy),
    /// The members of the campaign that a document names: this collection has one for each stream, by the stream's id.
    CampaignInDocument(&'static str),
    /// Of that campaign, the game masters and whoever created the document.
    GameMastersAndCreatorInDocument(&'static str),
}

/// Finds the changes of a record and their readers. It reads of a campaign's states those that its noun needs.
pub type SecretChanges = for<'a> fn(
    &'a Record,
    &'a CampaignStates,
) -> BoxFuture<'a, Result<Vec<(ResourceChange, ChangeReaders)>, StoreError>>;

/// How the records of a noun are announced that concern something that not everybody may know of.
#[derive(Debug, Clone, Copy)]
pub struct RecordSecrecy {
    /// Whether a part of a record may concern something secret. A record that this version cannot decode counts as secret.
    pub is_secret: fn(&Record) -> bool,
    /// The resources that read differently after a record that is secret in part, each with who may know it.
    pub changes: SecretChanges,
}

/// All nouns of a program, in the order of the reference pages.
#[derive(Clone)]
pub struct Nouns(Arc<[Arc<dyn Noun>]>);

impl Nouns {
    pub fn all() -> Self {
        Self(Arc::new([
            Arc::new(dice::DiceNoun),
            Arc::new(campaign::CampaignNoun),
            Arc::new(lore::LoreNoun),
            Arc::new(universe::UniverseNoun),
            Arc::new(gate::GateNoun),
            Arc::new(tokens::TokenNoun),
        ]))
    }

    /// No nouns: a test has its own operations.
    pub(crate) fn none() -> Self {
        Self(Arc::new([]))
    }

    /// These nouns and one more.
    #[must_use]
    pub fn with_noun(&self, noun: Arc<dyn Noun>) -> Self {
        Self(self.iter().cloned().chain([noun]).collect())
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Arc<dyn Noun>> {
        self.0.iter()
    }

    /// The noun of a record's stream; `None` if this program does not know it.
    pub(crate) fn noun_of_record(&self, record: &Record) -> Option<&dyn Noun> {
        let is_its = |noun: &&Arc<dyn Noun>| noun.stream_kind().is_some_and(|kind| kind.name() == record.stream.noun());
        self.iter().find(is_its).map(|noun| &**noun)
    }

    /// All kinds of streams and side rows, for `verify` and `rebuild`.
    pub fn stream_kinds(&self) -> StreamKinds {
        let kinds = self.iter().filter_map(|noun| noun.stream_kind());
        let side_rows = self.iter().flat_map(|noun| noun.side_rows());
        StreamKinds::new(kinds.collect(), side_rows.collect())
    }
}

impl<'a> IntoIterator for &'a Nouns {
    type Item = &'a Arc<dyn Noun>;
    type IntoIter = std::slice::Iter<'a, Arc<dyn Noun>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
