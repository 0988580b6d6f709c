//! Stores the digest of an answer as a column: null for records older than digests, empty where there was no answer.

use skald_journal::AnswerDigest;

pub(crate) fn answer_column(digest: &AnswerDigest) -> Option<&[u8]> {
    match digest {
        AnswerDigest::NotNoted => None,
        AnswerDigest::NoAnswer => Some(&[]),
        AnswerDigest::Of(hash) => Some(hash),
    }
}

pub(crate) fn answer_digest(column: Option<&[u8]>) -> AnswerDigest {
    match column {
        None => AnswerDigest::NotNoted,
        Some([]) => AnswerDigest::NoAnswer,
        // A digest of another length becomes zeros, which match no answer.
        Some(bytes) => AnswerDigest::Of(bytes.try_into().unwrap_or_default()),
    }
}
