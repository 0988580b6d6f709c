//! Artifacts submitted with an event: reads files below the run's folder or inline content, and enforces quotas. Each
//! becomes evidence, or the reason why it is refused.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::gate::{
    ArtifactKind, ContentMeasure, Process, SchemaMisfit, SubmittedArtifact, name_matches, normalize_artifact_path,
};

use super::access::FoundRun;
use super::files_port::{ArtifactFile, ContentRequest};
use crate::sha256::sha256_hex;
use crate::{App, Code, Fault, limits, truncate_for_message};
use skald_journal::{FindingKind, RowCheck, SideRow};

/// Kind of the side rows with inline content, by SHA-256.
pub(super) const CONTENTS: &str = "artifact";

/// Kind of the side rows with counted bytes of inline content, by run and by campaign.
pub(super) const INLINE_BYTES_COUNTED: &str = "inline-bytes";

/// A limit on the total inline content of a run, a campaign or a principal.
struct ContentQuota {
    key: String,
    what: &'static str,
    most: u64,
}

/// The quotas for a run. A run without a campaign counts for the principal who created it.
fn content_quotas(found_run: &FoundRun) -> [ContentQuota; 2] {
    let run = found_run.run();
    let (key, what) = match &run.campaign_id {
        Some(campaign_id) => (format!("campaign/{campaign_id}"), "a campaign"),
        None => (format!("principal/{}", run.created_by), "whoever created the run"),
    };
    [
        ContentQuota { key: format!("run/{}", found_run.run_id), what: "a run", most: limits::INLINE_RUN_BYTES_MAX },
        ContentQuota { key, what, most: limits::INLINE_CAMPAIGN_BYTES_MAX },
    ]
}

/// An artifact as it is sent: a file below the artifact folder, or content.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-brief" = true))]
pub(super) struct SentArtifact {
    /// Its name: a relative path.
    pub path: String,
    /// Its type; by default from its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#type: Option<String>,
    /// Its content as text. Without any content it is a file below the artifact folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Its content in base64.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
}

/// The artifacts of a request, in the order in which they were sent.
pub(super) struct RequestArtifacts<'a> {
    pub artifact_paths: &'a [String],
    pub artifacts: &'a [SentArtifact],
}

/// The inline contents of a request, each with its SHA-256.
pub(super) type EvidenceContents = Vec<(String, Vec<u8>)>;

/// The resolved artifacts of a request.
#[derive(Default)]
pub(super) struct ResolvedArtifacts {
    pub submitted: Vec<SubmittedArtifact>,
    pub unfit: Vec<SchemaMisfit>,
    pub contents: EvidenceContents,
}

impl RequestArtifacts<'_> {
    /// The invalid paths, each with the reason. Checking them reads no files.
    pub(super) fn invalid_paths(&self) -> Vec<SchemaMisfit> {
        let unfit = |(pointer, path): (String, &String)| {
            let why = normalize_artifact_path(path).err()?;
            Some(SchemaMisfit { path: pointer, message: format!("{why}: {}", truncate_for_message(path)) })
        };
        self.paths().filter_map(unfit).collect()
    }

    fn paths(&self) -> impl Iterator<Item = (String, &String)> {
        let paths = self.artifact_paths.iter().enumerate();
        let paths = paths.map(|(index, path)| (format!("/artifact_paths/{index}"), path));
        let artifacts = self.artifacts.iter().enumerate();
        paths.chain(artifacts.map(|(index, artifact)| (format!("/artifacts/{index}/path"), &artifact.path)))
    }
}

impl App {
    /// Reads and checks all artifacts of a request.
    pub(super) async fn resolve_artifacts(
        &self,
        found_run: &FoundRun,
        sent: &RequestArtifacts<'_>,
    ) -> ResolvedArtifacts {
        let mut resolved = ResolvedArtifacts::default();
        if sent.paths().count() > limits::ARTIFACTS_SUBMITTED_MAX {
            let message = format!("an event submits at most {} artifacts", limits::ARTIFACTS_SUBMITTED_MAX);
            resolved.unfit.push(SchemaMisfit { path: "/artifact_paths".to_owned(), message });
            return resolved;
        }
        for (index, path) in sent.artifact_paths.iter().enumerate() {
            let found = self.read_file_artifact(found_run, format!("/artifact_paths/{index}"), path, None).await;
            resolved.push_result(found);
        }
        for (index, artifact) in sent.artifacts.iter().enumerate() {
            let pointer = format!("/artifacts/{index}");
            match decode_inline_content(artifact) {
                Err(message) => resolved.unfit.push(SchemaMisfit { path: pointer, message }),
                Ok(None) => {
                    let declared = artifact.r#type.clone();
                    let found =
                        self.read_file_artifact(found_run, format!("{pointer}/path"), &artifact.path, declared).await;
                    resolved.push_result(found);
                }
                Ok(Some(bytes)) => resolved.push_inline(&found_run.process, pointer, artifact, bytes),
            }
        }
        resolved
    }

