//! Errors of an import. A source is refused as a whole; the error names the entry that caused it.

use std::path::PathBuf;

/// Messages name the entry as it is written in the source, so that its owner finds it.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("{} cannot be read: {error}", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error(
        "{} is not lore that can be imported: use a folder, a .zip, a .json or a .md file",
        path.display()
    )]
    UnsupportedFile { path: PathBuf },
    #[error("no lore was found: no Markdown file, no Kanka export, no Foundry journal")]
    UnknownFormat,
    #[error("{entry:?} leaves the folder through \"..\"")]
    PathLeavesFolder { entry: String },
    #[error("{entry:?} is an absolute path")]
    AbsolutePath { entry: String },
    #[error("{entry:?} names a drive")]
    DrivePath { entry: String },
    #[error("{entry:?} has a name that cannot be used: {reason}")]
    UnusableName { entry: String, reason: &'static str },
    #[error("the name {entry:?} is not UTF-8")]
    NameNotUtf8 { entry: String },
    #[error("{entry:?} is there twice")]
    DuplicateName { entry: String },
    #[error("{entry:?} lies deeper than {limit} folders")]
    TooDeep { entry: String, limit: usize },
    #[error("{entry:?} is a link")]
    LinkInArchive { entry: String },
    #[error("{entry:?} is a link to something outside of the folder")]
    LinkLeavesFolder { entry: String },
    #[error("{entry:?} is neither a file nor a folder")]
    SpecialFile { entry: String },
    #[error("{entry:?} changed while it was read")]
    ChangedFile { entry: String },
    #[error("{entry:?} is encrypted: pack it without a password")]
    Encrypted { entry: String },
    #[error("{entry:?} is compressed with {method}: use deflate")]
    UnsupportedCompression { entry: String, method: String },
    #[error("{entry:?} becomes more than {limit} times as large as it is packed")]
    CompressionRatio { entry: String, limit: u64 },
    #[error("{entry:?} is larger than {limit} bytes")]
    FileTooLarge { entry: String, limit: u64 },
    #[error("with {entry:?} there are more than {limit} bytes in all")]
    TotalTooLarge { entry: String, limit: u64 },
    #[error("there are more than {limit} files")]
    TooManyFiles { limit: usize },
    #[error("the archive cannot be read: {reason}")]
    BrokenArchive { reason: String },
    #[error("{entry:?} is damaged: {reason}")]
    DamagedEntry { entry: String, reason: String },
    #[error("the text of {entry:?} is not UTF-8")]
    TextNotUtf8 { entry: String },
    #[error("the text of {entry:?} is UTF-16: save it as UTF-8")]
    TextUtf16 { entry: String },
    #[error("the export has version {version}, and this server reads up to {readable}")]
    NewerExport { version: u64, readable: u64 },
    #[error("{entry:?} is no valid JSON: {reason}")]
    InvalidJson { entry: String, reason: String },
}
