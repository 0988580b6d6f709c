//! `IndexedNotes`, a small noun for tests of the search index: notes with a name and a text, which may be in a side row.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::json;
use skald_domain::decider::{Decider, DecisionContext};
use skald_journal::search_tokens::query_terms;
use skald_journal::{
    Document, Journal, ReadModelChange, RegisteredKind, SearchBody, SearchClass, SearchHit, SearchQuery, SearchText,
    SideRow, SideRowCheck, StreamKind, StreamKinds, StreamName, Streams, Submission, WholeSnapshot,
};

use crate::tally::given;

pub(crate) const COLLECTION: &str = "notes";
/// What a game master and a player may see.
pub(crate) const GAME_MASTER: &[SearchClass] = &[SearchClass::Public, SearchClass::Members, SearchClass::GameMaster];
pub(crate) const PLAYER: &[SearchClass] = &[SearchClass::Public, SearchClass::Members];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct IndexedNote {
    pub(crate) serial: u32,
    pub(crate) class: u8,
    pub(crate) name: String,
    pub(crate) extra: String,
    pub(crate) text: NoteText,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum NoteText {
    Inline(String),
    /// The key of a side row.
    Key(String),
    /// The note is not indexed.
    NotIndexed,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum NoteEvent {
    Written(IndexedNote),
    Removed(u32),
    /// Removes a note together with its text.
    Purged {
        serial: u32,
        key: String,
    },
}

pub(crate) struct NoteRules;

impl Decider for NoteRules {
    type Command = NoteEvent;
    type Event = NoteEvent;
    type Refusal = ();
    type State = BTreeMap<u32, IndexedNote>;

    fn decide(_: &Self::State, command: &NoteEvent, _: &DecisionContext) -> Result<Vec<NoteEvent>, ()> {
        Ok(vec![command.clone()])
    }

    fn evolve(mut state: Self::State, event: &NoteEvent, _: &DecisionContext) -> Self::State {
        match event {
            NoteEvent::Written(note) => drop(state.insert(note.serial, note.clone())),
            NoteEvent::Removed(serial) | NoteEvent::Purged { serial, .. } => drop(state.remove(serial)),
        }
        state
    }
}

pub(crate) struct IndexedNotes;

pub(crate) fn texts_kind(stream: &StreamName) -> String {
    format!("texts/{}", stream.id())
}

impl StreamKind for IndexedNotes {
    type Rules = NoteRules;
    const NAME: &'static str = "notes";
    const SNAPSHOT_VERSION: u32 = 1;
    const USES_SNAPSHOTS: bool = true;
    type Parts = WholeSnapshot<BTreeMap<u32, IndexedNote>>;
    type ReadCache = ();

    fn next_read_cache((): &()) {}

    fn event_kind(event: &NoteEvent) -> &'static str {
        match event {
            NoteEvent::Written(_) => "written",
            NoteEvent::Removed(_) => "removed",
            NoteEvent::Purged { .. } => "purged",
        }
    }

    fn read_model_changes(
        stream: &StreamName,
        _: &BTreeMap<u32, IndexedNote>,
        events: &[NoteEvent],
    ) -> Vec<ReadModelChange> {
        let id = |serial: &u32| format!("{}/{serial}", stream.id());
        let change = |event: &NoteEvent| match event {
            NoteEvent::Written(note) => ReadModelChange::Put(Document {
                collection: COLLECTION.to_owned(),
                partition: stream.id().to_owned(),
                id: id(&note.serial),
                rank: 0,
                body: json!({"name": note.name}).to_string(),
                search: search_text(stream, note),
            }),
            NoteEvent::Removed(serial) | NoteEvent::Purged { serial, .. } => {
                ReadModelChange::Delete { collection: COLLECTION.to_owned(), id: id(serial) }
            }
        };
        events.iter().map(change).collect()
    }

    fn referenced_side_rows(
        stream: &StreamName,
        state: &BTreeMap<u32, IndexedNote>,
    ) -> Vec<(Cow<'static, str>, String)> {
        let keys = state.values().filter_map(|note| match &note.text {
            NoteText::Key(key) => Some(key.clone()),
            NoteText::Inline(_) | NoteText::NotIndexed => None,
        });
        keys.map(|key| (texts_kind(stream).into(), key)).collect()
    }

    fn removed_side_rows(stream: &StreamName, events: &[NoteEvent]) -> Vec<(String, String)> {
        let keys = events.iter().filter_map(|event| match event {
            NoteEvent::Purged { key, .. } => Some(key.clone()),
            NoteEvent::Written(_) | NoteEvent::Removed(_) => None,
        });
        keys.map(|key| (texts_kind(stream), key)).collect()
    }
}

fn search_text(stream: &StreamName, note: &IndexedNote) -> Option<SearchText> {
    let body = match &note.text {
        NoteText::Inline(text) if text.is_empty() => SearchBody::None,
        NoteText::Inline(text) => SearchBody::Text(text.clone()),
        NoteText::Key(key) => SearchBody::SideRow { kind: texts_kind(stream), key: key.clone(), fields: &["markdown"] },
        NoteText::NotIndexed => return None,
    };
    let (name, extra) = (note.name.clone(), note.extra.clone());
    Some(SearchText { serial: note.serial, class: SearchClass::from_number(note.class.into()), name, extra, body })
}

pub(crate) fn note_kinds() -> StreamKinds {
    StreamKinds::new(vec![RegisteredKind::new::<IndexedNotes>()], vec![("texts/", SideRowCheck::NotCovered)])
}

/// A public note with a text of its own.
pub(crate) fn note(serial: u32, text: &str) -> IndexedNote {
    let text = NoteText::Inline(text.to_owned());
    IndexedNote { serial, class: 0, name: String::new(), extra: String::new(), text }
}

/// The notes of one campaign in a journal.
pub(crate) struct Notebook {
    pub(crate) journal: Arc<dyn Journal>,
    pub(crate) stream: StreamName,
    streams: Streams<IndexedNotes>,
}

impl Notebook {
    pub(crate) fn new(journal: &Arc<dyn Journal>, campaign: &str) -> Self {
        let stream = StreamName::new(IndexedNotes::NAME, campaign);
        Self { journal: Arc::clone(journal), stream, streams: Streams::new(Arc::clone(journal)) }
    }

    pub(crate) async fn execute(&self, event: NoteEvent, side_rows: Vec<SideRow>) {
        let submission = Submission { side_rows, ..Submission::new(event, given()) };
        assert!(self.streams.execute(&self.stream, submission).await.is_ok());
    }

    /// Writes notes, all at once.
    pub(crate) async fn write(&self, notes: impl IntoIterator<Item = IndexedNote>) {
        let writes = notes.into_iter().map(|note| self.execute(NoteEvent::Written(note), Vec::new()));
        futures::future::join_all(writes).await;
    }

    pub(crate) fn text_row(&self, key: &str, markdown: &str) -> SideRow {
        let body = json!({"salt": "0", "markdown": markdown}).to_string().into();
        SideRow { kind: texts_kind(&self.stream).into(), key: key.to_owned(), body }
    }

    pub(crate) fn query(&self, text: &str, classes: &[SearchClass]) -> SearchQuery {
        SearchQuery {
            collection: COLLECTION.to_owned(),
            partition: self.stream.id().to_owned(),
            classes: classes.to_vec(),
            terms: query_terms(text),
            below: None,
            within: None,
            limit: 100,
            accepts: Arc::new(|_| true),
        }
    }

    pub(crate) async fn search(&self, text: &str, classes: &[SearchClass]) -> Vec<SearchHit> {
        self.journal.search(self.query(text, classes)).await.unwrap()
    }

    /// The serials that a game master finds.
    pub(crate) async fn find(&self, text: &str) -> Vec<u32> {
        serials(&self.search(text, GAME_MASTER).await)
    }
}

pub(crate) fn serials(hits: &[SearchHit]) -> Vec<u32> {
    hits.iter().map(|hit| hit.serial).collect()
}
