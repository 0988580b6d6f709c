//! The licence texts of everything that is in the program: crates, the standard library, and what is no crate.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, bail};

use super::bundled_parts::BundledPart;
use super::pack;
use super::release::Release;
use super::shipped_crates::ShippedCrate;
use crate::paths;

/// How names of files begin that hold a licence or what belongs to one.
const FILE_NAMES: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// The text of the licence of crates that are packed without one. Their manifests name it and the authors.
const MIT_TERMS: &str = "\
Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the \"Software\"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
";

/// Something with a licence, and the texts of it.
struct Notice {
    /// Name, version, licence and source.
    head: String,
    texts: Vec<String>,
}

pub(super) fn render(release: &Release, crates: &[ShippedCrate], parts: &[BundledPart]) -> anyhow::Result<String> {
    let mut notices = vec![standard_library_notice()?];
    notices.extend(parts.iter().map(part_notice));
    for shipped in crates.iter().filter(|shipped| !shipped.is_ours()) {
        notices.push(crate_notice(shipped)?);
    }
    let head = format!(
        "Skald {} is licensed under the Apache License 2.0. It contains what is listed here, with the licences of their\n\
         authors. The numbers refer to the texts below the list.\n",
        release.version
    );
    Ok(render_notices(&head, &notices))
}

/// The list first, then each text once, numbered in the order of the list.
fn render_notices(head: &str, notices: &[Notice]) -> String {
    let (mut list, mut texts): (String, Vec<&str>) = (format!("{head}\n"), Vec::new());
    for notice in notices {
        let mut numbers = Vec::new();
        for text in &notice.texts {
            let at = texts.iter().position(|known| known == text).unwrap_or_else(|| {
                texts.push(text);
                texts.len() - 1
            });
            numbers.push((at + 1).to_string());
        }
        let _ = writeln!(list, "- {}: {}", notice.head, numbers.join(", "));
    }
    for (at, text) in texts.iter().enumerate() {
        let _ = write!(list, "\n{:=<100}\nText {}\n\n{text}\n", "", at + 1);
    }
    list
}

fn crate_notice(shipped: &ShippedCrate) -> anyhow::Result<Notice> {
    let source = shipped.repository.clone().unwrap_or_else(|| "crates.io".to_owned());
    let head = format!("{} {} ({}), {source}", shipped.name, shipped.version, shipped.licence);
    let mut files: Vec<PathBuf> = pack::files_below(&shipped.folder)?
        .into_iter()
        .filter(|file| is_licence_file(file))
        .map(|file| shipped.folder.join(file))
        .collect();
    files.extend(shipped.licence_file.clone().filter(|file| !files.contains(file)));
    let mut texts = Vec::new();
    for file in files {
        let bytes = fs::read(&file).with_context(|| format!("{} cannot be read", file.display()))?;
        texts.push(normalize(&String::from_utf8_lossy(&bytes)));
    }
    if texts.is_empty() {
        // Of alternatives we may take one.
        if !shipped.licence.split(" OR ").any(|licence| licence == "MIT") {
            bail!(
                "{} {} is packed without the text of its licence, {}",
                shipped.name,
                shipped.version,
                shipped.licence
            );
        }
        let authors = if shipped.authors.is_empty() { shipped.name.clone() } else { shipped.authors.join(", ") };
        texts.push(format!("Copyright (c) {authors}\n\n{MIT_TERMS}"));
    }
    Ok(Notice { head, texts })
}

/// Whether a file in the root of a crate, or in its folder `LICENSES`, is a licence.
fn is_licence_file(file: &std::path::Path) -> bool {
    let begins = |part: &std::ffi::OsStr| {
        let name = part.to_string_lossy().to_uppercase();
        FILE_NAMES.iter().any(|begin| name.starts_with(begin)) && file.extension().is_none_or(|ending| ending != "rs")
    };
    let mut parts = file.iter();
    let depth = file.iter().count();
    depth <= 2 && parts.next().is_some_and(begins)
}

fn standard_library_notice() -> anyhow::Result<Notice> {
    let apache = normalize(&fs::read_to_string(paths::root().join("LICENSE"))?);
    let head = "The Rust standard library (MIT OR Apache-2.0), https://github.com/rust-lang/rust".to_owned();
    Ok(Notice { head, texts: vec![apache] })
}

fn part_notice(part: &BundledPart) -> Notice {
    let BundledPart { name, version, licence, source, licence_text, .. } = part;
    Notice { head: format!("{name} {version} ({licence}), {source}"), texts: vec![normalize(licence_text)] }
}

/// The text with the line ends of Unix, and one at the end.
fn normalize(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    format!("{}\n", lines.join("\n").trim_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dist::{bundled_parts, shipped_crates};

    #[test]
    fn a_text_is_printed_once() {
        let notice = |head: &str, texts: &[&str]| Notice {
            head: head.to_owned(),
            texts: texts.iter().map(|text| (*text).to_owned()).collect(),
        };
        let page = render_notices("Head.\n", &[notice("a", &["one\n", "two\n"]), notice("b", &["two\n"])]);
        assert!(page.starts_with("Head.\n\n- a: 1, 2\n- b: 2\n"), "{page}");
        assert_eq!(page.matches("two\n").count(), 1);
    }

    #[test]
    fn licence_files_are_told_from_others() {
        for file in ["LICENSE-MIT", "license.txt", "COPYING", "LICENSES/MIT.txt", "UNLICENSE"] {
            assert!(is_licence_file(std::path::Path::new(file)), "{file}");
        }
        for file in ["src/license.rs", "licenses.rs", "README.md", "a/LICENSE", "LICENSES/a/b"] {
            assert!(!is_licence_file(std::path::Path::new(file)), "{file}");
        }
    }

    #[test]
    fn everything_that_is_shipped_has_the_text_of_its_licence() {
        let release = Release::read().unwrap();
        let crates = shipped_crates::read(&release).unwrap();
        let parts = bundled_parts::read(&crates).unwrap();
        let page = render(&release, &crates, &parts).unwrap();
        for shipped in crates.iter().filter(|shipped| !shipped.is_ours()) {
            assert!(page.contains(&format!("\n- {} {} (", shipped.name, shipped.version)), "{}", shipped.name);
        }
        for other in ["- The Rust standard library", "- SQLite 3.", "- DejaVu Sans ", "- htmx ", "Zero-Clause BSD"] {
            assert!(page.contains(other), "{other}");
        }
    }
}
