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
use skald_app::RenderedJson;

use crate::message_scan::RefusedMessage;

/// How long a document is held for its message. Most are written at once; some never, because the client has left.
const HOLD_TIMEOUT: Duration = Duration::from_mins(1);
/// Bytes of all held documents. Above it the oldest is dropped, and its message becomes an error.
const HELD_BYTES_MAX: usize = 128_000_000;
/// Documents above this size are quoted on a blocking thread.
const QUOTED_INLINE_BYTES_MAX: usize = 100_000;
/// JSON-RPC's code for an internal error.
const INTERNAL_ERROR: i32 = -32603;

/// The random prefix of every mark.
static MARK_PREFIX: LazyLock<String> = LazyLock::new(|| {
    let drawn = || getrandom::u64().expect("the operating system gives randomness");
    format!("{:016x}{:016x}.", drawn(), drawn())
});
/// Finds the prefix, after a quote, in a message.
static QUOTED_PREFIX: LazyLock<memmem::Finder<'static>> =
    LazyLock::new(|| memmem::Finder::new(&format!("\"{}", *MARK_PREFIX)).into_owned());

/// The documents of unwritten messages, oldest first.
static HELD: Mutex<VecDeque<PlaceholderSlot>> = Mutex::new(VecDeque::new());
/// How many documents are held. At zero, messages are not searched for marks.
static HELD_COUNT: AtomicUsize = AtomicUsize::new(0);
/// The number of the next message. Numbers are never reused.
static NEXT_NUMBER: AtomicU64 = AtomicU64::new(1);

