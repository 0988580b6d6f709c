//! Folders with links, devices and too much in them.
#![cfg(unix)]

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use skald_lore_files::{ReadLimits, read_import};

use crate::TemporaryFolder;

fn refusal(folder: &TemporaryFolder, limits: &ReadLimits) -> String {
    read_import(folder.path(), limits).expect_err("a folder that is refused").to_string()
}

#[test]
fn links_that_leave_the_folder_are_refused() {
    let outside = TemporaryFolder::new();
    outside.write("secret.md", "x");
    for target in [outside.path().join("secret.md"), outside.path().to_owned(), "/dev/zero".into(), "missing".into()] {
        let folder = TemporaryFolder::new();
        folder.write("a/Good.md", "x");
        symlink(target, folder.path().join("a/link.md")).unwrap();
        assert_eq!(
            refusal(&folder, &ReadLimits::default()),
            "\"a/link.md\" is a link to something outside of the folder"
        );
    }
}

#[test]
fn links_within_the_folder_add_nothing() {
    let folder = TemporaryFolder::new();
    folder.write("a/Good.md", "x");
    symlink(folder.path(), folder.path().join("a/circle")).unwrap();
    symlink("Good.md", folder.path().join("a/again.md")).unwrap();
    let import = read_import(folder.path(), &ReadLimits::default()).unwrap();
    assert_eq!(import.entities.len(), 1);
    let through_link = folder.path().join("a/circle");
    assert_eq!(read_import(&through_link, &ReadLimits::default()).unwrap().entities, import.entities);
}

#[test]
fn sockets_are_refused() {
    let folder = TemporaryFolder::new();
    folder.write("Good.md", "x");
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("s.md")).unwrap();
    assert_eq!(refusal(&folder, &ReadLimits::default()), "\"s.md\" is neither a file nor a folder");
}

#[test]
fn names_that_are_not_utf8_are_refused() {
    let folder = TemporaryFolder::new();
    std::fs::write(folder.path().join(OsStr::from_bytes(b"\xff.md")), "x").unwrap();
    assert_eq!(refusal(&folder, &ReadLimits::default()), "the name \"\u{fffd}.md\" is not UTF-8");
}

#[test]
fn size_number_and_depth_are_bounded() {
    let limits = ReadLimits { files: 4, file_bytes: 100, total_bytes: 150 };
    let folder = TemporaryFolder::new();
    folder.write("a.md", "x".repeat(100));
    folder.write("video.mp4", "x".repeat(1_000));
    assert!(read_import(folder.path(), &limits).is_ok());
    folder.write("b.md", "x".repeat(51));
    assert!(refusal(&folder, &limits).ends_with("there are more than 150 bytes in all"));
    folder.write("b.md", "x".repeat(101));
    assert_eq!(refusal(&folder, &limits), "\"b.md\" is larger than 100 bytes");
    folder.write("b.md", "x");
    folder.write("c/d.md", "x");
    assert_eq!(refusal(&folder, &limits), "there are more than 4 files");
    let folder = TemporaryFolder::new();
    folder.write(&format!("{}x.md", "d/".repeat(31)), "x");
    assert!(read_import(folder.path(), &ReadLimits::default()).is_ok());
    folder.write(&format!("{}x.md", "d/".repeat(32)), "x");
    assert!(refusal(&folder, &ReadLimits::default()).ends_with("lies deeper than 32 folders"));
}
