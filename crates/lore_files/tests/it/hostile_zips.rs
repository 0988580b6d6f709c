//! Archives that attack: each is refused whole, with the name of the entry.

use std::io::{Cursor, Write};

use skald_lore_files::{ImportError, ReadLimits, SourceFile, read_zip};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::{pack, source_file};

fn read(archive: &[u8]) -> Result<Vec<SourceFile>, ImportError> {
    read_zip(Cursor::new(archive), &ReadLimits::default())
}

fn refusal(archive: &[u8]) -> String {
    read(archive).expect_err("an archive that is refused").to_string()
}

/// Replaces bytes everywhere, in headers too. Both have the same length, so nothing else changes.
fn replace(archive: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut archive = archive.to_vec();
    let mut count = 0;
    for at in 0..archive.len() - from.len() {
        if archive[at..].starts_with(from) {
            archive[at..at + to.len()].copy_from_slice(to);
            count += 1;
        }
    }
    assert!(count >= 2, "the local header and the directory");
    archive
}

/// An archive with a good file and one with this name, which no writer would write.
fn archive_with_name(name: &[u8]) -> Vec<u8> {
    let placeholder = "N".repeat(name.len());
    replace(&pack(&[("Good.md", "x"), (placeholder.as_str(), "x")]), placeholder.as_bytes(), name)
}

#[test]
fn a_good_archive_is_read() {
    let archive = pack(&[("a/b.md", "one"), ("c.png", "two"), ("__MACOSX/a/._b.md", "x"), ("a/.x/y.md", "x")]);
    let expected = [source_file("a/b.md", "one"), SourceFile { path: "c.png".to_owned(), content: None }];
    assert_eq!(read(&archive).unwrap(), expected);
    assert_eq!(read(&pack::<&str, &str>(&[])).unwrap(), []);
}

#[test]
fn an_archive_that_was_written_as_a_stream_is_read() {
    let mut writer = ZipWriter::new_stream(Vec::new());
    writer.start_file("a.md", SimpleFileOptions::default()).unwrap();
    writer.write_all(b"text").unwrap();
    let archive = writer.finish().unwrap().into_inner();
    assert_eq!(read(&archive).unwrap(), [source_file("a.md", "text")]);
}

#[test]
fn paths_that_lead_outside_are_refused() {
    let cases: [(&[u8], &str); 12] = [
        (b"../evil.md", "\"../evil.md\" leaves the folder through \"..\""),
        (b"a/../../evil.md", "\"a/../../evil.md\" leaves the folder through \"..\""),
        (b"a/../evil.md", "\"a/../evil.md\" leaves the folder through \"..\""),
        (b"..\\evil.md", "\"..\\\\evil.md\" leaves the folder through \"..\""),
        (b"/etc/evil.md", "\"/etc/evil.md\" is an absolute path"),
        (b"\\\\host\\evil.md", "\"\\\\\\\\host\\\\evil.md\" is an absolute path"),
        (b"C:\\evil.md", "\"C:\\\\evil.md\" names a drive"),
        (b"c:evil.md", "\"c:evil.md\" names a drive"),
        (b"a\0.md", "\"a\\0.md\" has a name that cannot be used: it has a control character"),
        (b"a\n.md", "\"a\\n.md\" has a name that cannot be used: it has a control character"),
        (b"./", "\"./\" has a name that cannot be used: it is empty"),
        (b"\xff\xfe.md", "the name \"\u{fffd}\u{fffd}.md\" is not UTF-8"),
    ];
    for (name, expected) in cases {
        assert_eq!(refusal(&archive_with_name(name)), expected);
    }
    let long = format!("{}.md", "x".repeat(1_100));
    assert!(refusal(&pack(&[(long, "x")])).ends_with("it is longer than 1024 bytes"));
}

#[test]
fn depth_is_bounded() {
    let path = |folders: usize| format!("{}x.md", "d/".repeat(folders));
    assert!(read(&pack(&[(path(31), "x")])).is_ok());
    assert!(refusal(&pack(&[(path(32), "x")])).ends_with("lies deeper than 32 folders"));
}

#[test]
fn two_entries_of_one_name_are_refused() {
    let archive = pack(&[("aaaa.md", "one"), ("bbbb.md", "two")]);
    assert_eq!(refusal(&replace(&archive, b"bbbb.md", b"aaaa.md")), "\"aaaa.md\" is there twice");
    let archive = pack(&[("a/b.md", "one"), ("a_b.md", "two")]);
    assert_eq!(refusal(&replace(&archive, b"a_b.md", b"a\\b.md")), "\"a/b.md\" is there twice");
}

#[test]
fn links_and_devices_are_refused() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.add_symlink("link.md", "/etc/passwd", SimpleFileOptions::default()).unwrap();
    assert_eq!(refusal(&writer.finish().unwrap().into_inner()), "\"link.md\" is a link");
    let mut archive = pack(&[("pipe.md", "x")]);
    // The upper half of the external attributes in the directory is the Unix mode.
    let at = archive.windows(4).position(|bytes| bytes == b"PK\x01\x02").unwrap();
    archive[at + 5] = 3;
    archive[at + 40..at + 42].copy_from_slice(&0o010_644_u16.to_le_bytes());
    assert_eq!(refusal(&archive), "\"pipe.md\" is neither a file nor a folder");
}