    async fn read_file_artifact(
        &self,
        found_run: &FoundRun,
        pointer: String,
        sent: &str,
        declared: Option<String>,
    ) -> Result<SubmittedArtifact, SchemaMisfit> {
        let unfit = |pointer: &str, message: String| SchemaMisfit { path: pointer.to_owned(), message };
        let path = normalize_artifact_path(sent)
            .map_err(|why| unfit(&pointer, format!("{why}: {}", truncate_for_message(sent))))?;
        let Some(folder) = &found_run.run().folder else {
            return Err(unfit(&pointer, super::files_port::NO_FOLDER.to_owned()));
        };
        let request = content_request(&found_run.process, &path, declared.as_deref());
        let found = match self.files.read_artifact(folder, &path, request).await {
            Ok(found) => found,
            Err(why) => {
                let mut why = found_run.paths.redact_text(&why, folder);
                // The holder of a token must not learn which files are in the server's working folder.
                if found_run.paths.is_for_owner() && self.files.is_in_working_folder(&path).await {
                    why.push_str(". A file of this path lies in the working folder, which is not looked into: copy it");
                }
                return Err(unfit(&pointer, why));
            }
        };
        let ArtifactFile { sha256, bytes, json, measure } = found;
        Ok(SubmittedArtifact { pointer, path, sha256, bytes, artifact_type: declared, inline: false, json, measure })
    }

    /// The content that is not stored yet.
    pub(super) async fn filter_unstored(&self, contents: EvidenceContents) -> Result<EvidenceContents, Fault> {
        let mut not_stored = Vec::new();
        for (sha256, bytes) in contents {
            let stored = self.journal.get(CONTENTS, &sha256).await.map_err(|error| self.store_fault(&error))?;
            if stored.is_none() {
                not_stored.push((sha256, bytes));
            }
        }
        Ok(not_stored)
    }

    /// Refuses inline content that would exceed the quota of the run or of its campaign.
    pub(super) async fn check_content_quotas(
        &self,
        found_run: &FoundRun,
        contents: &EvidenceContents,
    ) -> Result<(), Fault> {
        let added: u64 = contents.iter().map(|(_, bytes)| bytes.len() as u64).sum();
        for ContentQuota { key, what, most } in content_quotas(found_run).into_iter().filter(|_| added > 0) {
            let total = self.counted_bytes(&key).await?.map_or(0, |(_, total)| total) + added;
            if total > most {
                let message = format!("{what} keeps {most} bytes of content that is handed in, this would be {total}");
                let hint = "write further evidence below the artifact folder and name it in artifact_paths: files are \
                            not counted";
                return Err(Fault::new(Code::TooLarge, message).with_path("/artifacts").hint(hint));
            }
        }
        Ok(())
    }

    /// Counts content that was stored with an event. The event is already accepted, so if the store fails here, the
    /// content stays uncounted.
    pub(super) async fn count_contents(&self, found_run: &FoundRun, added: u64) {
        if let Err(error) = self.add_counted_bytes(found_run, added).await {
            tracing::warn!(%error, run = found_run.run_id, "content that was handed in is not counted");
        }
    }

