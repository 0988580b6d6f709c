//! The store: a backup to download, a verification, and the limits of the server.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::{CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::response::Response;
use futures::stream;
use jiff::Timestamp;
use maud::{Markup, html};
use skald_app::{Code, Fault, VerificationResult, limits};

use super::{AdministrationPage, administration_page};
use crate::SharedContext;
use crate::components::{copy_block, count, fault_box};
use crate::middleware::{PageError, status};
use crate::visitor::Visitor;

/// Bytes of a backup that are read at once.
const CHUNK_BYTES: usize = 256 * 1_024;

/// `GET /keeping/store`.
pub(crate) async fn show_store(State(context): State<SharedContext>, visitor: Visitor) -> Result<Response, PageError> {
    context.administration(&visitor)?;
    Ok(store_page(&context, &visitor, None, None))
}

/// `POST /keeping/verify`.
pub(crate) async fn verify(State(context): State<SharedContext>, visitor: Visitor) -> Result<Response, PageError> {
    let result = context.administration(&visitor)?.verify_store(&visitor.caller).await?;
    Ok(store_page(&context, &visitor, Some(&result), None))
}

/// `POST /keeping/backup`: a copy of the store, as a file to keep.
pub(crate) async fn backup(State(context): State<SharedContext>, visitor: Visitor) -> Result<Response, PageError> {
    let administration = context.administration(&visitor)?;
    let folder = TemporaryFolder::create()?;
    let path = folder.0.join("skald.db");
    if let Err(fault) = administration.backup_store(&visitor.caller, &path).await {
        let mut response = store_page(&context, &visitor, None, Some(&fault));
        *response.status_mut() = status(fault.class());
        return Ok(response);
    }
    let file = File::open(&path).map_err(|error| file_fault(&error))?;
    let name = format!("skald-{}.db", Timestamp::now().strftime("%Y-%m-%d-%H%M"));
    // The folder is removed when the stream has ended.
    let chunks = stream::try_unfold((file, folder), |(mut file, folder)| async move {
        let read = tokio::task::spawn_blocking(move || {
            let mut chunk = vec![0; CHUNK_BYTES];
            let length = file.read(&mut chunk)?;
            chunk.truncate(length);
            Ok::<_, std::io::Error>((file, chunk))
        });
        let (file, chunk) = read.await.map_err(std::io::Error::other)??;
        Ok::<_, std::io::Error>((!chunk.is_empty()).then(|| (Bytes::from(chunk), (file, folder))))
    });
    let mut response = Response::new(Body::from_stream(chunks));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/vnd.sqlite3"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(value) = HeaderValue::try_from(format!("attachment; filename=\"{name}\"")) {
        headers.insert(CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

/// A temporary folder that only this user can read. It is removed when this value is dropped.
struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    fn create() -> Result<Self, Fault> {
        let name = format!("skald-backup-{}-{}", std::process::id(), Timestamp::now().as_nanosecond());
        let path = std::env::temp_dir().join(name);
        create_private(&path).map_err(|error| file_fault(&error))?;
        Ok(Self(path))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // Ignore an error: the system cleans its temporary folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(unix)]
fn create_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().mode(0o700).create(path)
}

#[cfg(not(unix))]
fn create_private(path: &Path) -> std::io::Result<()> {
    std::fs::create_dir(path)
}

fn file_fault(error: &std::io::Error) -> Fault {
    let fault = Fault::new(Code::Unavailable, format!("the backup cannot be written or read: {}", error.kind()));
    fault.hint("look whether the temporary folder has room, or use `skald backup FILE`")
}

fn store_page(
    context: &SharedContext,
    visitor: &Visitor,
    result: Option<&VerificationResult>,
    fault: Option<&Fault>,
) -> Response {
    let trouble = (context.options.store_trouble)();
    administration_page(
        visitor,
        AdministrationPage::Store,
        &html! {
            @if let Some(fault) = fault { (fault_box(fault)) }
            @match &trouble {
                Some(trouble) => p.warning role="alert" { "Nothing can be stored right now: " (trouble) },
                None => p.well { "The store is well." },
            }
            @if let Some(result) = result { (verification(result)) }
            div.keeping-columns {
                section.card {
                    h2 { "Backup" }
                    p { "One file with everything, consistent while play goes on. Keep it where this machine is not." }
                    form method="post" action="/keeping/backup" { button.primary { "Download a backup" } }
                    p.muted { "From a terminal: " code { "skald backup FILE" } }
                }
                section.card {
                    h2 { "Verify" }
                    p { "Reads every record, follows the hashes and compares what is derived from them. A large world takes a while." }
                    form method="post" action="/keeping/verify" { button.primary { "Verify now" } }
                    p.muted { "From a terminal, also against seals: " code { "skald verify" } }
                }
            }
        },
    )
}

fn verification(result: &VerificationResult) -> Markup {
    html! {
        section.card.verified[result.is_sound()] role="status" {
            h2 { @if result.is_sound() { "Sound" } @else { "Not sound" } }
            p {
                (count(result.streams, "stream", "streams")) ", " (count(result.records, "record", "records")) ", "
                (count(result.documents, "row of read models", "rows of read models")) ", "
                (count(result.side_rows, "row beside the journal", "rows beside the journal")) "."
            }
            @if !result.findings.is_empty() {
                ul.findings {
                    @for (finding, remedy) in &result.findings { li { p { (finding) } p.muted { (remedy) } } }
                }
                @if result.unlisted > 0 { p.muted { "And " (result.unlisted) " more." } }
            }
            p.muted { "Note the root: a later one of the same world tells whether its end was cut off." }
            (copy_block(&result.root))
        }
    }
}

/// `GET /keeping/limits`.
pub(crate) async fn show_limits(State(context): State<SharedContext>, visitor: Visitor) -> Result<Response, PageError> {
    context.administration(&visitor)?;
    Ok(administration_page(
        &visitor,
        AdministrationPage::Limits,
        &html! {
            section.card {
                h2 { "Limits" }
                p.muted { "What a request, a campaign or a store may hold at most. Whatever goes past one is refused with its name." }
                div.table-scroll tabindex="0" role="region" aria-label="Limits" {
                    table.limits {
                        thead { tr { th scope="col" { "Of" } th.number scope="col" { "At most" } th scope="col" { "Unit" } } }
                        tbody { @for limit in limits::ALL { tr { td { (limit.what) } td.number { (group_thousands(limit.value)) } td { (limit.unit) } } } }
                    }
                }
            }
        },
    ))
}

/// A number in groups of three digits.
fn group_thousands(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let mut text = digits[..first].to_owned();
    for at in (first..digits.len()).step_by(3) {
        if !text.is_empty() {
            text.push('\u{202f}');
        }
        text.push_str(&digits[at..at + 3]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_grouped() {
        assert_eq!(
            [0, 999, 1_000, 1_234_567].map(group_thousands),
            ["0", "999", "1\u{202f}000", "1\u{202f}234\u{202f}567"]
        );
    }

    #[test]
    fn a_temporary_folder_goes_with_its_value() {
        let folder = TemporaryFolder::create().expect("a folder");
        let path = folder.0.clone();
        std::fs::write(path.join("x"), "x").expect("written");
        drop(folder);
        assert!(!path.exists());
    }
}
