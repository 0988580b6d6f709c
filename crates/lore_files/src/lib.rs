//! Lore as files. [`read_import`] reads a folder of Markdown, an export of Kanka, journals of Foundry, or our own export;
//! [`write_export`] writes the last of these.
//!
//! Everything works on lists of files in memory; only `read_source.rs` opens any. Sources are not trusted: one with an
//! unsafe entry is refused as a whole, and the error names the entry. Texts stay as they are, HTML or
//! Markdown; whoever calls this converts them, and resolves links and mentions with the methods of [`Import`].

mod entity_types;
mod foundry;
mod front_matter;
mod import;
mod import_error;
mod json_fields;
mod kanka;
mod link_index;
mod markdown_scan;
mod read_export;
mod read_source;
mod read_zip;
mod safe_names;
mod skald_format;
mod source_file;
mod vault;
mod write_export;

use std::path::Path;

pub use entity_types::ENTITY_TYPES;
pub use import::{Import, ImportFormat, ImportLoss, ImportedEntity, ImportedPost, ImportedText};
pub use import_error::ImportError;
pub use read_export::exported_paths;
pub use read_zip::read_zip;
pub use skald_format::MANIFEST_PATH;
pub use source_file::{ReadLimits, SourceFile};
pub use write_export::{ExportedEntity, ExportedPost, write_export};

/// Reads lore from a folder, a `.zip`, a `.json` or a `.md` file.
pub fn read_import(path: &Path, limits: &ReadLimits) -> Result<Import, ImportError> {
    import_files(&read_source::read_source(path, limits)?)
}

/// Recognises the format of these files and reads them. Paths must be those of [`read_zip`]: relative, without `..`.
pub fn import_files(files: &[SourceFile]) -> Result<Import, ImportError> {
    if let Some(manifest) = read_export::find_manifest(files)? {
        return read_export::import_export(files, &manifest);
    }
    if kanka::is_kanka(files) {
        return kanka::import_kanka(files);
    }
    if files.iter().any(|file| source_file::is_markdown(&file.path)) {
        return vault::import_vault(files);
    }
    foundry::import_foundry(files)?.ok_or(ImportError::UnknownFormat)
}
