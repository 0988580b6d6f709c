//! What a record of a universe tells those who follow it, as `text/event-stream`.
//!
//! The one place in this room that writes a wire format: made here, it is made once for all readers, and a reader costs
//! a look at the same bytes.

use crate::universe::UniverseStream;
use std::fmt::{self, Write};

use bytes::Bytes;
use serde::Serialize;
use serde_json::json;
use skald_domain::universe::{Created, Renamed, Replaced, UniverseEvent, UniverseState};

use skald_journal::{Record, events};

/// How far a reader has heard: all of a revision, and perhaps the first parts of the next. It reads `7` or `7.2`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Position {
    pub revision: u64,
    pub part: usize,
}

impl Position {
    pub(super) fn after(revision: u64) -> Self {
        Self { revision, part: 0 }
    }

    /// A position as it was told, and in no other spelling.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (revision, part) = match text.split_once('.') {
            Some((revision, part)) => (revision, part.parse().ok().filter(|part| *part > 0)?),
            None => (text, 0),
        };
        let position = Self { revision: revision.parse().ok()?, part };
        (position.to_string() == text).then_some(position)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            0 => write!(formatter, "{}", self.revision),
            part => write!(formatter, "{}.{part}", self.revision),
        }
    }
}

/// All that one record tells.
#[derive(Debug)]
pub(super) struct Told {
    pub revision: u64,
    /// Nothing comes after it.
    pub is_last: bool,
    bytes: Bytes,
    /// Where each part ends.
    ends: Vec<usize>,
}

impl Told {
    pub(super) fn by(record: &Record) -> Self {
        let mut parts = Parts::default();
        match events::<UniverseStream>(record) {
            Ok(events) => events.iter().for_each(|event| parts.add(event, record.stream.id())),
            Err(error) => {
                tracing::error!(stream = %record.stream, revision = record.revision, error, "a record cannot be told");
                let before = Position::after(record.revision.saturating_sub(1));
                let why = format!("revision {} was written by another version of the server", record.revision);
                return Self {
                    revision: record.revision,
                    is_last: true,
                    bytes: dropped(&why, before),
                    ends: Vec::new(),
                };
            }
        }
        parts.numbered(record.revision)
    }

    /// How much there is of it.
    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Of how many parts it is.
    pub(super) fn parts(&self) -> usize {
        self.ends.len()
    }

    /// What is left of it for a reader who has heard its first parts.
    pub(super) fn beyond(&self, part: usize) -> Bytes {
        let begin = part.checked_sub(1).and_then(|at| self.ends.get(at)).copied().unwrap_or_default();
        self.bytes.slice(begin..)
    }
}

/// The last words to a reader who is given up.
pub(super) fn dropped(reason: &str, heard: Position) -> Bytes {
    let data = json!({"reason": reason, "lastEventId": heard.to_string()});
    format!("event: dropped\ndata: {data}\n\n").into()
}

#[derive(Serialize)]
struct StateReplaced<'a> {
    /// All nine keys, the time included.
    state: &'a UniverseState,
}

/// What is told, before it is known how many parts it is of.
#[derive(Default)]
struct Parts {
    parts: Vec<(&'static str, String)>,
    is_last: bool,
}

impl Parts {
    fn add(&mut self, event: &UniverseEvent, universe_id: &str) {
        match event {
            UniverseEvent::Commanded(commanded) => self.push("command", &*commanded.command),
            UniverseEvent::Renamed(Renamed { name }) => self.push("renamed", &json!({"name": name})),
            UniverseEvent::Replaced(Replaced { name, state }) => {
                if let Some(name) = name {
                    self.push("renamed", &json!({"name": name}));
                }
                self.replaced(state.as_ref());
            }
            UniverseEvent::Created(Created { name, state, .. }) => {
                self.push("created", &json!({"universeId": universe_id, "name": name}));
                self.replaced(state.as_ref());
            }
            UniverseEvent::Deleted(_) => {
                self.push("deleted", &json!({"universeId": universe_id}));
                self.is_last = true;
            }
        }
    }

    /// A whole state has an event name of its own. A page that saves its state listens to `command`, and would take its
    /// own state for somebody else's command: what was typed since it was sent would be lost.
    fn replaced(&mut self, state: Option<&UniverseState>) {
        if let Some(state) = state {
            self.push("stateReplaced", &StateReplaced { state });
        }
    }

    fn push(&mut self, event: &'static str, data: &impl Serialize) {
        let data = serde_json::to_string(data).expect("what was read from JSON is JSON");
        self.parts.push((event, data));
    }

