//! Inserts pre-rendered JSON answers into MCP messages as they are written.
//!
//! rmcp carries an answer as a value and serialises it again for every client; for an answer of megabytes that is most
//! of the work. So rmcp gets short placeholders instead, which are replaced by the bytes where the message leaves the
//! process. A placeholder begins with a random number that never leaves this process, so that nobody can send one.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use memchr::{memchr, memmem, memrchr};
use skald_app::Prepared;

use crate::message_scan::RefusedMessage;

/// How long a document is held for its message. Most are written at once; some never, because the client has left.
const WRITTEN: Duration = Duration::from_mins(1);
/// Bytes of all held documents. Above it the oldest is dropped, and its message becomes an error.
const HELD_BYTES: usize = 128_000_000;
/// Documents above this size are quoted on a blocking thread.
const LONG: usize = 100_000;
/// JSON-RPC's code for an internal error.
const INTERNAL_ERROR: i32 = -32603;

/// The random prefix of every mark.
static DRAWN: LazyLock<String> = LazyLock::new(|| {
    let drawn = || getrandom::u64().expect("the operating system gives randomness");
    format!("{:016x}{:016x}.", drawn(), drawn())
});
/// Finds the prefix, after a quote, in a message.
static OPENING: LazyLock<memmem::Finder<'static>> =
    LazyLock::new(|| memmem::Finder::new(&format!("\"{}", *DRAWN)).into_owned());

/// The documents of unwritten messages, oldest first.
static HELD: Mutex<VecDeque<PlaceholderSlot>> = Mutex::new(VecDeque::new());
/// How many documents are held. At zero, messages are not searched for marks.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// The number of the next message. Numbers are never reused.
static NEXT: AtomicU64 = AtomicU64::new(1);

struct PlaceholderSlot {
    prepared: Prepared,
    /// The messages that contain the document.
    messages: Vec<u64>,
}

/// The marks that stand for a document in one message.
pub(crate) struct Marks {
    /// The mark for the document as a JSON string.
    pub text: String,
    /// The mark for the document as JSON.
    pub json: String,
    number: u64,
}

/// Holds a document until its message is written or the timeout has passed.
pub(crate) fn hold(prepared: &Prepared) -> Marks {
    let marks = marks(prepared);
    let number = marks.number;
    tokio::spawn(async move {
        tokio::time::sleep(WRITTEN).await;
        forget(number);
    });
    marks
}

/// Quotes a large document on a blocking thread, so that writing its message does not block the runtime.
pub(crate) async fn ready(prepared: &Prepared) {
    if prepared.json_len() > LONG {
        let prepared = prepared.clone();
        // If this fails, `fill_marks` quotes it.
        let _ = tokio::task::spawn_blocking(move || prepared.quoted().len()).await;
    }
}

fn marks(prepared: &Prepared) -> Marks {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut held = held();
    match held.iter_mut().find(|slot| slot.prepared.is(prepared)) {
        Some(slot) => slot.messages.push(number),
        None => held.push_back(PlaceholderSlot { prepared: prepared.clone(), messages: vec![number] }),
    }
    let mut bytes: usize = held.iter().map(|slot| slot.prepared.json_len()).sum();
    while bytes > HELD_BYTES && held.len() > 1 {
        bytes -= held.pop_front().map_or(0, |slot| slot.prepared.json_len());
    }
    COUNT.store(held.len(), Ordering::Release);
    Marks { text: format!("{}{number}.t", *DRAWN), json: format!("{}{number}.j", *DRAWN), number }
}

/// Removes a message, and its document if no other message contains it.
fn forget(number: u64) -> Option<Prepared> {
    let mut held = held();
    let at = held.iter().position(|slot| slot.messages.contains(&number))?;
    let slot = &mut held[at];
    slot.messages.retain(|message| *message != number);
    let prepared = slot.prepared.clone();
    if slot.messages.is_empty() {
        held.remove(at);
    }
    COUNT.store(held.len(), Ordering::Release);
    Some(prepared)
}

fn held() -> MutexGuard<'static, VecDeque<PlaceholderSlot>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether any message can contain marks.
pub(crate) fn is_holding() -> bool {
    COUNT.load(Ordering::Acquire) > 0
}

/// The message with its marks replaced, in pieces. `None` if it has no marks, which is the usual case.
pub(crate) fn fill(message: &Bytes) -> Option<Vec<Bytes>> {
    if !is_holding() {
        return None;
    }
    let mut pieces = Vec::new();
    let (mut from, mut known): (usize, Option<(u64, Prepared)>) = (0, None);
    for at in OPENING.find_iter(message) {
        let Some(mark) = PlaceholderMark::read(&message[at..]) else { continue };
        // A message contains both of its marks, and the first one has already released the document.
        let (_, prepared) = match known.take().filter(|(number, _)| *number == mark.number) {
            Some(known) => known,
            None => match forget(mark.number) {
                Some(prepared) => (mark.number, prepared),
                None => return Some(vec![gone(message, at)]),
            },
        };
        pieces.push(message.slice(from..at));
        pieces.append(&mut if mark.is_text { prepared.quoted() } else { prepared.json() });
        (from, known) = (at + mark.length, Some((mark.number, prepared)));
    }
    if pieces.is_empty() {
        return None;
    }
    pieces.push(message.slice(from..));
    Some(pieces)
}

