//! Checks an event's submission: validates the payload, selects the keys for the context, and accepts artifacts.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::campaign_numbers::CampaignNumbers;
use super::super::evidence::{Artifact, Evidence, name_matches, normalize_artifact_path};
use super::super::facts::Facts;
use super::super::finding::{join_pointer, shorten};
use super::super::json_schema::SchemaMisfit;
use super::super::process::{EventKind, Process, Setting};
use super::command::SubmittedArtifact;
use super::refusal::RunRefusal;
use super::state::{RunState, variable_bytes};
use crate::limits;

/// Validates a payload, and the context with it. Returns the keys that are written to the context.
pub(super) fn check_payload(
    state: &RunState,
    process: &Process,
    event: &EventKind,
    payload: &Map<String, Value>,
    facts: &Facts,
) -> Result<Vec<String>, RunRefusal> {
    let bytes: usize = payload.iter().map(|(name, value)| variable_bytes(name, value)).sum();
    check_limit("payload", "a payload", "bytes", bytes, limits::PAYLOAD_BYTES_MAX)?;
    let mut misfits = Vec::new();
    if let Some(schema) = &event.payload_schema {
        misfits.extend(schema.misfits(&Value::Object(payload.clone()), "/payload"));
    }
    let mut set = Vec::new();
    for name in payload.keys() {
        match process.event_setting(event, name) {
            Setting::Set => {
                misfits.extend(campaign_misfit("/payload", name, payload, &facts.campaign_numbers));
                set.push(name.clone());
            }
            Setting::Kept => {}
            Setting::Forbidden => {
                misfits.push(guarded_variable_misfit("/payload", name, &format!("event '{}'", event.name)));
            }
        }
    }
    if !misfits.is_empty() {
        return Err(RunRefusal::PayloadMisfits { misfits });
    }
    let changes: Vec<(&String, &Value)> = payload.iter().filter(|(name, _)| set.contains(name)).collect();
    let added: usize = changes.iter().map(|(name, value)| variable_bytes(name, value)).sum();
    let replaced = changes.iter().filter_map(|(name, _)| Some(variable_bytes(name, state.context.get(*name)?)));
    let total = (state.context_bytes + added).saturating_sub(replaced.sum());
    check_limit("payload", "the context of a run", "bytes", total, limits::CONTEXT_BYTES_MAX)?;
    if process.context_schema.is_some() && !changes.is_empty() {
        let mut context: Map<String, Value> =
            state.context.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
        context.extend(changes.into_iter().map(|(name, value)| (name.clone(), value.clone())));
        let misfits = context_misfits(process, &context, "/payload");
        if !misfits.is_empty() {
            return Err(RunRefusal::PayloadMisfits { misfits });
        }
    }
    Ok(set)
}

/// Validates and builds the initial context of a run.
pub(super) fn build_initial_context(
    process: &Process,
    given: &Map<String, Value>,
    campaign_numbers: Option<CampaignNumbers>,
) -> Result<Map<String, Value>, RunRefusal> {
    let misfit = |name: &String| match process.creation_setting(name) {
        Setting::Set => None,
        Setting::Forbidden => Some(guarded_variable_misfit("/context", name, "creating a run")),
        // An event stores such a variable with its payload; here it would be lost.
        Setting::Kept => Some(SchemaMisfit {
            path: join_pointer("/context", shorten(name)),
            message: format!("creating a run of this process does not set '{}'", shorten(name)),
        }),
    };
    let misfits: Vec<SchemaMisfit> = given.keys().filter_map(misfit).collect();
    let unfit = |misfits: Vec<SchemaMisfit>| RunRefusal::ContextMisfits { misfits, settable: process.sets.clone() };
    if !misfits.is_empty() {
        return Err(unfit(misfits));
    }
    let mut context = process.initial_context.clone();
    context.extend(given.iter().map(|(name, value)| (name.clone(), value.clone())));
    let numbers = campaign_numbers.map(|numbers| process.context_from_campaign(numbers, &context)).unwrap_or_default();
    let misfits: Vec<SchemaMisfit> =
        given.keys().filter_map(|name| campaign_misfit("/context", name, given, &numbers)).collect();
    if !misfits.is_empty() {
        return Err(unfit(misfits));
    }
    context.extend(numbers);
    let bytes = context.iter().map(|(name, value)| variable_bytes(name, value)).sum();
    check_limit("context", "the context of a run", "bytes", bytes, limits::CONTEXT_BYTES_MAX)?;
    let misfits = context_misfits(process, &context, "/context");
    if misfits.is_empty() { Ok(context) } else { Err(unfit(misfits)) }
}

fn context_misfits(process: &Process, context: &Map<String, Value>, prefix: &str) -> Vec<SchemaMisfit> {
    let schema = process.context_schema.as_ref();
    schema.map(|schema| schema.misfits(&Value::Object(context.clone()), prefix)).unwrap_or_default()
}

/// The misfit of a value that says otherwise than the campaign.
fn campaign_misfit(
    prefix: &str,
    name: &str,
    given: &Map<String, Value>,
    numbers: &Map<String, Value>,
) -> Option<SchemaMisfit> {
    let number = numbers.get(name).filter(|number| given.get(name) != Some(*number))?;
    let name = shorten(name);
    let message = format!("'{name}' comes from the campaign of this run, where it is {number}");
    Some(SchemaMisfit { path: join_pointer(prefix, name), message })
}

