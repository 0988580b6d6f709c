//! Packs files so that the same files give the same bytes: sorted, with one time and owner, and with modes that do not
//! depend on whoever packs them.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::run;

/// What a file in a zip archive is made of.
pub(super) enum ZipContent {
    Text(String),
    File(PathBuf),
    /// A file that can be started.
    Program(PathBuf),
}

/// GNU tar with everything fixed that could differ between two runs.
pub(super) fn tar_command(epoch: i64) -> Command {
    let mut command = Command::new("tar");
    command.args(["--sort=name", "--format=ustar", "--numeric-owner"]).arg(format!("--mtime=@{epoch}"));
    command.env("LC_ALL", "C");
    command
}

/// Files of root, readable for all, and those that can be started by one by all.
pub(super) const OF_ROOT: [&str; 3] = ["--owner=0", "--group=0", "--mode=u=rwX,go=rX"];

/// Packs a folder, with its name.
pub(super) fn write_tar_gz(folder: &Path, file: &Path, epoch: i64) -> anyhow::Result<()> {
    let name = folder.file_name().context("a folder without a name")?;
    let parent = folder.parent().context("a folder without a parent")?;
    let mut command = tar_command(epoch);
    command.args(OF_ROOT).arg("--use-compress-program=gzip -9n").arg("-cf").arg(file);
    run::run_captured(command.arg("-C").arg(parent).arg(name)).map(drop)
}

/// Compresses a file in place, and returns its new path.
pub(super) fn gzip(file: &Path) -> anyhow::Result<PathBuf> {
    run::run_captured(Command::new("gzip").arg("-9nf").arg(file))?;
    Ok(PathBuf::from(format!("{}.gz", file.display())))
}

/// Writes a zip archive, with the files in this order and at the earliest time that there is in one.
pub(super) fn write_zip(files: &[(String, ZipContent)], file: &Path) -> anyhow::Result<()> {
    let mut writer = ZipWriter::new(File::create(file)?);
    for (name, content) in files {
        let (bytes, mode) = match content {
            ZipContent::Text(text) => (text.clone().into_bytes(), 0o644),
            ZipContent::File(path) => (read(path)?, 0o644),
            ZipContent::Program(path) => (read(path)?, 0o755),
        };
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .last_modified_time(zip::DateTime::DEFAULT)
            .unix_permissions(mode);
        writer.start_file(name.as_str(), options)?;
        writer.write_all(&bytes)?;
    }
    writer.finish()?;
    Ok(())
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("{} cannot be read", path.display()))
}

pub(super) fn sha256_of_file(path: &Path) -> anyhow::Result<String> {
    Ok(sha256(&read(path)?))
}

/// The hash in lower-case hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// All files below a folder, sorted, as paths from it.
pub(super) fn files_below(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let (mut found, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).with_context(|| format!("{} cannot be listed", next.display()))? {
            let path = entry?.path();
            if path.is_dir() && !path.is_symlink() {
                folders.push(path);
            } else {
                found.push(path.strip_prefix(folder)?.to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder for one test, removed by the next run.
    fn test_folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("skald-pack-{name}-{}", std::process::id()));
        super::super::empty_folder(&folder).unwrap();
        folder
    }

    #[test]
    fn the_same_files_give_the_same_bytes() {
        let folder = test_folder("same");
        let mut hashes = Vec::new();
        for (run, names) in [["a", "b"], ["b", "a"]].into_iter().enumerate() {
            let packed = folder.join(run.to_string()).join("packed");
            fs::create_dir_all(&packed).unwrap();
            for name in names {
                fs::write(packed.join(name), name).unwrap();
            }
            // Another time, and another mode than root's usual one.
            let touched = File::options().write(true).open(packed.join("a")).unwrap();
            touched.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_hours(run as u64)).unwrap();
            run::run_captured(Command::new("chmod").arg(["600", "664"][run]).arg(packed.join("b"))).unwrap();
            let (tar, zip) = (folder.join(format!("{run}.tar.gz")), folder.join(format!("{run}.zip")));
            write_tar_gz(&packed, &tar, 1_700_000_000).unwrap();
            let text = ZipContent::Text("x".to_owned());
            write_zip(&[("a".to_owned(), ZipContent::Program(packed.join("a"))), ("c".to_owned(), text)], &zip)
                .unwrap();
            hashes.push((sha256_of_file(&tar).unwrap(), sha256_of_file(&zip).unwrap()));
        }
        assert_eq!(hashes[0], hashes[1]);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_hash_has_64_digits() {
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