#[test]
fn encrypted_entries_are_refused() {
    let mut archive = pack(&[("a.md", "x"), ("secret.md", "x")]);
    for (mark, flags) in [(b"PK\x03\x04", 6), (b"PK\x01\x02", 8)] {
        let second = archive.windows(4).enumerate().filter(|(_, bytes)| bytes == mark).nth(1).unwrap().0;
        archive[second + flags] |= 1;
    }
    assert_eq!(refusal(&archive), "\"secret.md\" is encrypted: pack it without a password");
}

#[test]
fn bombs_are_refused_while_they_are_inflated() {
    let zeros = vec![b' '; 9 << 20];
    assert_eq!(
        refusal(&pack(&[("bomb.md", &zeros)])),
        "\"bomb.md\" becomes more than 200 times as large as it is packed"
    );
    let large = vec![b' '; (10 << 20) + 1];
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    writer.start_file("large.md", stored).unwrap();
    writer.write_all(&large).unwrap();
    let archive = writer.finish().unwrap().into_inner();
    assert_eq!(refusal(&archive), "\"large.md\" is larger than 10485760 bytes");
    // What is not read cannot explode.
    assert!(read(&pack(&[("bomb.png", &zeros)])).is_ok());
}

#[test]
fn a_size_that_lies_does_not_help() {
    let zeros = vec![b' '; 9 << 20];
    let archive = pack(&[("bomb.md", &zeros)]);
    let archive = replace(&archive, &u32::try_from(zeros.len()).unwrap().to_le_bytes(), &10_u32.to_le_bytes());
    let error = read(&archive).unwrap_err();
    let is_refused = matches!(error, ImportError::CompressionRatio { .. } | ImportError::DamagedEntry { .. });
    assert!(is_refused, "{error}");
}

#[test]
fn the_total_and_the_number_of_files_are_bounded() {
    let limits = ReadLimits { files: 3, file_bytes: 1_000, total_bytes: 2_000 };
    let read = |sizes: &[usize]| {
        let files: Vec<(String, String)> =
            sizes.iter().enumerate().map(|(number, size)| (format!("{number}.md"), "x".repeat(*size))).collect();
        read_zip(Cursor::new(pack(&files)), &limits).map(|files| files.len()).map_err(|error| error.to_string())
    };
    assert_eq!(read(&[1_000, 1_000]), Ok(2));
    assert_eq!(read(&[1_001]), Err("\"0.md\" is larger than 1000 bytes".to_owned()));
    assert_eq!(read(&[1_000, 999, 2]), Err("with \"2.md\" there are more than 2000 bytes in all".to_owned()));
    assert_eq!(read(&[1, 1, 1, 1]), Err("there are more than 3 files".to_owned()));
}

#[test]
fn entries_that_share_their_bytes_are_within_the_ratio_of_the_archive() {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    let text: Vec<u8> =
        (0..180_u32).flat_map(|number| [vec![b' '; 1_000], number.to_le_bytes().to_vec()].concat()).collect();
    writer.start_file("0.md", SimpleFileOptions::default()).unwrap();
    writer.write_all(&text).unwrap();
    for number in 1..200 {
        writer.shallow_copy_file("0.md", &format!("{number}.md")).unwrap();
    }
    let archive = writer.finish().unwrap().into_inner();
    let total = text.len() as u64 * 200;
    assert!(total > archive.len() as u64 * 200, "{total} of {}", archive.len());
    assert!(refusal(&archive).contains("more than 200 times"));
}

#[test]
fn damage_is_refused_with_a_reason() {
    assert!(refusal(b"no archive").starts_with("the archive cannot be read: "));
    assert!(refusal(b"").starts_with("the archive cannot be read: "));
    let archive = pack(&[("a.md", "one two three")]);
    for length in 1..archive.len() {
        assert!(read(&archive[..length]).is_err());
    }
    let mut wrong = archive.clone();
    let at = wrong.windows(4).position(|bytes| bytes == b"a.md").unwrap() + 5;
    wrong[at] ^= 0x55;
    assert!(refusal(&wrong).starts_with("\"a.md\" is damaged: "), "{}", refusal(&wrong));
}

#[test]
fn other_compressions_are_refused() {
    let mut archive = pack(&[("a.md", "one")]);
    for (mark, method) in [(b"PK\x03\x04", 8), (b"PK\x01\x02", 10)] {
        let at = archive.windows(4).position(|bytes| bytes == mark).unwrap();
        archive[at + method] = 93;
    }
    assert_eq!(refusal(&archive), "\"a.md\" is compressed with Zstd: use deflate");
}

#[test]
fn no_change_of_a_byte_brings_the_reader_down() {
    let archive = pack(&[("a/b.md", "one two three"), ("c.json", "{}")]);
    for at in 0..archive.len() {
        for bit in 0..8 {
            let mut changed = archive.clone();
            changed[at] ^= 1 << bit;
            let _ = read(&changed);
        }
    }
}
