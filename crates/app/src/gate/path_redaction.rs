//! Redaction of server paths in the gate's answers and errors. The owner sees whole paths. A token's holder sees paths
//! below the working folder relative to it, and only the last name of any other.
//!
//! Every path that the gate names in an answer or an error goes through here.

use std::path::Path;
use std::sync::Arc;

use crate::{App, Caller, FilesError, GateFiles, Principal};

#[derive(Clone)]
pub(super) struct PathRedaction {
    /// `None` for the owner.
    files: Option<Arc<dyn GateFiles>>,
}

impl App {
    pub(super) fn path_redaction(&self, caller: &Caller) -> PathRedaction {
        let is_owner = caller.principal == Principal::Owner;
        PathRedaction { files: (!is_owner).then(|| Arc::clone(&self.files)) }
    }
}

impl PathRedaction {
    pub(super) fn is_for_owner(&self) -> bool {
        self.files.is_none()
    }

    /// The path of a folder that the caller should write to; `None` if the caller cannot reach it.
    pub(super) fn visible_folder(&self, folder: &str) -> Option<String> {
        match &self.files {
            None => Some(folder.to_owned()),
            Some(files) => files.relative_to_working_folder(folder),
        }
    }

    /// A file or folder as an error names it.
    pub(super) fn redact_path(&self, path: &str) -> String {
        if !Path::new(path).is_absolute() {
            return path.to_owned();
        }
        self.visible_folder(path).unwrap_or_else(|| {
            let name = Path::new(path).file_name().unwrap_or_default();
            format!("…/{}", name.to_string_lossy())
        })
    }

    /// Redacts a path within a text. The text may have been cut off in the middle of the path.
    pub(super) fn redact_text(&self, text: &str, path: &str) -> String {
        if self.is_for_owner() || path.is_empty() {
            return text.to_owned();
        }
        let mut seen = text.replace(path, &self.redact_path(path));
        let is_cut = |(at, _): &(usize, char)| path.starts_with(&seen[*at..]) && seen.len() - at > 1;
        if let Some((at, _)) = seen.char_indices().find(is_cut) {
            seen.truncate(at);
            seen.push('…');
        }
        seen
    }

    pub(super) fn redact_error(&self, error: &FilesError) -> String {
        format!("{}: {}", self.redact_path(&error.path), error.why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::NoFiles;

    const FOLDER: &str = "/srv/skald/artifacts/run-1";

    #[test]
    fn the_owner_sees_every_path() {
        let view = PathRedaction { files: None };
        let text = format!("write it to {FOLDER}/note.md first");
        assert_eq!((view.redact_text(&text, FOLDER), view.visible_folder(FOLDER)), (text, Some(FOLDER.to_owned())));
    }

    #[test]
    fn a_holder_sees_the_last_name_of_what_lies_elsewhere() {
        let view = PathRedaction { files: Some(Arc::new(NoFiles::default())) };
        let seen = |text: &str| view.redact_text(text, FOLDER);
        assert_eq!(seen(&format!("write it to {FOLDER}/note.md first")), "write it to …/run-1/note.md first");
        assert_eq!(view.visible_folder(FOLDER), None);
        assert_eq!(view.redact_path("the folders of the gate"), "the folders of the gate");
        // The stored message of an attempt is cut at a maximum length, perhaps within a path.
        assert_eq!(seen("write it to /srv/skald/arti"), "write it to …");
        assert_eq!(seen("read and/or write /"), "read and/or write /");
    }
}
