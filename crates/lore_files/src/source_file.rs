//! A file of a source in memory, the limits for reading files, and the check of their paths.

use crate::ImportError;

/// Folders that may lie inside each other.
pub(crate) const DEPTH_MAX: usize = 32;
/// Bytes of a path.
const PATH_BYTES_MAX: usize = 1_024;
/// Extensions of files whose content is read. Of all others only the path is needed.
const READ_EXTENSIONS: [&str; 3] = ["md", "markdown", "json"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Relative to the source, with `/` between its parts.
    pub path: String,
    /// Absent for files that are not text: images, sounds, archives.
    pub content: Option<Vec<u8>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadLimits {
    /// Files and folders.
    pub files: usize,
    /// Bytes of one file whose content is read.
    pub file_bytes: u64,
    /// Bytes of all files whose content is read, and of an archive.
    pub total_bytes: u64,
}

impl Default for ReadLimits {
    fn default() -> Self {
        Self { files: 20_000, file_bytes: 10 << 20, total_bytes: 1 << 30 }
    }
}

/// The extension in lower case, without its point.
pub(crate) fn file_extension(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map(|(_, extension)| extension.to_lowercase()).unwrap_or_default()
}

pub(crate) fn is_markdown(path: &str) -> bool {
    ["md", "markdown"].contains(&file_extension(path).as_str())
}

/// Whether the content of a file is needed.
pub(crate) fn is_content_read(path: &str) -> bool {
    READ_EXTENSIONS.contains(&file_extension(path).as_str())
}

/// Whether a file or folder belongs to a program rather than to its owner: settings, waste, version control.
pub(crate) fn is_ignored_name(name: &str) -> bool {
    name.starts_with('.') || ["__MACOSX", "Thumbs.db", "desktop.ini"].contains(&name)
}

/// Normalises the path of an archive's entry, or refuses it. Folders have no slash at the end in the result.
pub(crate) fn check_archive_path(name: &str) -> Result<String, ImportError> {
    let entry = || name.to_owned();
    // Some programs on Windows pack with backslashes, against the format.
    let path = name.replace('\\', "/");
    if path.starts_with('/') {
        return Err(ImportError::AbsolutePath { entry: entry() });
    }
    let mut characters = path.chars();
    if characters.next().is_some_and(|letter| letter.is_ascii_alphabetic()) && characters.next() == Some(':') {
        return Err(ImportError::DrivePath { entry: entry() });
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return Err(ImportError::PathLeavesFolder { entry: entry() });
    }
    check_path(&parts.join("/"), name)
}

/// Checks what holds for the paths of archives and folders alike.
pub(crate) fn check_path(path: &str, entry: &str) -> Result<String, ImportError> {
    let unusable = |reason| Err(ImportError::UnusableName { entry: entry.to_owned(), reason });
    if path.is_empty() {
        return unusable("it is empty");
    }
    if path.len() > PATH_BYTES_MAX {
        return unusable("it is longer than 1024 bytes");
    }
    if path.chars().any(char::is_control) {
        return unusable("it has a control character");
    }
    if path.split('/').count() > DEPTH_MAX {
        return Err(ImportError::TooDeep { entry: entry.to_owned(), limit: DEPTH_MAX });
    }
    Ok(path.to_owned())
}

/// The text of a file, without a byte order mark.
pub(crate) fn decode_text<'a>(content: &'a [u8], entry: &str) -> Result<&'a str, ImportError> {
    let is_utf16 = content.starts_with(&[0xff, 0xfe]) || content.starts_with(&[0xfe, 0xff]) || has_many_zeros(content);
    if is_utf16 {
        return Err(ImportError::TextUtf16 { entry: entry.to_owned() });
    }
    let text = str::from_utf8(content).map_err(|_| ImportError::TextNotUtf8 { entry: entry.to_owned() })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Whether the content looks like UTF-16 without a byte order mark. Only its start counts: our own export begins with
/// more letters than these, and may have anything after them.
fn has_many_zeros(content: &[u8]) -> bool {
    let start = &content[..content.len().min(48)];
    start.iter().map(|byte| usize::from(*byte == 0)).sum::<usize>() * 4 > start.len()
}
