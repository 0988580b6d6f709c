//! Access to a run: finds the one that a call names, checks the caller's role, and looks up the facts for guards.

use crate::gate::RunStream;
use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Map;
use skald_domain::gate::{ActingRole, Artifact, Decision, Facts, Process, Run, RunView};

use super::changed_resources::run_id_in_uri;
use super::path_redaction::PathRedaction;
use super::stream::{RUNS, is_run_id, run_not_found_fault, run_stream};
use crate::campaign_lookup::DocumentOwners;
use crate::entered_campaign;
use crate::redaction::can_see_run;
use crate::{App, Call, Caller, Code, Fault, FilesError, Operation, OperationKind};
use skald_journal::{CommittedState, StreamName};

/// A run that a caller has found.
pub(super) struct FoundRun {
    pub run_id: String,
    pub stream: StreamName,
    pub committed: Arc<CommittedState<RunStream>>,
    /// The process that it is pinned to.
    pub process: Arc<Process>,
    /// The caller's role at the gate.
    pub acting_role: ActingRole,
    pub principal: String,
    /// How server paths are shown to the caller.
    pub paths: PathRedaction,
}

impl FoundRun {
    pub(super) fn run(&self) -> &Run {
        self.committed.state.run().expect("a run that was found was created")
    }

    /// The run as the caller sees it.
    pub(super) fn run_view<'a>(&'a self, facts: &'a Facts) -> RunView<'a> {
        RunView {
            process: &self.process,
            run: &self.committed.state,
            facts,
            principal: &self.principal,
            role: &self.acting_role.role,
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
            None => (self.configured_run_id(&paths).await?, false),
        };
        // Do not reveal the id of the owner's run to a caller who may not see it.
        let not_found = |run_id: &str| {
            if is_named || paths.is_for_owner() { run_not_found_fault(run_id) } else { no_run_named_fault() }
        };
        // No run can have such an id, so skip the lookup.
        if !is_run_id(&run_id) {
            return Err(not_found(&run_id));
        }
        let stream = run_stream(&run_id);
        let committed = self.runs.read(&stream).await.map_err(|error| self.store_fault(&error))?;
        let run =
            committed.state.run().filter(|run| can_see_run(call.caller, run.campaign_id.as_deref(), &run.created_by));
        let Some(run) = run else { return Err(not_found(&run_id)) };
        run.campaign_id.iter().for_each(|campaign_id| entered_campaign::record(campaign_id));
        self.watching.start();
        let process = self.pinned_process(&run.process.hash).await?;
        if let Some(campaign_id) = run.campaign_id.as_ref().filter(|_| process.follows_campaign()) {
            self.watching.remember_run(campaign_id, &run_id, &run.created_by);
        }
        // A command changes the revision, so only a read reports it here.
        if O::KIND == OperationKind::Read {
            call.control.set_revision(committed.revision());
        }
        let (acting_role, principal) = (self.acting_role(call.caller), call.caller.id().to_owned());
        Ok(FoundRun { run_id, stream, committed, process, acting_role, principal, paths })
    }

    /// Whether the caller may see the run that a resource belongs to; true if it belongs to none.
    pub(crate) async fn can_see_run_at(&self, caller: &Caller, uri: &str) -> bool {
        let Some(run_id) = run_id_in_uri(uri) else { return true };
        // If the store is down, what cannot be read is not announced either.
        let owner = DocumentOwners::new(&*self.journal).find_owner(RUNS, &run_id).await.ok().flatten();
        owner.is_some_and(|owner| can_see_run(caller, owner.campaign_id.as_deref(), &owner.created_by))
    }

    async fn configured_run_id(&self, paths: &PathRedaction) -> Result<String, Fault> {
        match self.files.configured_run_id().await {
            Ok(named) => named.ok_or_else(no_run_named_fault),
            Err(error) if paths.is_for_owner() => Err(state_gate_file_fault(&error)),
            // Other callers must not learn about the owner's files, so the error only goes to the log.
            Err(error) => {
                tracing::warn!(%error, "a file that names a run cannot be read");
                Err(no_run_named_fault())
            }
        }
    }

    /// The current facts for guards from outside the run: changed files, the campaign, and who is the same person.
    pub(super) async fn guard_facts(&self, found_run: &FoundRun, evidence: EvidenceScope) -> Result<Facts, Fault> {
        let campaign = match &found_run.run().campaign_id {
            Some(id) if found_run.process.reads_campaign() => Some(self.campaign_facts(id).await?),
            _ => None,
        };
        let campaign_numbers = match &found_run.run().campaign_id {
            Some(id) if !found_run.process.from_campaign.is_empty() => {
                let context = found_run.committed.state.context().iter();
                let context = context.map(|(name, value)| (name.clone(), value.clone())).collect();
                found_run.process.context_from_campaign(self.campaign_numbers(id).await?, &context)
            }
            _ => Map::new(),
        };
        let held = files_to_check(found_run, evidence);
        let stale = match (&found_run.run().folder, held.is_empty()) {
            (_, true) => BTreeSet::new(),
            (Some(folder), false) => self.files.stale_paths(folder, held).await,
            (None, false) => held.into_iter().map(|(path, _)| path).collect(),
        };
        let same_person = self.read_access_state().await?.state.principals_of_same_person(&found_run.principal);
        Ok(Facts { stale, campaign, campaign_numbers, same_person })
    }
}

/// The evidence files to check, by path and SHA-256. Inline content cannot change, so it is left out. In a state with
/// an approval or a rejection all files are checked, whatever the guards use, so that the person who decides learns of
/// every change.
fn files_to_check(found_run: &FoundRun, scope: EvidenceScope) -> Vec<(String, String)> {
    let (evidence, state) = (found_run.committed.state.evidence(), found_run.committed.state.state());
    let named = |artifact: &Artifact| (artifact.path.clone(), artifact.sha256.clone());
    if evidence.artifacts_in_files().next().is_none() {
        return Vec::new();
    }
    let is_decided_here = || {
        found_run.process.transitions_from(state).any(|transition| Decision::from_event(&transition.event).is_some())
    };
    let types = match scope {
        EvidenceScope::Here if !is_decided_here() => found_run.process.needed_artifact_types(state),
        EvidenceScope::Here | EvidenceScope::Everywhere => None,
    };
    let Some(types) = types else { return evidence.artifacts_in_files().map(named).collect() };
    let of_types = types.iter().flat_map(|name| evidence.of_type(name));
    of_types.filter(|artifact| !artifact.inline).map(named).collect()
}

fn no_run_named_fault() -> Fault {
    let message = "no run is named, and no state-gate.json in the working folder or above names one";
    let fault = Fault::new(Code::InvalidParams, message).with_path("/run_id");
    fault.hint("send run_id; `state_gate.list_runs` has the runs; `state_gate.create_run` makes one")
}

fn state_gate_file_fault(error: &FilesError) -> Fault {
    let fault = Fault::new(Code::InvalidParams, error.to_string()).with_path("/run_id");
    fault.hint("mend the file, or send run_id")
}