    async fn add_counted_bytes(&self, found_run: &FoundRun, added: u64) -> Result<(), Fault> {
        for ContentQuota { key, .. } in content_quotas(found_run) {
            loop {
                let counted = self.counted_bytes(&key).await?;
                let written = match &counted {
                    Some((old, total)) => {
                        self.journal.replace(INLINE_BYTES_COUNTED, &key, old, (total + added).to_string()).await
                    }
                    None => self.journal.put(INLINE_BYTES_COUNTED, &key, added.to_string()).await.map(|()| true),
                };
                if written.map_err(|error| self.store_fault(&error))? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The count under a key, as the stored text and as a number.
    async fn counted_bytes(&self, key: &str) -> Result<Option<(String, u64)>, Fault> {
        let row = self.journal.get(INLINE_BYTES_COUNTED, key).await.map_err(|error| self.store_fault(&error))?;
        Ok(row.map(|row| (row.clone(), row.parse().unwrap_or_default())))
    }

    /// Stored inline content by its SHA-256.
    pub(super) async fn stored_content(&self, sha256: &str) -> Result<Option<Vec<u8>>, Fault> {
        let committed = self.journal.get(CONTENTS, sha256).await.map_err(|error| self.store_fault(&error))?;
        Ok(committed.and_then(|text| STANDARD.decode(text).ok()))
    }
}

/// The side rows for inline content. They are stored in the transaction of the event, so that no accepted event lacks
/// its content.
pub(super) fn content_rows(contents: &EvidenceContents) -> Vec<SideRow> {
    let row = |(sha256, bytes): &(String, Vec<u8>)| SideRow {
        kind: CONTENTS.into(),
        key: sha256.clone(),
        body: STANDARD.encode(bytes).into(),
    };
    contents.iter().map(row).collect()
}

impl ResolvedArtifacts {
    fn push_result(&mut self, found: Result<SubmittedArtifact, SchemaMisfit>) {
        match found {
            Ok(submitted) => self.submitted.push(submitted),
            Err(misfit) => self.unfit.push(misfit),
        }
    }

    fn push_inline(&mut self, process: &Process, pointer: String, artifact: &SentArtifact, bytes: Vec<u8>) {
        let sha256 = sha256_hex(&bytes);
        let words = content_request(process, &artifact.path, artifact.r#type.as_deref()).measured_words;
        let measure = |words: Vec<String>| ContentMeasure::from_content(&bytes, words.iter().map(String::as_str));
        self.submitted.push(SubmittedArtifact {
            pointer,
            path: artifact.path.clone(),
            sha256: sha256.clone(),
            bytes: bytes.len() as u64,
            artifact_type: artifact.r#type.clone(),
            inline: true,
            json: serde_json::from_slice(&bytes).ok(),
            measure: words.map(measure),
        });
        self.contents.push((sha256, bytes));
    }
}

/// Checks stored content against its hash.
pub(super) fn check_content(_kind: &str, sha256: &str, body: &str) -> RowCheck {
    if STANDARD.decode(body).is_ok_and(|bytes| sha256_hex(&bytes) == sha256) {
        return RowCheck::Sound;
    }
    RowCheck::Wrong(FindingKind::ContentDiffers, "the content is not the one that was handed in".to_owned())
}

/// The inline content of an artifact, if it has any.
fn decode_inline_content(artifact: &SentArtifact) -> Result<Option<Vec<u8>>, String> {
    let path = truncate_for_message(&artifact.path);
    let bytes = match (&artifact.text, &artifact.base64) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => return Err(format!("'{path}' has text and base64, send one of them")),
        (Some(text), None) => text.clone().into_bytes(),
        (None, Some(encoded)) => STANDARD.decode(encoded).map_err(|error| format!("'{path}' is no base64: {error}"))?,
    };
    if bytes.len() > limits::INLINE_BYTES_MAX {
        let (bytes, most) = (bytes.len(), limits::INLINE_BYTES_MAX);
        return Err(format!("'{path}' has {bytes} bytes, at most {most} can be handed in"));
    }
    Ok(Some(bytes))
}

/// What the process asks of the content of an artifact, by its types as declared or by its name.
fn content_request(process: &Process, path: &str, declared: Option<&str>) -> ContentRequest {
    let counts = |name: &str| declared.map_or_else(|| name_matches(path, name), |declared| declared == name);
    let kinds: Vec<&ArtifactKind> = process.artifacts.iter().filter(|kind| counts(&kind.name)).collect();
    let is_measured = kinds.iter().any(|kind| process.is_measured(&kind.name));
    ContentRequest {
        json: kinds.iter().any(|kind| kind.schema.is_some()),
        measured_words: is_measured.then(|| process.searched_words().into_iter().map(str::to_owned).collect()),
    }
}