/// A mark in a message, with its quotes.
struct PlaceholderMark {
    number: u64,
    is_text: bool,
    length: usize,
}

impl PlaceholderMark {
    fn read(message: &[u8]) -> Option<Self> {
        let opening = 1 + DRAWN.len();
        let length = opening + memchr(b'"', &message[opening..])?;
        let (number, kind) = std::str::from_utf8(&message[opening..length]).ok()?.split_once('.')?;
        Some(Self { number: number.parse().ok()?, is_text: kind == "t", length: length + 1 })
    }
}

/// Replaces the line with a mark by an error, because its document is no longer held: the message is sent again, or
/// very late. Other lines of an event stream stay.
fn gone(message: &Bytes, at: usize) -> Bytes {
    let from = memrchr(b'\n', &message[..at]).map_or(0, |newline| newline + 1);
    let to = memchr(b'\n', &message[at..]).map_or(message.len(), |newline| at + newline);
    let line = &message[from..to];
    let (label, json) = line.split_at(memchr(b'{', line).unwrap_or_default());
    let words = "this answer is not held any more: send the request again";
    let refused = RefusedMessage::new(INTERNAL_ERROR, words).answering(json);
    [&message[..from], label, &refused.to_json(), &message[to..]].concat().into()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The held documents are global, so tests run one at a time.
    static ALONE: Mutex<()> = Mutex::new(());

    fn alone() -> MutexGuard<'static, ()> {
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn prepared(value: &Value) -> Prepared {
        Prepared::plain(value.to_string().into())
    }

    fn message(marks: &Marks) -> Value {
        json!({"id": 7, "result": {"content": [{"text": marks.text}], "structuredContent": marks.json}})
    }

    #[test]
    fn a_document_stands_where_its_marks_stood() {
        let _alone = alone();
        let document = json!({"name": "\"Sol\"\n", "mass": 1.5});
        let marks = marks(&prepared(&document));
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
        let _alone = alone();
        marks(&prepared(&json!({})));
        assert!(fill(&Bytes::from_static(b"{\"id\":1,\"result\":{}}")).is_none());
        let opened = Bytes::from(format!("{{\"text\":\"{}nothing\"}}", *DRAWN));
        assert!(fill(&opened).is_none());
    }

    #[test]
    fn each_mark_is_its_own_documents() {
        let _alone = alone();
        let [one, other] = [1, 2].map(|number| marks(&prepared(&json!({"number": number}))));
        let both = Bytes::from(format!("[{},{}]", message(&one), message(&other)));
        let sent: Value = serde_json::from_slice(&fill(&both).unwrap().concat()).unwrap();
        for (at, number) in [(0, 1), (1, 2)] {
            assert_eq!(sent[at]["result"]["structuredContent"]["number"], number);
            assert_eq!(sent[at]["result"]["content"][0]["text"], json!({"number": number}).to_string());
        }
    }

    #[test]
    fn a_document_is_held_for_each_message_and_no_longer() {
        let _alone = alone();
        let document = prepared(&json!({"held": true}));
        let [first, second] = [(); 2].map(|()| marks(&document));
        let is_held = || held().iter().any(|slot| slot.prepared.is(&document));
        assert!(fill(&Bytes::from(message(&first).to_string())).is_some() && is_held());
        assert!(fill(&Bytes::from(message(&second).to_string())).is_some() && !is_held());
        let again = fill(&Bytes::from(message(&second).to_string()));
        assert!(again.is_none_or(|pieces| pieces.concat().windows(7).any(|text| text == b"\"error\"")));
    }

    #[test]
    fn what_is_never_written_has_a_bound() {
        let _alone = alone();
        let large = || Prepared::plain(vec![b' '; HELD_BYTES / 4].into());
        let all: Vec<_> = (0..8)
            .map(|_| {
                let document = large();
                marks(&document);
                document
            })
            .collect();
        let bytes: usize = held().iter().map(|slot| slot.prepared.json_len()).sum();
        assert!(bytes <= HELD_BYTES, "{bytes}");
        drop(all);
    }

    #[test]
    fn a_document_that_is_gone_is_an_error_that_says_so() {
        let _alone = alone();
        let marks = marks(&prepared(&json!({"some": "other"})));
        let gone = message(&marks).to_string().replace(&marks.text, &format!("{}{}.t", *DRAWN, u64::MAX));
        let line = Bytes::from(format!("event: message\nid: 3\ndata: {gone}\n\n"));
        let sent = fill(&line).unwrap().concat();
        let sent = std::str::from_utf8(&sent).unwrap();
        assert!(sent.starts_with("event: message\nid: 3\ndata: {") && sent.ends_with("}\n\n"), "{sent}");
        let error: Value = serde_json::from_str(sent.split("data: ").nth(1).unwrap().trim()).unwrap();
        assert_eq!((&error["id"], &error["error"]["code"]), (&json!(7), &json!(INTERNAL_ERROR)));
    }
}
