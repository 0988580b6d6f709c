//! Opens ordinary files below a folder that somebody else writes into.
//!
//! No link is followed on the way, so no name leads outside. The type of a file is read from the opened file, and it is
//! opened without blocking.

#[cfg(not(unix))]
mod non_unix;
#[cfg(unix)]
mod unix;

use skald_domain::limits;

use super::refusal_texts;

#[cfg(not(unix))]
pub(super) use non_unix::UntrustedFolder;
#[cfg(unix)]
pub(super) use unix::UntrustedFolder;

/// The type of file at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    File,
    Folder,
    Link,
    Special,
}

/// Checks that a file can be evidence: an ordinary file, not empty, not too large.
fn check_evidence(path: &str, found: FileKind, bytes: u64) -> Result<(), String> {
    match found {
        FileKind::Link => Err(refusal_texts::link(path)),
        FileKind::Folder => Err(refusal_texts::folder(path)),
        FileKind::Special => Err(refusal_texts::special(path)),
        FileKind::File if bytes == 0 => Err(refusal_texts::empty(path)),
        FileKind::File if bytes > limits::ARTIFACT_BYTES_MAX => {
            Err(refusal_texts::too_large(path, bytes, limits::ARTIFACT_BYTES_MAX))
        }
        FileKind::File => Ok(()),
    }
}

/// Whether each component of a path is a plain name, so that none leads up or outside.
fn is_below(path: &str) -> bool {
    let is_name = |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\0', '\\']);
    path.split('/').all(is_name) && !(cfg!(windows) && path.contains(':'))
}

#[cfg(test)]
mod tests {
    use super::is_below;

    #[test]
    fn nothing_leads_out() {
        assert!(["a", "a/b", "a..b", ".a", "..."].into_iter().all(is_below));
        assert!(
            !["", "/a", "a/", "a//b", "./a", "..", "../a", "a/../b", "a/..", "a\\b", "a\0"].into_iter().any(is_below)
        );
    }
}
