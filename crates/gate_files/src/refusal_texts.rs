//! Messages for files that are refused as evidence: the path, the reason, and what to do.

use std::fmt::Display;

pub(super) fn no_folder_here() -> String {
    "there is no artifact folder here, hand the content in as text or base64".to_owned()
}

pub(super) fn folder_gone(folder: &str) -> String {
    format!("the artifact folder {folder} is not there; make it again, or hand the content in as text or base64")
}

pub(super) fn missing(folder: &str, path: &str) -> String {
    format!("there is no file '{path}' below the artifact folder; write it to {folder}/{path} first")
}

pub(super) fn outside(path: &str) -> String {
    format!("'{path}' leads out of the artifact folder; name a file below it")
}

pub(super) fn link(path: &str) -> String {
    format!("'{path}' is a link, which may lead out of the artifact folder; put the file itself there")
}

pub(super) fn folder(path: &str) -> String {
    format!("'{path}' is a folder; name a file in it")
}

pub(super) fn special(path: &str) -> String {
    format!("'{path}' is a pipe, a socket or a device; name an ordinary file")
}

pub(super) fn empty(path: &str) -> String {
    format!("'{path}' is empty; write the evidence into it")
}

pub(super) fn too_large(path: &str, bytes: u64, bytes_max: u64) -> String {
    format!("'{path}' has {bytes} bytes, at most {bytes_max} are read; make it smaller")
}

pub(super) fn changed_while_read(path: &str) -> String {
    format!("'{path}' changed while it was read; finish writing it, then try again")
}

pub(super) fn unreadable(path: &str, error: &dyn Display) -> String {
    format!("'{path}' cannot be read: {error}")
}
