//! Access to a run: finds the one that a call names, checks the caller's role, and looks up the facts for guards.

use crate::gate::RunStream;
use std::collections::BTreeSet;
use std::sync::Arc;

use skald_domain::gate::{Artifact, Decision, Facts, Look, Process, Run, Standing};

use super::path_redaction::PathRedaction;
use super::stream::{is_run_id, not_found, stream};
use crate::redaction::sees_run;
use crate::{App, Call, Code, Fault, FilesError, Operation, OperationKind};
use skald_journal::{CommittedState, StreamName};

/// A run that a caller has found.
pub(super) struct FoundRun {
    pub run_id: String,
    pub stream: StreamName,
    pub committed: Arc<CommittedState<RunStream>>,
    /// The process that it is pinned to.
    pub process: Arc<Process>,
    /// The caller's role at the gate.
    pub standing: Standing,
    pub principal: String,
    /// How server paths are shown to the caller.
    pub paths: PathRedaction,
}

impl FoundRun {
    pub(super) fn run(&self) -> &Run {
        self.committed.state.run().expect("a run that was found was created")
    }

    /// The run as the caller sees it.
    pub(super) fn look<'a>(&'a self, facts: &'a Facts) -> Look<'a> {
        Look {
            process: &self.process,
            run: &self.committed.state,
            facts,
            principal: &self.principal,
            role: &self.standing.role,
        }
    }
}

/// Which of a run's evidence files are checked for changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EvidenceScope {
    /// Those that guards of transitions out of the current state use.
    Here,
    /// All of them.
    Everywhere,
}

impl App {
    /// Finds a run that the caller may see: the one with this id, or the one that `state-gate.json` names.
    pub(super) async fn find_run<O: Operation>(
        &self,
        call: &Call<'_>,
        run_id: Option<&str>,
    ) -> Result<FoundRun, Fault> {
        let paths = self.path_redaction(call.caller);
        let (run_id, is_named) = match run_id {
            Some(id) => (id.to_owned(), true),
            None => (self.named_run(&paths).await?, false),
        };
        // Do not reveal the id of the owner's run to a caller who may not see it.
        let not_found = |run_id: &str| if is_named || paths.is_owners() { not_found(run_id) } else { no_run_named() };
        // No run can have such an id, so skip the lookup.
        if !is_run_id(&run_id) {
            return Err(not_found(&run_id));
        }
        let stream = stream(&run_id);
        let committed = self.runs.read(&stream).await.map_err(|error| self.unread(&error))?;
        let run =
            committed.state.run().filter(|run| sees_run(call.caller, run.campaign_id.as_deref(), &run.created_by));
        let Some(run) = run else { return Err(not_found(&run_id)) };
        self.watching.begin();
        let process = self.pinned_process(&run.process.hash).await?;
        if let Some(campaign_id) = run.campaign_id.as_ref().filter(|_| process.asks_for_campaign()) {
            self.watching.asks(campaign_id, &run_id);
        }
        // A command changes the revision, so only a read reports it here.
        if O::KIND == OperationKind::Read {
            call.work.stands_at(committed.revision());
        }
        let (standing, principal) = (self.standing(call.caller), call.caller.id().to_owned());
        Ok(FoundRun { run_id, stream, committed, process, standing, principal, paths })
    }

    async fn named_run(&self, paths: &PathRedaction) -> Result<String, Fault> {
        match self.files.named_run().await {
            Ok(named) => named.ok_or_else(no_run_named),
            Err(error) if paths.is_owners() => Err(unnamed(&error)),
            // Other callers must not learn about the owner's files, so the error only goes to the log.
            Err(error) => {
                tracing::warn!(%error, "a file that names a run cannot be read");
                Err(no_run_named())
            }
        }
    }

    /// The current facts for guards from outside the run: changed files, the campaign, and who is the same person.
    pub(super) async fn facts(&self, found_run: &FoundRun, evidence: EvidenceScope) -> Result<Facts, Fault> {
        let campaign = match &found_run.run().campaign_id {
            Some(id) if found_run.process.asks_for_campaign() => Some(self.campaign_facts(id).await?),
            _ => None,
        };
        let held = held(found_run, evidence);
        let stale = match (&found_run.run().folder, held.is_empty()) {
            (_, true) => BTreeSet::new(),
            (Some(folder), false) => self.files.stale(folder, held).await,
            (None, false) => held.into_iter().map(|(path, _)| path).collect(),
        };
        let same_person = self.access().await?.state.same_person(&found_run.principal);
        Ok(Facts { stale, campaign, same_person })
    }
}

/// The evidence files to check, by path and SHA-256. Inline content cannot change, so it is left out. In a state with
/// an approval or a rejection all files are checked, whatever the guards use, so that the person who decides learns of
/// every change.
fn held(found_run: &FoundRun, wanted: EvidenceScope) -> Vec<(String, String)> {
    let (evidence, state) = (found_run.committed.state.evidence(), found_run.committed.state.state());
    let named = |artifact: &Artifact| (artifact.path.clone(), artifact.sha256.clone());
    if evidence.in_files().next().is_none() {
        return Vec::new();
    }
    let is_decided_here =
        || found_run.process.transitions_from(state).any(|transition| Decision::of(&transition.event).is_some());
    let types = match wanted {
        EvidenceScope::Here if !is_decided_here() => found_run.process.evidence_in(state),
        EvidenceScope::Here | EvidenceScope::Everywhere => None,
    };
    let Some(types) = types else { return evidence.in_files().map(named).collect() };
    let of_types = types.iter().flat_map(|name| evidence.of_type(name));
    of_types.filter(|artifact| !artifact.inline).map(named).collect()
}

fn no_run_named() -> Fault {
    let message = "no run is named, and no state-gate.json in the working folder or above names one";
    let fault = Fault::new(Code::InvalidParams, message).at("/run_id");
    fault.hint("send run_id; `state_gate.list_runs` has the runs; `state_gate.create_run` makes one")
}

fn unnamed(error: &FilesError) -> Fault {
    let fault = Fault::new(Code::InvalidParams, error.to_string()).at("/run_id");
    fault.hint("mend the file, or send run_id")
}
