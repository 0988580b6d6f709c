//! Server-sent events: how events, comments and the time to wait are written as `text/event-stream`.

use std::collections::VecDeque;
use std::io::Write;

use axum::body::Bytes;
use skald_app::FeedEvent;

/// Sent at once, so that a reader knows that it misses nothing from here on. A browser reconnects after a second.
pub(crate) const FIRST_BYTES: &[u8] = b":connected\n\nretry: 1000\n\n";
pub(crate) const HEARTBEAT: &[u8] = b":heartbeat\n\n";
/// Data up to this size is copied, so that a small event is one write. Longer data is shared between readers.
const COPIED_BYTES_MAX: usize = 4 * 1024;

/// Encodes events as `text/event-stream`, in pieces.
pub(crate) fn encode<'a>(events: impl IntoIterator<Item = &'a FeedEvent>) -> VecDeque<Bytes> {
    let (mut pieces, mut lines) = (VecDeque::new(), Vec::new());
    for FeedEvent { name, id, data } in events {
        // Writing to memory does not fail.
        let _ = writeln!(lines, "event: {name}");
        if let Some(id) = id {
            let _ = writeln!(lines, "id: {id}");
        }
        lines.extend_from_slice(b"data: ");
        if data.len() <= COPIED_BYTES_MAX {
            lines.extend_from_slice(data);
        } else {
            pieces.push_back(std::mem::take(&mut lines).into());
            pieces.push_back(data.clone());
        }
        lines.extend_from_slice(b"\n\n");
    }
    if !lines.is_empty() {
        pieces.push_back(lines.into());
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: Option<&str>, data: &str) -> FeedEvent {
        FeedEvent { name: "command", id: id.map(str::to_owned), data: Bytes::copy_from_slice(data.as_bytes()) }
    }

    #[test]
    fn small_events_are_one_piece() {
        let pieces = encode(&[event(Some("7.1"), "{}"), event(None, "[1]")]);
        let expected = "event: command\nid: 7.1\ndata: {}\n\nevent: command\ndata: [1]\n\n";
        assert_eq!(pieces, [Bytes::from_static(expected.as_bytes())]);
        assert!(encode(&[]).is_empty());
    }

    #[test]
    fn long_data_is_shared_and_not_copied() {
        let long = event(Some("8"), &"x".repeat(COPIED_BYTES_MAX + 1));
        let pieces = encode([&event(Some("7"), "{}"), &long]);
        assert_eq!(pieces.len(), 3);
        assert_eq!(pieces[1].as_ptr(), long.data.as_ptr());
        let text = String::from_utf8(pieces.iter().flatten().copied().collect()).unwrap();
        assert!(text.starts_with("event: command\nid: 7\ndata: {}\n\nevent: command\nid: 8\ndata: xxx"));
        assert!(text.ends_with("xxx\n\n"));
    }
}
