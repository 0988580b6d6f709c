//! Answers that were made ready before, put into a message as it is written.
//!
//! rmcp carries an answer as a value and writes it anew for every client; for an answer of megabytes that is all the work
//! there is. So rmcp is given short marks instead, and where the message leaves the process the bytes stand in for them.
//! A mark begins with a number that this process has drawn and that never leaves it, so that nobody can send one.

use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

use app::Prepared;
use bytes::Bytes;
use memchr::{memchr, memmem, memrchr};

use crate::entry::Refused;

/// How long a message that was written may be asked for once more: as long as rmcp keeps it.
const KEPT: Duration = Duration::from_mins(1);
/// How long a message may take until it is written.
const WRITTEN: Duration = Duration::from_mins(10);
/// Bytes that are kept for messages which were written already.
const KEPT_BYTES: usize = 64_000_000;
/// A failure of the server, in JSON-RPC's words.
const INTERNAL_ERROR: i32 = -32603;

/// What every mark begins with.
static DRAWN: LazyLock<String> = LazyLock::new(|| {
    let drawn = || RandomState::new().build_hasher().finish();
    format!("{:016x}{:016x}.", drawn(), drawn())
});
/// The same as it stands in a message.
static OPENING: LazyLock<memmem::Finder<'static>> =
    LazyLock::new(|| memmem::Finder::new(&format!("\"{}", *DRAWN)).into_owned());

/// The documents of the messages under way, the oldest first.
static HELD: Mutex<VecDeque<Slot>> = Mutex::new(VecDeque::new());
/// How many those are, so that whoever writes a message need not look for marks where there are none.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// No two documents ever have the same number: a message may be asked for once more.
static NEXT: AtomicU64 = AtomicU64::new(1);

struct Slot {
    number: u64,
    prepared: Prepared,
    used_at: Instant,
    /// Messages that have not been written.
    waiting: usize,
}

/// The marks that stand for a document in one message.
pub(crate) struct Marks {
    /// For the document in quotes.
    pub text: String,
    /// For the document itself.
    pub json: String,
}

/// Holds a document until the message that it belongs to has been written.
pub(crate) fn hold(prepared: &Prepared) -> Marks {
    let (mut held, now) = (HELD.lock().unwrap_or_else(PoisonError::into_inner), Instant::now());
    let number = if let Some(slot) = held.iter_mut().find(|slot| slot.prepared.is(prepared)) {
        (slot.used_at, slot.waiting) = (now, slot.waiting + 1);
        slot.number
    } else {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        held.push_back(Slot { number, prepared: prepared.clone(), used_at: now, waiting: 1 });
        number
    };
    let mut bytes: usize = held.iter().filter(|slot| slot.waiting == 0).map(Slot::bytes).sum();
    held.retain(|slot| {
        let age = now.duration_since(slot.used_at);
        let is_kept = match slot.waiting {
            0 => age < KEPT && bytes <= KEPT_BYTES,
            _ => age < WRITTEN,
        };
        if !is_kept && slot.waiting == 0 {
            bytes -= slot.bytes();
        }
        is_kept
    });
    COUNT.store(held.len(), Ordering::Release);
    Marks { text: format!("{}{number}.t", *DRAWN), json: format!("{}{number}.j", *DRAWN) }
}

impl Slot {
    fn bytes(&self) -> usize {
        self.prepared.json().len()
    }
}

/// Whether a message may have marks in it.
pub(crate) fn is_holding() -> bool {
    COUNT.load(Ordering::Acquire) > 0
}

/// A message as it is sent, in pieces. `None` if it has no marks, which is nearly always.
pub(crate) fn fill(message: &Bytes) -> Option<Vec<Bytes>> {
    if !is_holding() {
        return None;
    }
    let mut pieces = Vec::new();
    let (mut from, mut filled) = (0, None);
    for at in OPENING.find_iter(message) {
        let Some(mark) = Mark::read(&message[at..]) else { continue };
        let Some(prepared) = filled.take().or_else(|| document(mark.number)) else {
            return Some(vec![gone(message, at)]);
        };
        pieces.push(message.slice(from..at));
        pieces.push(if mark.is_text { prepared.quoted().clone() } else { prepared.json().clone() });
        (from, filled) = (at + mark.length, Some(prepared));
    }
    if pieces.is_empty() {
        return None;
    }
    pieces.push(message.slice(from..));
    Some(pieces)
}

