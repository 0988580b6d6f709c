//! Tests of lore as files: what is read, what is listed as lost, what is refused, and what comes back equal.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod export;
mod foundry;
mod hostile_folders;
mod hostile_zips;
mod kanka;
mod vault;

use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use skald_lore_files::{Import, ImportedEntity, SourceFile, import_files};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// A folder that is removed with the test.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("skald-lore-files-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }

    fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn source_file(path: &str, content: impl Into<Vec<u8>>) -> SourceFile {
    SourceFile { path: path.to_owned(), content: Some(content.into()) }
}

/// Imports files of these paths and contents.
fn import(files: &[(&str, &str)]) -> Import {
    let files: Vec<SourceFile> = files.iter().map(|(path, content)| source_file(path, *content)).collect();
    import_files(&files).unwrap()
}

fn find<'a>(import: &'a Import, source_id: &str) -> &'a ImportedEntity {
    let found = import.entities.iter().find(|entity| entity.source_id == source_id);
    found.unwrap_or_else(|| panic!("no {source_id} in {:#?}", import.entities))
}

/// The losses as "source: what".
fn losses(import: &Import) -> Vec<String> {
    import.losses.iter().map(|loss| format!("{}: {}", loss.source, loss.what)).collect()
}

/// The text of an entity.
fn text(entity: &ImportedEntity) -> Option<&str> {
    entity.text.as_ref().map(skald_lore_files::ImportedText::as_str)
}

/// The posts as name, text, and whether they are private.
fn posts(entity: &ImportedEntity) -> Vec<(&str, &str, bool)> {
    let text = |post: &'_ skald_lore_files::ImportedPost| post.text.clone();
    assert!(entity.posts.iter().all(|post| text(post).is_some()), "{entity:#?}");
    let posts = entity.posts.iter();
    posts.map(|post| (post.name.as_str(), post.text.as_ref().unwrap().as_str(), post.is_private)).collect()
}

/// A zip archive of these files.
fn pack<Name: ToString, Content: AsRef<[u8]>>(files: &[(Name, Content)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(name.to_string(), SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_ref()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}