fn guarded_variable_misfit(prefix: &str, name: &str, what: &str) -> SchemaMisfit {
    let name = shorten(name);
    let message = format!("a guard reads the context variable '{name}', and {what} does not set it");
    SchemaMisfit { path: join_pointer(prefix, name), message }
}

pub(super) fn check_limit(
    field: &'static str,
    what: &'static str,
    unit: &'static str,
    count: usize,
    count_max: usize,
) -> Result<(), RunRefusal> {
    if count <= count_max { Ok(()) } else { Err(RunRefusal::TooLarge { field, what, unit, count, count_max }) }
}

/// Refuses artifacts that come with a decision: the principal would decide on their own evidence.
pub(super) fn check_no_artifacts(event: &str, submitted: &[SubmittedArtifact]) -> Result<(), RunRefusal> {
    let message = format!("'{event}' decides on what others submitted, and brings no artifact of its own");
    let misfit = |one: &SubmittedArtifact| SchemaMisfit { path: one.pointer.clone(), message: message.clone() };
    let misfits: Vec<SchemaMisfit> = submitted.iter().map(misfit).collect();
    if misfits.is_empty() { Ok(()) } else { Err(RunRefusal::ArtifactMisfits { misfits }) }
}

/// Validates submitted artifacts. Returns the evidence of the run with them, and the new artifacts.
pub(super) fn check_artifacts(
    state: &RunState,
    process: &Process,
    submitted: &[SubmittedArtifact],
    unfit: &[SchemaMisfit],
) -> Result<(Evidence, Vec<Artifact>), RunRefusal> {
    check_limit("artifact_paths", "an event", "artifacts", submitted.len(), limits::ARTIFACTS_SUBMITTED_MAX)?;
    let mut misfits = unfit.to_vec();
    let mut taken: BTreeMap<String, Artifact> = BTreeMap::new();
    for one in submitted {
        let misfit = match check_artifact(process, one) {
            Ok(artifact) => match taken.get_mut(&artifact.path) {
                Some(other) if other.sha256 != artifact.sha256 => {
                    Some(format!("'{}' is submitted twice, with different contents", shorten(&artifact.path)))
                }
                Some(other) => {
                    other.types.extend(artifact.types);
                    other.types.sort();
                    other.types.dedup();
                    other.measure = other.measure.take().or(artifact.measure);
                    None
                }
                None => {
                    taken.insert(artifact.path.clone(), artifact);
                    None
                }
            },
            Err(message) => Some(message),
        };
        misfits.extend(misfit.map(|message| SchemaMisfit { path: one.pointer.clone(), message }));
    }
    if !misfits.is_empty() {
        return Err(RunRefusal::ArtifactMisfits { misfits });
    }
    let artifacts: Vec<Artifact> = taken.into_values().collect();
    let mut evidence = state.evidence.clone();
    for artifact in &artifacts {
        evidence.put(artifact.clone());
    }
    check_limit("artifact_paths", "a run", "artifacts", evidence.len(), limits::ARTIFACTS_MAX)?;
    Ok((evidence, artifacts))
}

fn check_artifact(process: &Process, submitted: &SubmittedArtifact) -> Result<Artifact, String> {
    let path =
        normalize_artifact_path(&submitted.path).map_err(|why| format!("{why}: {}", shorten(&submitted.path)))?;
    if submitted.bytes == 0 {
        return Err(format!("Artifact '{}' is empty", shorten(&path)));
    }
    let sha256 = submitted.sha256.to_ascii_lowercase();
    if sha256.len() != 64 || !sha256.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(format!("'{}' is no SHA-256", shorten(&submitted.sha256)));
    }
    let types: Vec<String> = match &submitted.artifact_type {
        Some(declared) if process.artifact(declared).is_some() => vec![declared.clone()],
        Some(declared) => {
            let known: Vec<&str> = process.artifacts.iter().map(|kind| kind.name.as_str()).collect();
            return Err(format!("there is no artifact type '{}', known: {}", shorten(declared), known.join(", ")));
        }
        None => {
            let kinds = process.artifacts.iter().filter(|kind| name_matches(&path, &kind.name));
            kinds.map(|kind| kind.name.clone()).collect()
        }
    };
    for name in &types {
        let Some(schema) = process.artifact(name).and_then(|kind| kind.schema.as_ref()) else { continue };
        let Some(json) = &submitted.json else {
            return Err(format!("an artifact of type '{name}' is JSON, '{}' is not", shorten(&path)));
        };
        if let Some(misfit) = schema.misfits(json, "").first() {
            let place = if misfit.path.is_empty() { String::new() } else { format!("{} ", misfit.path) };
            return Err(format!("'{}' does not fit the schema of '{name}': {place}{}", shorten(&path), misfit.message));
        }
    }
    let measure = submitted.measure.clone().filter(|_| types.iter().any(|name| process.is_measured(name)));
    Ok(Artifact { path, sha256, bytes: submitted.bytes, types, inline: submitted.inline, measure })
}
