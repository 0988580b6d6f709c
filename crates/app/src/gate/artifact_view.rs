//! View of one artifact: its content, and whether the file has changed since it was submitted.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::Serialize;
use skald_domain::gate::normalize_artifact_path;

use super::access::FoundRun;
use super::files_port::NO_FOLDER;
use crate::{App, Code, Fault, truncate_for_message};

/// An artifact with its content.
#[derive(Serialize, JsonSchema)]
pub(super) struct ArtifactView {
    path: String,
    sha256: String,
    bytes: u64,
    types: Vec<String>,
    /// Whether its file is gone or has changed since it was submitted: then its content is not what counted.
    stale: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
    /// Why its content is not here.
    #[serde(skip_serializing_if = "Option::is_none")]
    missing: Option<String>,
}

/// Only for events of versions that stored content after the event: the server may have stopped between the two.
const CONTENT_NOT_STORED: &str =
    "its content is not kept: the event was accepted but never answered; send it again, same key";

pub(super) async fn view_artifact(app: &App, found_run: &FoundRun, path: &str) -> Result<ArtifactView, Fault> {
    let evidence = found_run.committed.state.evidence();
    // Try the exact path first: an older version accepted paths that are refused today.
    let found = evidence.get(path).or_else(|| evidence.get(&normalize_artifact_path(path).ok()?)).ok_or_else(|| {
        let known: Vec<String> = evidence.iter().take(20).map(|artifact| artifact.path.clone()).collect();
        let fault = Fault::new(
            Code::NotFound,
            format!("no artifact '{}' was submitted to this run", truncate_for_message(path)),
        );
        fault.with_path("/path").value(&path.into()).hint("name one that was submitted").allowed(known)
    })?;
    let stale = match (&found_run.run().folder, found.inline) {
        (_, true) => false,
        (None, false) => true,
        (Some(folder), false) => {
            let held = vec![(found.path.clone(), found.sha256.clone())];
            !app.files.stale_paths(folder, held).await.is_empty()
        }
    };
    let content = match (&found_run.run().folder, found.inline) {
        (_, true) => app.stored_content(&found.sha256).await?.ok_or_else(|| CONTENT_NOT_STORED.to_owned()),
        (Some(folder), false) => {
            let content = app.files.read_content(folder, &found.path).await;
            content.map_err(|why| found_run.paths.redact_text(&why, folder))
        }
        (None, false) => Err(NO_FOLDER.to_owned()),
    };
    let mut shown = ArtifactView {
        path: found.path.clone(),
        sha256: found.sha256.clone(),
        bytes: found.bytes,
        types: found.types.clone(),
        stale,
        text: None,
        base64: None,
        missing: None,
    };
    match content.map(String::from_utf8) {
        Err(why) => shown.missing = Some(why),
        Ok(Ok(text)) => shown.text = Some(text),
        Ok(Err(error)) => shown.base64 = Some(STANDARD.encode(error.into_bytes())),
    }
    Ok(shown)
}
