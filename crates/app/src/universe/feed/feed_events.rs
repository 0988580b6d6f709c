//! The named events of a universe's record, with their JSON encoded once for all readers. `http` writes them as SSE.

use crate::universe::UniverseStream;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use serde_json::json;
use skald_domain::universe::{Created, Renamed, Replaced, UniverseEvent, UniverseState};

use skald_journal::{Record, parse_events};

/// A reader's position: all of a revision, and perhaps the first parts of the next. It is written as `7` or `7.2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FeedPosition {
    pub revision: u64,
    pub part: usize,
}

impl FeedPosition {
    pub(super) fn after_revision(revision: u64) -> Self {
        Self { revision, part: 0 }
    }

    /// Parses a position, accepting only the spelling that `Display` writes.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (revision, part) = match text.split_once('.') {
            Some((revision, part)) => (revision, part.parse().ok().filter(|part| *part > 0)?),
            None => (text, 0),
        };
        let position = Self { revision: revision.parse().ok()?, part };
        (position.to_string() == text).then_some(position)
    }
}

impl fmt::Display for FeedPosition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            0 => write!(formatter, "{}", self.revision),
            part => write!(formatter, "{}.{part}", self.revision),
        }
    }
}

/// One event of a feed. Clones share the data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEvent {
    /// The name of the event, such as `command`.
    pub name: &'static str,
    /// The position after it, from which a reader can continue; `None` for the event that ends a dropped reader.
    pub id: Option<String>,
    /// JSON in one line.
    pub data: Bytes,
}

impl FeedEvent {
    fn new(name: &'static str, id: Option<FeedPosition>, data: &impl Serialize) -> Self {
        let data = serde_json::to_vec(data).expect("what was read from JSON is JSON");
        Self { name, id: id.map(|id| id.to_string()), data: data.into() }
    }

    /// The last event for a reader that is dropped.
    pub(super) fn new_dropped(reason: &str, position: FeedPosition) -> Self {
        Self::new("dropped", None, &json!({"reason": reason, "lastEventId": position.to_string()}))
    }
}

/// Events of one record. Readers share them.
#[derive(Debug, Clone)]
pub struct FeedEvents {
    record: Arc<RecordEvents>,
    /// How many of them this reader already has.
    received_count: usize,
}

impl FeedEvents {
    pub fn iter(&self) -> impl Iterator<Item = &FeedEvent> {
        self.record.events.iter().skip(self.received_count)
    }
}

/// All events of one record.
#[derive(Debug)]
pub(super) struct RecordEvents {
    pub revision: u64,
    /// Whether the feed ends after this record.
    pub is_last: bool,
    events: Vec<FeedEvent>,
}

impl RecordEvents {
    pub(super) fn from_record(record: &Record) -> Self {
        let Record { revision, stream, .. } = record;
        match parse_events::<UniverseStream>(record) {
            Ok(events) => Self::from_events(*revision, &events, stream.id()),
            Err(error) => {
                tracing::error!(%stream, revision, error, "a record cannot be sent");
                let before = FeedPosition::after_revision(revision.saturating_sub(1));
                let why = format!("revision {revision} was written by another version of the server");
                Self { revision: *revision, is_last: true, events: vec![FeedEvent::new_dropped(&why, before)] }
            }
        }
    }

    /// Numbers the events: the last one has the revision as its id; those before it have the revision before and a
    /// part.
    fn from_events(revision: u64, events: &[UniverseEvent], universe_id: &str) -> Self {
        let mut parts = UnnumberedEvents::default();
        for event in events {
            parts.add(event, universe_id);
        }
        let count = parts.parts.len();
        let events = parts.parts.into_iter().enumerate().map(|(at, event)| {
            let id = if at + 1 == count {
                FeedPosition::after_revision(revision)
            } else {
                FeedPosition { revision: revision.saturating_sub(1), part: at + 1 }
            };
            FeedEvent { id: Some(id.to_string()), ..event }
        });
        Self { revision, is_last: parts.is_last, events: events.collect() }
    }

    /// The bytes of its data.
    pub(super) fn data_bytes(&self) -> usize {
        self.events.iter().map(|event| event.data.len()).sum()
    }

    /// The number of events with an id.
    pub(super) fn id_count(&self) -> usize {
        self.events.iter().filter(|event| event.id.is_some()).count()
    }

    /// The events that are left for a reader that has the first `part` of them; `None` if there are none.
    pub(super) fn events_after(self: &Arc<Self>, part: usize) -> Option<FeedEvents> {
        (part < self.events.len()).then(|| FeedEvents { record: Arc::clone(self), received_count: part })
    }
}

#[derive(Serialize)]
struct StateReplaced<'a> {
    /// All nine keys, the time included.
    state: &'a UniverseState,
}

/// Events of a record before they are numbered, which needs their count.
#[derive(Default)]
struct UnnumberedEvents {
    parts: Vec<FeedEvent>,
    is_last: bool,
}

