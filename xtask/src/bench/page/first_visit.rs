//! Bytes of a first visit: a page with every file that it names, as a browser that accepts brotli and gzip gets them.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::ensure;

use super::super::load::Connection;
use super::super::report::{BenchTarget, ReportTable, group_thousands};
use super::page_server::PageServer;

/// What browsers send over a connection that they trust.
pub(super) const BROWSER_ENCODINGS: &str = "gzip, deflate, br";
const KILOBYTES_MAX: f64 = 60.0;
const KILOBYTE: f64 = 1_000.0;

pub(super) fn measure(server: &PageServer) -> anyhow::Result<Vec<BenchTarget>> {
    let table_path = format!("/c/{}", server.campaign_id);
    // The table asks for the odds of what stands in its box as soon as it is loaded.
    let odds_path = format!("{table_path}/odds?expression=duality(%2B0%2C%20dc%2012)");
    let lore_path = format!("{table_path}/lore");
    let entry_path = format!("{lore_path}/{}", server.entity_id);
    let pages = [
        ("home", "/".to_owned(), None),
        ("the table", table_path.clone(), Some(odds_path)),
        ("an evening", format!("{table_path}/sessions/1"), None),
        ("the editor", format!("{entry_path}/edit"), None),
        ("an entry of the lore", entry_path, None),
        ("the list of the lore", lore_path, None),
        ("the graph", format!("{table_path}/graph"), None),
        ("the timeline", format!("{table_path}/timeline"), None),
        ("the universes", format!("{table_path}/sky"), None),
        ("the odds of dice", "/dice".to_owned(), None),
    ];
    let mut table = ReportTable::new(
        "A first visit as a browser gets it, heads of answers included",
        &["", "page", "files", "number of files", "bytes together"],
    );
    let mut targets = Vec::new();
    for (name, path, later) in pages {
        let mut connection = Connection::open(server.server.address)?;
        connection.exchange(server.get_request(&path, "identity").as_bytes())?;
        let mut files = named_files(&String::from_utf8_lossy(&connection.body));
        ensure!(!files.is_empty(), "{path} names no file");
        let scripts: Vec<String> = files.iter().filter(|file| is_script(file)).cloned().collect();
        for script in scripts {
            connection.exchange(server.get_request(&script, "identity").as_bytes())?;
            files.extend(imported_files(&String::from_utf8_lossy(&connection.body)));
        }
        let mut transferred = |path: &str| -> anyhow::Result<f64> {
            let before = connection.received_bytes;
            connection.exchange(server.get_request(path, BROWSER_ENCODINGS).as_bytes())?;
            Ok(bytes_to_float(connection.received_bytes - before))
        };
        let page = transferred(&path)?;
        let mut of_files = 0.0;
        for file in files.iter().chain(&later) {
            of_files += transferred(file)?;
        }
        let together = page + of_files;
        let figures = [page, of_files].map(group_thousands);
        let [page, of_files] = figures;
        table.add_row([name.to_owned(), page, of_files, files.len().to_string(), group_thousands(together)]);
        targets.push(BenchTarget::at_most(format!("first visit of {name}"), together / KILOBYTE, KILOBYTES_MAX, "KB"));
    }
    table.print();
    Ok(targets)
}

#[expect(clippy::cast_precision_loss, reason = "some thousands")]
fn bytes_to_float(bytes: usize) -> f64 {
    bytes as f64
}

/// The style sheets, scripts and pictures that a page names, each once.
fn named_files(html: &str) -> BTreeSet<String> {
    let attributes = html.split(['"', '\'']);
    let assets = attributes.filter(|value| value.starts_with("/assets/"));
    let pictures = html.split("<img ").skip(1).filter_map(|rest| {
        let tag = rest.split('>').next()?;
        tag.split_once("src=\"")?.1.split('"').next()
    });
    let pictures = pictures.filter(|address| address.starts_with('/'));
    assets.chain(pictures).map(|address| address.replace("&amp;", "&")).collect()
}

/// The modules that a script imports.
fn imported_files(script: &str) -> BTreeSet<String> {
    let names = script.split("\"./").skip(1).filter_map(|rest| rest.split('"').next());
    names.filter(|name| is_script(name)).map(|name| format!("/assets/{name}")).collect()
}

fn is_script(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|extension| extension == "js")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_found_once_each() {
        let html = "<link href=\"/assets/page.1.css\"><img src=\"/assets/icon.2.svg\"><link href=\"/assets/icon.2.svg\"><a href=\"/c/1\">";
        assert_eq!(named_files(html).into_iter().collect::<Vec<_>>(), ["/assets/icon.2.svg", "/assets/page.1.css"]);
    }

    #[test]
    fn pictures_and_imported_modules_are_counted() {
        let html =
            "<figure><img alt=\"Luck\" src=\"/c/1/luck.svg?session=2&amp;rolls=3\"></figure><img src=\"data:x\">";
        assert_eq!(named_files(html).into_iter().collect::<Vec<_>>(), ["/c/1/luck.svg?session=2&rolls=3"]);
        let script = "import { openStream } from \"./stream.0f.js\";\nconst other = \"./page.css\";";
        assert_eq!(imported_files(script).into_iter().collect::<Vec<_>>(), ["/assets/stream.0f.js"]);
    }
}