struct PlaceholderSlot {
    prepared: RenderedJson,
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
pub(crate) fn hold_document(prepared: &RenderedJson) -> Marks {
    let marks = assign_marks(prepared);
    let number = marks.number;
    tokio::spawn(async move {
        tokio::time::sleep(HOLD_TIMEOUT).await;
        release_message(number);
    });
    marks
}

/// Quotes a large document on a blocking thread, so that writing its message does not block the runtime.
pub(crate) async fn quote_if_large(prepared: &RenderedJson) {
    if prepared.json_len() > QUOTED_INLINE_BYTES_MAX {
        let prepared = prepared.clone();
        // If this fails, `fill_marks` quotes it.
        let _ = tokio::task::spawn_blocking(move || prepared.quoted_json().len()).await;
    }
}

fn assign_marks(prepared: &RenderedJson) -> Marks {
    let number = NEXT_NUMBER.fetch_add(1, Ordering::Relaxed);
    let mut held = lock_held();
    match held.iter_mut().find(|slot| slot.prepared.is_same_document(prepared)) {
        Some(slot) => slot.messages.push(number),
        None => held.push_back(PlaceholderSlot { prepared: prepared.clone(), messages: vec![number] }),
    }
    let mut bytes: usize = held.iter().map(|slot| slot.prepared.json_len()).sum();
    while bytes > HELD_BYTES_MAX && held.len() > 1 {
        bytes -= held.pop_front().map_or(0, |slot| slot.prepared.json_len());
    }
    HELD_COUNT.store(held.len(), Ordering::Release);
    Marks { text: format!("{}{number}.t", *MARK_PREFIX), json: format!("{}{number}.j", *MARK_PREFIX), number }
}

/// Removes a message, and its document if no other message contains it.
fn release_message(number: u64) -> Option<RenderedJson> {
    let mut held = lock_held();
    let at = held.iter().position(|slot| slot.messages.contains(&number))?;
    let slot = &mut held[at];
    slot.messages.retain(|message| *message != number);
    let prepared = slot.prepared.clone();
    if slot.messages.is_empty() {
        held.remove(at);
    }
    HELD_COUNT.store(held.len(), Ordering::Release);
    Some(prepared)
}

fn lock_held() -> MutexGuard<'static, VecDeque<PlaceholderSlot>> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether any message can contain marks.
pub(crate) fn has_held() -> bool {
    HELD_COUNT.load(Ordering::Acquire) > 0
}

/// The message with its marks replaced, in pieces. `None` if it has no marks, which is the usual case.
pub(crate) fn fill_marks(message: &Bytes) -> Option<Vec<Bytes>> {
    if !has_held() {
        return None;
    }
    let mut pieces = Vec::new();
    let (mut from, mut known): (usize, Option<(u64, RenderedJson)>) = (0, None);
    for at in QUOTED_PREFIX.find_iter(message) {
        let Some(mark) = PlaceholderMark::read(&message[at..]) else { continue };
        // A message contains both of its marks, and the first one has already released the document.
        let (_, prepared) = match known.take().filter(|(number, _)| *number == mark.number) {
            Some(known) => known,
            None => match release_message(mark.number) {
                Some(prepared) => (mark.number, prepared),
                None => return Some(vec![replace_with_error(message, at)]),
            },
        };
        pieces.push(message.slice(from..at));
        pieces.append(&mut if mark.is_text { prepared.quoted_json() } else { prepared.json() });
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
        let opening = 1 + MARK_PREFIX.len();
        let length = opening + memchr(b'"', &message[opening..])?;
        let (number, kind) = std::str::from_utf8(&message[opening..length]).ok()?.split_once('.')?;
        Some(Self { number: number.parse().ok()?, is_text: kind == "t", length: length + 1 })
    }
}

/// Replaces the line with a mark by an error, because its document is no longer held: the message is sent again, or
/// very late. Other lines of an event stream stay.
fn replace_with_error(message: &Bytes, at: usize) -> Bytes {
    let from = memrchr(b'\n', &message[..at]).map_or(0, |newline| newline + 1);
    let to = memchr(b'\n', &message[at..]).map_or(message.len(), |newline| at + newline);
    let line = &message[from..to];
    let (label, json) = line.split_at(memchr(b'{', line).unwrap_or_default());
    let words = "this answer is not held any more: send the request again";
    let refused = RefusedMessage::new(INTERNAL_ERROR, words).with_id_of(json);
    [&message[..from], label, &refused.to_json(), &message[to..]].concat().into()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    /// The held documents are global, so tests run one at a time.
    static ALONE: Mutex<()> = Mutex::new(());

    fn lock_tests() -> MutexGuard<'static, ()> {
        ALONE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn prepared(value: &Value) -> RenderedJson {
        RenderedJson::from_json(value.to_string().into())
    }

    fn message(marks: &Marks) -> Value {
        json!({"id": 7, "result": {"content": [{"text": marks.text}], "structuredContent": marks.json}})
    }

    #[test]
    fn a_document_stands_where_its_marks_stood() {
        let _alone = lock_tests();
        let document = json!({"name": "\"Sol\"\n", "mass": 1.5});
        let marks = assign_marks(&prepared(&document));
        let line = Bytes::from(format!("id: 1\ndata: {}\n\n", message(&marks)));
        let sent = fill_marks(&line).unwrap().concat();
        let sent = std::str::from_utf8(&sent).unwrap();
        let sent = sent.strip_prefix("id: 1\ndata: ").unwrap().strip_suffix("\n\n").unwrap();
        let sent: Value = serde_json::from_str(sent).unwrap();
        let text = Value::from(document.to_string());
        assert_eq!(sent["result"], json!({"content": [{"text": text}], "structuredContent": document}));
    }

    #[test]
    fn what_has_no_mark_is_left_alone() {
        let _alone = lock_tests();
        assign_marks(&prepared(&json!({})));
        assert!(fill_marks(&Bytes::from_static(b"{\"id\":1,\"result\":{}}")).is_none());
        let opened = Bytes::from(format!("{{\"text\":\"{}nothing\"}}", *MARK_PREFIX));
        assert!(fill_marks(&opened).is_none());
    }

    #[test]
    fn each_mark_is_its_own_documents() {
        let _alone = lock_tests();
        let [one, other] = [1, 2].map(|number| assign_marks(&prepared(&json!({"number": number}))));
        let both = Bytes::from(format!("[{},{}]", message(&one), message(&other)));
        let sent: Value = serde_json::from_slice(&fill_marks(&both).unwrap().concat()).unwrap();
        for (at, number) in [(0, 1), (1, 2)] {
            assert_eq!(sent[at]["result"]["structuredContent"]["number"], number);
            assert_eq!(sent[at]["result"]["content"][0]["text"], json!({"number": number}).to_string());
        }
    }

    #[test]
    fn a_document_is_held_for_each_message_and_no_longer() {
        let _alone = lock_tests();
        let document = prepared(&json!({"held": true}));
        let [first, second] = [(); 2].map(|()| assign_marks(&document));
        let is_held = || lock_held().iter().any(|slot| slot.prepared.is_same_document(&document));
        assert!(fill_marks(&Bytes::from(message(&first).to_string())).is_some() && is_held());
        assert!(fill_marks(&Bytes::from(message(&second).to_string())).is_some() && !is_held());
        let again = fill_marks(&Bytes::from(message(&second).to_string()));
        assert!(again.is_none_or(|pieces| pieces.concat().windows(7).any(|text| text == b"\"error\"")));
    }

    #[test]
    fn what_is_never_written_has_a_bound() {
        let _alone = lock_tests();
        let large = || RenderedJson::from_json(vec![b' '; HELD_BYTES_MAX / 4].into());
        let all: Vec<_> = (0..8)
            .map(|_| {
                let document = large();
                assign_marks(&document);
                document
            })
            .collect();
        let bytes: usize = lock_held().iter().map(|slot| slot.prepared.json_len()).sum();
        assert!(bytes <= HELD_BYTES_MAX, "{bytes}");
        drop(all);
    }

    #[test]
    fn a_document_that_is_gone_is_an_error_that_says_so() {
        let _alone = lock_tests();
        let marks = assign_marks(&prepared(&json!({"some": "other"})));
        let gone = message(&marks).to_string().replace(&marks.text, &format!("{}{}.t", *MARK_PREFIX, u64::MAX));
        let line = Bytes::from(format!("event: message\nid: 3\ndata: {gone}\n\n"));
        let sent = fill_marks(&line).unwrap().concat();
        let sent = std::str::from_utf8(&sent).unwrap();
        assert!(sent.starts_with("event: message\nid: 3\ndata: {") && sent.ends_with("}\n\n"), "{sent}");
        let error: Value = serde_json::from_str(sent.split("data: ").nth(1).unwrap().trim()).unwrap();
        assert_eq!((&error["id"], &error["error"]["code"]), (&json!(7), &json!(INTERNAL_ERROR)));
    }
}