    /// The last part has the revision as its id, those before it say how much of it they are.
    fn numbered(self, revision: u64) -> Told {
        let (mut text, mut ends) = (String::new(), Vec::with_capacity(self.parts.len()));
        for (at, (event, data)) in self.parts.iter().enumerate() {
            let id = if at + 1 == self.parts.len() {
                Position::after(revision)
            } else {
                Position { revision: revision.saturating_sub(1), part: at + 1 }
            };
            let _ = write!(text, "event: {event}\nid: {id}\ndata: {data}\n\n");
            ends.push(text.len());
        }
        Told { revision, is_last: self.is_last, bytes: text.into(), ends }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use skald_journal::{Head, StreamName};

    fn told(revision: u64, body: &str) -> Told {
        let head = Head { revision: revision - 1, hash: [0; 32] };
        let stream = StreamName::new("universe", "u-1");
        Told::by(&Record::next(&stream, head, "kind", Timestamp::UNIX_EPOCH, "owner", body.to_owned()))
    }

    fn text(bytes: &Bytes) -> &str {
        std::str::from_utf8(bytes).expect("text")
    }

    #[test]
    fn a_position_reads_back_and_nothing_else_does() {
        for right in ["0", "7", "7.2", "18446744073709551615"] {
            assert_eq!(Position::read(right).map(|position| position.to_string()).as_deref(), Some(right));
        }
        for wrong in
            ["", "x", "-1", "+1", "01", "7.", "7.0", ".1", "7.1.1", " 7", "7.01", "1e3", "18446744073709551616"]
        {
            assert_eq!(Position::read(wrong), None, "{wrong}");
        }
        assert!(Position { revision: 7, part: 2 } < Position::after(8));
    }

    #[test]
    fn a_batch_is_told_in_parts_and_can_be_taken_up_within() {
        let tick = r#"{"type":"universe.commanded.v1","command":{"type":"tick","dt":1}}"#;
        let told = told(8, &format!("[{tick},{tick},{tick}]"));
        let whole = |id: &str| format!("event: command\nid: {id}\ndata: {{\"type\":\"tick\",\"dt\":1}}\n\n");
        assert_eq!(text(&told.beyond(0)), ["7.1", "7.2", "8"].map(whole).concat());
        assert_eq!(text(&told.beyond(1)), ["7.2", "8"].map(whole).concat());
        assert_eq!(text(&told.beyond(2)), whole("8"));
    }

    #[test]
    fn what_is_no_command_has_a_name_of_its_own() {
        let renamed = told(2, r#"[{"type":"universe.renamed.v1","name":"a\nb"}]"#);
        assert_eq!(text(&renamed.beyond(0)), "event: renamed\nid: 2\ndata: {\"name\":\"a\\nb\"}\n\n");
        let replaced = told(3, r#"[{"type":"universe.replaced.v1","name":"b","state":{"time":42}}]"#);
        let replaced = replaced.beyond(0);
        let lines: Vec<&str> = text(&replaced).lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines[..2], ["event: renamed", "id: 2.1"]);
        assert_eq!(lines[3..5], ["event: stateReplaced", "id: 3"]);
        assert!(
            lines[5].starts_with(r#"data: {"state":{"stars":{}"#) && lines[5].ends_with(r#""time":42}}"#),
            "{lines:?}"
        );
        let command = r#"{"type":"replaceSnapshot","snapshot":{"stars":{},"rootIds":[]}}"#;
        let commanded = told(4, &format!(r#"[{{"type":"universe.commanded.v1","command":{command}}}]"#));
        assert!(text(&commanded.beyond(0)).starts_with("event: command\nid: 4\ndata: {\"type\":\"replaceSnapshot\""));
        let deleted = told(4, r#"[{"type":"universe.deleted.v1"}]"#);
        assert!(deleted.is_last);
        assert_eq!(text(&deleted.beyond(0)), "event: deleted\nid: 4\ndata: {\"universeId\":\"u-1\"}\n\n");
    }

    #[test]
    fn a_record_that_cannot_be_read_ends_the_stream_before_it() {
        let told = told(5, r#"[{"type":"universe.split.v9"}]"#);
        let text = told.beyond(0);
        assert!(
            told.is_last && text.starts_with(b"event: dropped\ndata: {") && !text.windows(4).any(|id| id == b"\nid:")
        );
        assert!(String::from_utf8_lossy(&text).contains(r#""lastEventId":"4""#));
    }
}