/// The document of a mark, for a message that is written now.
fn document(number: u64) -> Option<Prepared> {
    let mut held = HELD.lock().unwrap_or_else(PoisonError::into_inner);
    let slot = held.iter_mut().find(|slot| slot.number == number)?;
    slot.waiting = slot.waiting.saturating_sub(1);
    Some(slot.prepared.clone())
}

/// A mark in a message, with its quotes.
struct Mark {
    number: u64,
    is_text: bool,
    length: usize,
}

impl Mark {
    fn read(message: &[u8]) -> Option<Self> {
        let opening = 1 + DRAWN.len();
        let length = opening + memchr(b'"', &message[opening..])?;
        let (number, kind) = std::str::from_utf8(&message[opening..length]).ok()?.split_once('.')?;
        Some(Self { number: number.parse().ok()?, is_text: kind == "t", length: length + 1 })
    }
}

/// A message that is asked for once more, and long after: its document is not kept any more. The line with the mark
/// becomes an error; the lines around it, in a stream of events, stay.
fn gone(message: &Bytes, at: usize) -> Bytes {
    let from = memrchr(b'\n', &message[..at]).map_or(0, |newline| newline + 1);
    let to = memchr(b'\n', &message[at..]).map_or(message.len(), |newline| at + newline);
    let line = &message[from..to];
    let (label, json) = line.split_at(memchr(b'{', line).unwrap_or_default());
    let words = "this answer was sent long ago and is not kept any more: send the request again";
    let refused = Refused::new(INTERNAL_ERROR, words).answering(json);
    [&message[..from], label, &refused.to_json(), &message[to..]].concat().into()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn prepared(value: &Value) -> Prepared {
        Prepared::plain(value.to_string().into())
    }

    fn message(marks: &Marks) -> Value {
        json!({"id": 7, "result": {"content": [{"text": marks.text}], "structuredContent": marks.json}})
    }

    #[test]
    fn a_document_stands_where_its_marks_stood() {
        let document = json!({"name": "\"Sol\"\n", "mass": 1.5});
        let marks = hold(&prepared(&document));
        let line = Bytes::from(format!("id: 1\ndata: {}\n\n", message(&marks)));
        let sent = fill(&line).unwrap().concat();
        let sent = std::str::from_utf8(&sent).unwrap();
        let sent = sent.strip_prefix("id: 1\ndata: ").unwrap().strip_suffix("\n\n").unwrap();
        let sent: Value = serde_json::from_str(sent).unwrap();
        let text = Value::from(document.to_string());
        assert_eq!(sent["result"], json!({"content": [{"text": text}], "structuredContent": document}));
    }

    #[test]
    fn what_has_no_mark_is_left_alone() {
        hold(&prepared(&json!({})));
        assert!(fill(&Bytes::from_static(b"{\"id\":1,\"result\":{}}")).is_none());
        let opened = Bytes::from(format!("{{\"text\":\"{}nothing\"}}", *DRAWN));
        assert!(fill(&opened).is_none());
    }

    #[test]
    fn a_document_that_is_gone_is_an_error_that_says_so() {
        let marks = hold(&prepared(&json!({"some": "other"})));
        let gone = message(&marks).to_string().replace(&marks.text, &format!("{}{}.t", *DRAWN, u64::MAX));
        let line = Bytes::from(format!("event: message\nid: 3\ndata: {gone}\n\n"));
        let sent = fill(&line).unwrap().concat();
        let sent = std::str::from_utf8(&sent).unwrap();
        assert!(sent.starts_with("event: message\nid: 3\ndata: {") && sent.ends_with("}\n\n"), "{sent}");
        let error: Value = serde_json::from_str(sent.split("data: ").nth(1).unwrap().trim()).unwrap();
        assert_eq!((&error["id"], &error["error"]["code"]), (&json!(7), &json!(INTERNAL_ERROR)));
    }
}
