//! Findings of a check of the canon: their rows, and what game masters say of them.

use schemars::JsonSchema;
use serde::Serialize;
use skald_domain::Moment;
use skald_domain::lore::{
    CanonCommand, CanonFinding, CanonFindingKind, CanonSeverity, ConflictChoice, ConflictStatus, LoreState,
};

use super::access::EnteredLore;
use super::canon::{CanonInput, CanonMethod, CanonOutput, page_of_input};
use super::canon_view::{CanonRow, DecisionRow, named_entity};
use super::entity_view::NamedEntity;
use crate::{App, Call, Code, Fault, truncate_for_message};

/// How many findings there are, by severity.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct SeverityCounts {
    critical: usize,
    major: usize,
    minor: usize,
}

/// Whether an id is that of a finding; conflicts have others.
pub(super) fn is_finding_id(id: &str) -> bool {
    id.contains(':')
}

impl App {
    /// What contradicts what, the worst first: findings, and held changes among those of their severity.
    pub(super) async fn check_canon(&self, lore: &EnteredLore, input: &CanonInput) -> Result<CanonOutput, Fault> {
        let (skipped, limit) = page_of_input(input)?;
        let wanted = lore.wanted_entity(input)?;
        let (committed, status) = (lore.committed.clone(), input.status);
        let done = self.computing.run(move |is_given_up| {
            let state = &committed.state;
            let is_wanted =
                |found: ConflictStatus| status.map_or(found != ConflictStatus::Resolved, |status| status == found);
            let findings = state.check_canon(wanted, is_given_up).into_iter();
            let findings: Vec<CanonFinding> =
                findings.filter(|finding| is_wanted(review_status(state, &finding.id()))).collect();
            let conflicts: Vec<u64> = state
                .conflicts()
                .filter(|conflict| is_wanted(conflict.status()))
                .filter(|conflict| wanted.is_none_or(|wanted| wanted == conflict.entity_id))
                .map(|conflict| conflict.id)
                .collect();
            page_of_check(state, &findings, &conflicts, (skipped, limit))
        });
        done.await.ok_or_else(|| Fault::new(Code::Unavailable, "the check was given up").hint("send it again"))
    }

    /// Marks a finding as seen, as intended, or as open again.
    pub(super) async fn review_finding(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        input: &CanonInput,
    ) -> Result<CanonOutput, Fault> {
        let finding_id = input.id.clone().unwrap_or_default();
        let status = match input.method {
            CanonMethod::Acknowledge => ConflictStatus::Acknowledged,
            CanonMethod::Reopen => ConflictStatus::Detected,
            _ => ConflictStatus::Resolved,
        };
        if input.choice.is_some_and(|choice| choice != ConflictChoice::Current) {
            let fault = Fault::new(Code::InvalidParams, "nothing is proposed by a finding").with_path("/choice");
            return Err(fault.hint("leave it out to say that it is meant so; or change what contradicts"));
        }
        let committed = lore.committed.clone();
        let wanted = finding_id.split(':').nth(1).and_then(|id| id.parse().ok());
        let found = self.computing.run(move |is_given_up| committed.state.check_canon(wanted, is_given_up)).await;
        let finding = found.unwrap_or_default().into_iter().find(|finding| finding.id() == finding_id);
        let Some(finding) = finding else {
            let message = format!("the check finds no {:?}", truncate_for_message(&finding_id));
            let fault = Fault::new(Code::NotFound, message).with_path("/id").value(&finding_id.into());
            return Err(fault.hint("`canon` with method check has the ids of what it finds now"));
        };
        let (reason, acting) = (input.reason.clone().unwrap_or_default(), self.acting_role(call.caller));
        let command = CanonCommand::Review { finding_id, status, reason, acting };
        let newest = self.run_canon_command(call, lore, command, Vec::new()).await?;
        Ok(CanonOutput { rows: vec![finding_row(newest.state(), &finding)], ..CanonOutput::default() })
    }
}

fn review_status(state: &LoreState, finding_id: &str) -> ConflictStatus {
    state.finding_review(finding_id).map(|review| review.status).unwrap_or_default()
}

/// A page of check results: critical findings first, then held changes, then all other findings.
fn page_of_check(
    state: &LoreState,
    findings: &[CanonFinding],
    conflicts: &[u64],
    (skipped, limit): (usize, usize),
) -> CanonOutput {
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let summary = SeverityCounts {
        critical: count(CanonSeverity::Critical),
        major: count(CanonSeverity::Major) + conflicts.len(),
        minor: count(CanonSeverity::Minor),
    };
    let (critical, others) = findings.split_at(summary.critical);
    let rows = critical.iter().map(|finding| finding_row(state, finding));
    let held = conflicts.iter().filter_map(|id| Some(CanonRow::of_conflict(state, state.conflict(*id)?)));
    let rows = rows.chain(held).chain(others.iter().map(|finding| finding_row(state, finding)));
    let mut rows: Vec<CanonRow> = rows.skip(skipped).take(limit + 1).collect();
    let next_cursor = (rows.len() > limit).then(|| (skipped + limit).to_string());
    rows.truncate(limit);
    CanonOutput { rows, summary: Some(summary), next_cursor }
}

fn finding_row(state: &LoreState, finding: &CanonFinding) -> CanonRow {
    let id = finding.id();
    let review = state.finding_review(&id);
    let entity = |entity_id: &u64| {
        let gone = NamedEntity { entity_id: *entity_id, name: None, deleted: true };
        state.entity(*entity_id).map_or(gone, |entity| named_entity(entity))
    };
    CanonRow {
        status: Some(review_status(state, &id)),
        id: Some(id),
        kind: finding.kind.as_str(),
        severity: Some(finding.severity),
        entities: finding.entity_ids.iter().map(entity).collect(),
        what: describe(state, finding),
        log: review
            .map(|review| DecisionRow {
                status: review.status,
                choice: None,
                reason: review.reason.clone(),
                by: review.by.clone(),
                at: Moment::from(review.at),
            })
            .into_iter()
            .collect(),
        ..CanonRow::default()
    }
}

fn describe(state: &LoreState, finding: &CanonFinding) -> String {
    let event = |place: usize| {
        let event = finding.event_ids.get(place).and_then(|event_id| state.timeline().get(*event_id));
        event.map(|event| format!("{:?} ({})", event.description, event.date.as_deref().unwrap_or("no date")))
    };
    let event = |place| event(place).unwrap_or_default();
    let first = finding.entity_ids.first().copied().unwrap_or_default();
    match finding.kind {
        CanonFindingKind::ActsAfterDeath => {
            let died = state.death_date(first).map(|date| date.to_string()).unwrap_or_default();
            format!("died {died}, and is in {}", event(0))
        }
        CanonFindingKind::TwoPlaces => format!("is elsewhere on the same day: {} and {}", event(0), event(1)),
        CanonFindingKind::SameName => "have the same name or alias".to_owned(),
        CanonFindingKind::NearName => {
            format!("have nearly the same name, {}", finding.similarity.unwrap_or_default())
        }
        CanonFindingKind::GoneReference if !finding.event_ids.is_empty() => {
            format!("is deleted, and is in {}", event(0))
        }
        CanonFindingKind::GoneReference => "the first names the second, which is gone".to_owned(),
    }
}
