//! gRPC metadata of client and server: token, client name, session, idempotency key, `if-match` and etag.

use skald_app::idempotency_key::key_problem;
use skald_app::{Code, Fault, RequestControl, RequestSurface, limits, truncate_for_message};
use tonic::metadata::{MetadataMap, MetadataValue};

pub(crate) const AUTHORIZATION: &str = "authorization";
pub(crate) const CLIENT: MetadataName = MetadataName("skald-client", "skald-client-bin");
pub(crate) const SESSION: MetadataName = MetadataName("skald-session", "skald-session-bin");
const IDEMPOTENCY_KEY: MetadataName = MetadataName("idempotency-key", "idempotency-key-bin");
const IF_MATCH: MetadataName = MetadataName("if-match", "if-match-bin");
const ETAG: &str = "etag";

/// The key of a metadata value in plain ASCII, and the `-bin` key of any other text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MetadataName(&'static str, &'static str);

/// Reads a value from its ASCII key, or as UTF-8 from its `-bin` key.
pub(crate) fn read_text(
    metadata: &MetadataMap,
    MetadataName(name, binary): MetadataName,
) -> Result<Option<String>, Fault> {
    let unreadable = || {
        let fault = Fault::new(Code::InvalidParams, format!("the metadata {name} is not text"));
        fault.hint(format!("send plain ASCII as {name}, or UTF-8 as {binary}"))
    };
    if let Some(value) = metadata.get(name) {
        return value.to_str().map(|text| Some(text.trim().to_owned())).map_err(|_| unreadable());
    }
    let Some(value) = metadata.get_bin(binary) else { return Ok(None) };
    let bytes = value.to_bytes().map_err(|_| unreadable())?;
    String::from_utf8(bytes.to_vec()).map(Some).map_err(|_| unreadable())
}

/// Inserts a value under its ASCII key, or under its `-bin` key if it is empty, not printable ASCII, or has spaces at
/// its ends, which readers trim.
pub(crate) fn put_text(metadata: &mut MetadataMap, MetadataName(name, binary): MetadataName, text: &str) {
    let is_plain = !text.is_empty() && text.trim() == text && text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    match MetadataValue::try_from(text) {
        Ok(value) if is_plain => {
            metadata.insert(name, value);
        }
        _ => {
            metadata.insert_bin(binary, MetadataValue::from_bytes(text.as_bytes()));
        }
    }
}

fn read_bounded_text(metadata: &MetadataMap, named: MetadataName) -> Result<Option<String>, Fault> {
    let (most, MetadataName(name, _)) = (limits::KEY_CHARS_MAX, named);
    match read_text(metadata, named)? {
        Some(text) if key_problem(&text).is_some() => {
            let fault =
                Fault::new(Code::InvalidParams, format!("the metadata {name} has 1 to {most} plain characters"));
            Err(fault.value(&truncate_for_message(&text).into()).hint(format!("send a shorter {name}, or none")))
        }
        text => Ok(text),
    }
}

/// The idempotency key and the expected revision of a request.
pub(crate) fn read_control(metadata: &MetadataMap) -> Result<RequestControl, Fault> {
    let if_match = read_bounded_text(metadata, IF_MATCH)?;
    let idempotency_key = read_bounded_text(metadata, IDEMPOTENCY_KEY)?;
    RequestControl::from_texts(RequestSurface::Grpc, idempotency_key, if_match.as_deref())
}

/// Inserts the idempotency key and the expected revision of a request.
pub(crate) fn put_control(metadata: &mut MetadataMap, control: &RequestControl) {
    if let Some(key) = &control.idempotency_key {
        put_text(metadata, IDEMPOTENCY_KEY, key);
    }
    if let Some(revision) = control.expected_revision {
        metadata.insert(IF_MATCH.0, revision.into());
    }
}

/// The id of a conversation that a bridge holds.
pub(crate) fn read_session_id(metadata: &MetadataMap) -> Result<Option<String>, Fault> {
    read_bounded_text(metadata, SESSION)
}

/// Inserts the revision of an answer as an etag, which a client can send back as `if-match`.
pub(crate) fn put_revision(metadata: &mut MetadataMap, revision: Option<&u64>) {
    if let Some(Ok(etag)) = revision.map(|revision| MetadataValue::try_from(format!("\"{revision}\""))) {
        metadata.insert(ETAG, etag);
    }
}

/// Reads the revision that [`put_revision`] inserted.
pub(crate) fn read_revision(metadata: &MetadataMap) -> Option<u64> {
    metadata.get(ETAG)?.to_str().ok()?.trim_matches('"').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_text_arrives_as_it_was_sent() {
        for sent in ["plain", "two words", " edges ", "", "Zoë 龍", "line\nbreak", "~"] {
            let mut metadata = MetadataMap::new();
            put_text(&mut metadata, CLIENT, sent);
            assert_eq!(read_text(&metadata, CLIENT).ok().flatten().as_deref(), Some(sent));
        }
        assert_eq!(read_text(&MetadataMap::new(), CLIENT).ok(), Some(None));
    }

    #[test]
    fn a_key_and_a_revision_arrive() {
        let mut metadata = MetadataMap::new();
        let sent = RequestControl {
            idempotency_key: Some("clé 1".to_owned()),
            expected_revision: Some(7),
            ..RequestControl::default()
        };
        put_control(&mut metadata, &sent);
        let read = read_control(&metadata).unwrap();
        assert_eq!((read.idempotency_key, read.expected_revision), (sent.idempotency_key, Some(7)));
    }

    #[test]
    fn what_is_no_key_and_no_revision_is_refused() {
        let refused = |name: MetadataName, value: &str| {
            let mut metadata = MetadataMap::new();
            put_text(&mut metadata, name, value);
            read_control(&metadata).unwrap_err().body().message.clone()
        };
        assert_eq!(
            refused(IDEMPOTENCY_KEY, &"k".repeat(201)),
            "the metadata idempotency-key has 1 to 200 plain characters"
        );
        assert_eq!(refused(IDEMPOTENCY_KEY, "a\u{7}"), "the metadata idempotency-key has 1 to 200 plain characters");
        assert_eq!(refused(IF_MATCH, "last"), "if-match is \"last\", not a revision");
        for etag in ["7", "\"7\""] {
            let mut metadata = MetadataMap::new();
            put_text(&mut metadata, IF_MATCH, etag);
            assert_eq!(read_control(&metadata).unwrap().expected_revision, Some(7));
        }
    }
}
