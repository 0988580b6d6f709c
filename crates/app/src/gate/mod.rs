//! The gate noun: processes, and runs that go through them.

mod files;

pub(crate) use files::NoFiles;
pub use files::{ArtifactFile, FilesError, GateFiles, ProcessFile};