impl UnnumberedEvents {
    fn add(&mut self, event: &UniverseEvent, universe_id: &str) {
        match event {
            UniverseEvent::Commanded(commanded) => self.push("command", &*commanded.command),
            UniverseEvent::Renamed(Renamed { name }) => self.push("renamed", &json!({"name": name})),
            UniverseEvent::Replaced(Replaced { name, state }) => {
                if let Some(name) = name {
                    self.push("renamed", &json!({"name": name}));
                }
                self.add_state(state.as_ref());
            }
            UniverseEvent::Created(Created { name, state, .. }) => {
                self.push("created", &json!({"universeId": universe_id, "name": name}));
                self.add_state(state.as_ref());
            }
            UniverseEvent::Deleted(_) => {
                self.push("deleted", &json!({"universeId": universe_id}));
                self.is_last = true;
            }
        }
    }

    /// A whole state has an event name of its own. A web page that saves its state listens to `command`; it would apply
    /// its own saved state as another user's command and lose all edits made since.
    fn add_state(&mut self, state: Option<&UniverseState>) {
        if let Some(state) = state {
            self.push("stateReplaced", &StateReplaced { state });
        }
    }

    fn push(&mut self, name: &'static str, data: &impl Serialize) {
        self.parts.push(FeedEvent::new(name, None, data));
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use skald_journal::{Head, StreamName};

    fn record_events(revision: u64, body: &str) -> Arc<RecordEvents> {
        let head = Head { revision: revision - 1, hash: [0; 32] };
        let stream = StreamName::new("universe", "u-1");
        let record = Record::next(&stream, head, "kind", Timestamp::UNIX_EPOCH, "owner", body.to_owned());
        Arc::new(RecordEvents::from_record(&record))
    }

    /// Name, id and data of each remaining event.
    fn remaining_events(
        record_events: &Arc<RecordEvents>,
        received_count: usize,
    ) -> Vec<(&'static str, Option<String>, String)> {
        let left = record_events.events_after(received_count);
        let text = |event: &FeedEvent| String::from_utf8(event.data.to_vec()).expect("text");
        left.iter().flat_map(FeedEvents::iter).map(|event| (event.name, event.id.clone(), text(event))).collect()
    }

    fn expected_event(name: &'static str, id: &str, data: &str) -> (&'static str, Option<String>, String) {
        (name, Some(id.to_owned()), data.to_owned())
    }

    #[test]
    fn a_position_reads_back_and_nothing_else_does() {
        for right in ["0", "7", "7.2", "18446744073709551615"] {
            assert_eq!(FeedPosition::parse(right).map(|position| position.to_string()).as_deref(), Some(right));
        }
        for wrong in
            ["", "x", "-1", "+1", "01", "7.", "7.0", ".1", "7.1.1", " 7", "7.01", "1e3", "18446744073709551616"]
        {
            assert_eq!(FeedPosition::parse(wrong), None, "{wrong}");
        }
        assert!(FeedPosition { revision: 7, part: 2 } < FeedPosition::after_revision(8));
    }

    #[test]
    fn a_batch_is_sent_in_parts_and_can_be_resumed_within() {
        let tick = r#"{"type":"universe.commanded.v1","command":{"type":"tick","dt":1}}"#;
        let events = record_events(8, &format!("[{tick},{tick},{tick}]"));
        let whole = ["7.1", "7.2", "8"].map(|id| expected_event("command", id, r#"{"type":"tick","dt":1}"#));
        for received_count in 0..=3 {
            assert_eq!(remaining_events(&events, received_count), whole[received_count..], "after {received_count}");
        }
    }

    #[test]
    fn what_is_no_command_has_a_name_of_its_own() {
        let renamed = record_events(2, r#"[{"type":"universe.renamed.v1","name":"a\nb"}]"#);
        assert_eq!(
            remaining_events(&renamed, 0),
            [expected_event("renamed", "2", r#"{"name":"a\nb"}"#)],
            "in one line"
        );
        let replaced = remaining_events(
            &record_events(3, r#"[{"type":"universe.replaced.v1","name":"b","state":{"time":42}}]"#),
            0,
        );
        assert_eq!(replaced[0], expected_event("renamed", "2.1", r#"{"name":"b"}"#));
        let (name, id, data) = &replaced[1];
        assert_eq!((*name, id.as_deref(), replaced.len()), ("stateReplaced", Some("3"), 2));
        assert!(data.starts_with(r#"{"state":{"stars":{}"#) && data.ends_with(r#""time":42}}"#), "{data}");
        let command = r#"{"type":"replaceSnapshot","snapshot":{"stars":{},"rootIds":[]}}"#;
        let commanded = remaining_events(
            &record_events(4, &format!(r#"[{{"type":"universe.commanded.v1","command":{command}}}]"#)),
            0,
        );
        assert_eq!((commanded[0].0, commanded[0].1.as_deref()), ("command", Some("4")));
        assert!(commanded[0].2.starts_with(r#"{"type":"replaceSnapshot""#), "{commanded:?}");
        let deleted = record_events(4, r#"[{"type":"universe.deleted.v1"}]"#);
        assert!(deleted.is_last);
        assert_eq!(remaining_events(&deleted, 0), [expected_event("deleted", "4", r#"{"universeId":"u-1"}"#)]);
    }

    #[test]
    fn a_record_that_cannot_be_read_ends_the_stream_before_it() {
        let events = record_events(5, r#"[{"type":"universe.split.v9"}]"#);
        let left = remaining_events(&events, 0);
        assert!(events.is_last && events.id_count() == 0);
        assert_eq!((left[0].0, &left[0].1, left.len()), ("dropped", &None, 1));
        assert!(left[0].2.contains(r#""lastEventId":"4""#), "{left:?}");
    }
}
