//! `canon`: marks what is authoritative, lists and resolves held changes, and checks the lore for contradictions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::lore::{
    CanonCommand, CanonField, CanonFields, Confidence, Conflict, ConflictChoice, ConflictStatus, EntityChange,
    LoreCommand, SortDate,
};

use super::access::EnteredLore;
use super::batch::is_unchanged;
use super::canon_findings::{SeverityCounts, is_finding_id};
use super::canon_hold::conflict_name;
use super::canon_view::CanonRow;
use super::entity_fields::clearable;
use super::entity_reference::EntityReference;
use super::entry_input::EntryFields;
use crate::execute_command::CommandTerms;
use crate::method_fields::MethodFields;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, Fault, Operation, OperationKind, PermissionClass, Toolset, limits,
    truncate_for_message,
};
use skald_journal::SideRow;

pub(super) struct Canon;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum CanonMethod {
    Check,
    #[default]
    List,
    Get,
    Mark,
    Acknowledge,
    Resolve,
    Reopen,
}

impl CanonMethod {
    fn fields(self) -> MethodFields {
        let (method, takes): (_, &[&str]) = match self {
            Self::Check => ("check", &["entity_id", "status", "cursor", "limit"]),
            Self::List => ("list", &["entity_id", "status", "confidence", "cursor", "limit"]),
            Self::Get => ("get", &["id"]),
            Self::Mark => ("mark", &["entity_id", "confidence", "fields", "died", "reason"]),
            Self::Acknowledge => ("acknowledge", &["id", "reason"]),
            Self::Resolve => ("resolve", &["id", "choice", "fields", "value", "reason"]),
            Self::Reopen => ("reopen", &["id", "reason"]),
        };
        MethodFields { method, takes }
    }

    fn needs(self) -> &'static [&'static str] {
        match self {
            Self::Check | Self::List => &[],
            Self::Get | Self::Acknowledge => &["id"],
            Self::Mark => &["entity_id"],
            Self::Resolve | Self::Reopen => &["id", "reason"],
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CanonInput {
    /// check: what contradicts; list, get: held changes, or with confidence entities marked so; mark; acknowledge;
    /// for a person: resolve, reopen.
    #[serde(default)]
    #[schemars(extend("x-brief" = true))]
    pub method: CanonMethod,
    /// Its id or unique name.
    pub entity_id: Option<EntityReference>,
    /// Of a conflict, such as c7, or of a finding.
    pub id: Option<String>,
    pub confidence: Option<Confidence>,
    /// The fields to mark, all if left out; or the one field that `value` is for.
    #[schemars(extend("x-brief" = true))]
    pub fields: Option<Vec<CanonField>>,
    /// When it died, as the timeline writes dates; empty for never.
    pub died: Option<String>,
    pub choice: Option<ConflictChoice>,
    /// For choice value; aliases one to a line.
    pub value: Option<String>,
    /// Kept with the decision.
    pub reason: Option<String>,
    /// Open ones if left out.
    pub status: Option<ConflictStatus>,
    /// The `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// Rows of a page.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    pub limit: Option<usize>,
    /// The context's if left out.
    pub campaign_id: Option<String>,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct CanonOutput {
    /// With `id`, `kind`, `status`, `entities` and `what`; get also has each value that is, and that is proposed.
    #[schemars(extend("x-brief" = true))]
    pub rows: Vec<CanonRow>,
    /// How many a check found, by severity.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-brief" = true))]
    pub summary: Option<SeverityCounts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl CanonOutput {
    fn of_row(row: CanonRow) -> Self {
        Self { rows: vec![row], ..Self::default() }
    }
}

impl Operation for Canon {
    const NAME: &'static str = "canon";
    const TITLE: &'static str = "Canon";
    const SUMMARY: &'static str = "What is established. A change of an AUTHORITATIVE value is held as a conflict until a person \
        resolves it; DRAFT is free; SUPERSEDED is kept and not found.";
    const TOOLSET: Toolset = Toolset::Canon;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::WriteLore;
    type Input = CanonInput;
    type Output = CanonOutput;

    async fn run(app: &App, call: &Call<'_>, input: CanonInput) -> Result<CanonOutput, Fault> {
        let given = [
            ("entity_id", input.entity_id.is_some()),
            ("id", input.id.is_some()),
            ("confidence", input.confidence.is_some()),
            ("fields", input.fields.is_some()),
            ("died", input.died.is_some()),
            ("choice", input.choice.is_some()),
            ("value", input.value.is_some()),
            ("reason", input.reason.is_some()),
            ("status", input.status.is_some()),
            ("cursor", input.cursor.is_some()),
            ("limit", input.limit.is_some()),
        ];
        let (fields, needs) = (input.method.fields(), input.method.needs());
        fields.check(&given)?;
        let needed: Vec<(&str, bool)> = given.into_iter().filter(|(field, _)| needs.contains(field)).collect();
        fields.check_required(&needed)?;
        let lore = app.enter_lore::<Self>(call, input.campaign_id.as_deref()).await?;
        match input.method {
            CanonMethod::Check => app.check_canon(&lore, &input).await,
            CanonMethod::List => lore.list_canon(&input),
            CanonMethod::Get => app.show_conflict(&lore, lore.find_conflict(&input)?).await,
            CanonMethod::Mark => app.mark_canon(call, &lore, &input).await,
            _ if input.id.as_deref().is_some_and(is_finding_id) => app.review_finding(call, &lore, &input).await,
            CanonMethod::Acknowledge | CanonMethod::Resolve | CanonMethod::Reopen => {
                app.decide_conflict(call, &lore, &input).await
            }
        }
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

impl EnteredLore {
    /// The conflict that an input names.
    fn find_conflict(&self, input: &CanonInput) -> Result<&Conflict, Fault> {
        let id = input.id.as_deref().unwrap_or_default();
        let number = id.strip_prefix('c').and_then(|number| number.parse().ok());
        number.and_then(|number| self.state().conflict(number)).ok_or_else(|| {
            let message = format!("there is no conflict {:?} in this campaign", truncate_for_message(id));
            let fault = Fault::new(Code::NotFound, message).with_path("/id").value(&id.into());
            fault.hint("`canon` with method list has the ids; one is written c7")
        })
    }
}

/// Where a page begins, and how many rows it has.
pub(super) fn page_of_input(input: &CanonInput) -> Result<(usize, usize), Fault> {
    let limit = crate::list_page::check_page_limit(input.limit)?;
    let skipped = match input.cursor.as_deref() {
        None => 0,
        Some(cursor) => cursor.parse().map_err(|_| crate::list_page::invalid_cursor_fault(cursor))?,
    };
    Ok((skipped, limit))
}

impl EnteredLore {
    /// The entity that an input is about, if it names one.
    pub(super) fn wanted_entity(&self, input: &CanonInput) -> Result<Option<u64>, Fault> {
        input.entity_id.as_ref().map(|reference| self.resolve_entity(reference, "/entity_id")).transpose()
    }

    /// Conflicts, the newest first, or marked entities by their ids.
    fn list_canon(&self, input: &CanonInput) -> Result<CanonOutput, Fault> {
        let (skipped, limit) = page_of_input(input)?;
        let wanted = self.wanted_entity(input)?;
        let state = self.state();
        let mut rows: Vec<CanonRow> = if let Some(confidence) = input.confidence {
            if input.status.is_some() {
                let fault = Fault::new(Code::InvalidParams, "status is of conflicts, and confidence of entities");
                return Err(fault.with_path("/status").hint("send one of the two"));
            }
            let is_marked = |mark: Confidence| mark == confidence;
            let entities = state.entities().filter(|entity| wanted.is_none_or(|wanted| wanted == entity.entity_id));
            let entities = entities.filter(|entity| is_marked(entity.canon_mark().confidence));
            entities.skip(skipped).take(limit + 1).map(|entity| CanonRow::of_mark(state, entity)).collect()
        } else {
            let is_wanted = |conflict: &&Conflict| {
                wanted.is_none_or(|wanted| wanted == conflict.entity_id)
                    && input.status.map_or(conflict.is_open(), |status| status == conflict.status())
            };
            let conflicts = state.conflicts().filter(is_wanted).skip(skipped).take(limit + 1);
            conflicts.map(|conflict| CanonRow::of_conflict(state, conflict)).collect()
        };
        let next_cursor = (rows.len() > limit).then(|| (skipped + limit).to_string());
        rows.truncate(limit);
        Ok(CanonOutput { rows, next_cursor, ..CanonOutput::default() })
    }
}

impl App {
    /// One conflict with all that is known of it.
    async fn show_conflict(&self, lore: &EnteredLore, conflict: &Conflict) -> Result<CanonOutput, Fault> {
        let mut row = CanonRow::of_conflict(lore.state(), conflict);
        self.add_conflict_values(lore, conflict, &mut row).await?;
        Ok(CanonOutput::of_row(row))
    }

    async fn mark_canon(&self, call: &Call<'_>, lore: &EnteredLore, input: &CanonInput) -> Result<CanonOutput, Fault> {
        let entity_id = lore.wanted_entity(input)?.unwrap_or_default();
        let (died, confidence) = (input.died.as_deref(), input.confidence);
        let confidence = match (died, confidence) {
            (None, Some(confidence)) => confidence,
            (Some(died), None) => {
                let date = parse_death(died)?;
                let acting = self.acting_role(call.caller);
                let command = CanonCommand::RecordDeath { entity_id, date, acting };
                let newest = self.run_canon_command(call, lore, command, Vec::new()).await?;
                let row = newest.state().entity(entity_id).map(|entity| CanonRow::of_mark(newest.state(), entity));
                return Ok(row.map(CanonOutput::of_row).unwrap_or_default());
            }
            _ => {
                let fault = Fault::new(Code::InvalidParams, "mark takes either confidence or died");
                return Err(fault.with_path("/confidence").hint("send one of the two"));
            }
        };
        let fields = input.fields.iter().flatten().copied().collect::<CanonFields>();
        let (reason, acting) = (input.reason.clone().unwrap_or_default(), self.acting_role(call.caller));
        let command = CanonCommand::Mark { entity_id, confidence, fields, reason, acting };
        let newest = self.run_canon_command(call, lore, command, Vec::new()).await?;
        let row = newest.state().entity(entity_id).map(|entity| CanonRow::of_mark(newest.state(), entity));
        Ok(row.map(CanonOutput::of_row).unwrap_or_default())
    }

    async fn decide_conflict(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        input: &CanonInput,
    ) -> Result<CanonOutput, Fault> {
        let conflict = lore.find_conflict(input)?;
        let conflict_id = conflict.id;
        let (reason, acting) = (input.reason.clone().unwrap_or_default(), self.acting_role(call.caller));
        let mut side_rows = Vec::new();
        let command = match (input.method, input.choice) {
            (CanonMethod::Acknowledge, _) => CanonCommand::Acknowledge { conflict_id, reason },
            (CanonMethod::Reopen, _) => CanonCommand::Reopen { conflict_id, reason, acting },
            (_, Some(ConflictChoice::Value)) => {
                let (change, row) = self.given_value(lore, conflict, input).await?;
                side_rows.extend(row);
                let (choice, change) = (ConflictChoice::Value, Some(Box::new(change)));
                CanonCommand::Resolve { conflict_id, choice, change, reason, acting }
            }
            (method, choice) => {
                check_no_value(input)?;
                let fields = method.fields();
                fields.check_required(&[("choice", choice.is_some())])?;
                let choice = choice.unwrap_or(ConflictChoice::Current);
                CanonCommand::Resolve { conflict_id, choice, change: None, reason, acting }
            }
        };
        let newest = self.run_canon_command(call, lore, command, side_rows).await?;
        let Some(conflict) = newest.state().conflict(conflict_id) else { return Ok(CanonOutput::default()) };
        Ok(CanonOutput::of_row(CanonRow::of_conflict(newest.state(), conflict)))
    }

    /// The change that a person's own value makes.
    async fn given_value(
        &self,
        lore: &EnteredLore,
        conflict: &Conflict,
        input: &CanonInput,
    ) -> Result<(EntityChange, Option<SideRow>), Fault> {
        let MethodFields { method, .. } = input.method.fields();
        let value = MethodFields { method, takes: &[] }.require_field("value", input.value.as_ref())?;
        let clashing: Vec<CanonField> = conflict.fields.iter().collect();
        let field = match (input.fields.as_deref(), &clashing[..]) {
            (Some([field]), _) | (None, [field]) => *field,
            _ => {
                let message =
                    format!("{} is about {}", conflict_name(conflict.id), conflict.fields.field_names().join(", "));
                let fault = Fault::new(Code::InvalidParams, message).with_path("/fields");
                return Err(fault.hint("send the one field that the value is for"));
            }
        };
        let mut change = EntityChange::default();
        let mut row = None;
        let text = value.to_owned();
        match field {
            CanonField::Name => change.name = Some(text),
            CanonField::Type => change.subtype = Some(text),
            CanonField::Date => change.date = clearable(Some(&text)),
            CanonField::Aliases => {
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                change.aliases = Some(lines.map(ToOwned::to_owned).collect());
            }
            CanonField::Parent => {
                let parent = match text.trim().parse() {
                    Ok(id) => EntityReference::Id(id),
                    Err(_) => EntityReference::Name(text),
                };
                change.parent = Self::resolve_parent(lore, Some(&parent), "")?;
            }
            CanonField::Entry => {
                let old = lore.state().entity(conflict.entity_id).and_then(|entity| entity.text.as_ref());
                let texts = self.load_texts(&lore.campaign_id, old.into_iter()).await?;
                let fields = EntryFields { entry: Some(value), entry_append: None, pointer: "" };
                (change.text, row) = self.change_entry(lore, &fields, texts.entry(old), |_| None)?.into_parts();
                // The given text equals the stored one: the decision is to keep it.
                change.text = change.text.or_else(|| Some(old.cloned()));
            }
            CanonField::Posts => {
                let fault = Fault::new(Code::InvalidParams, "a post has no value of its own").with_path("/fields");
                return Err(fault.hint("choose current or proposed, then change the post"));
            }
        }
        Ok((change, row))
    }

    /// Runs a canon command and returns the lore after it. A command that changes nothing is no error.
    pub(super) async fn run_canon_command(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        command: CanonCommand,
        side_rows: Vec<SideRow>,
    ) -> Result<EnteredLore, Fault> {
        let terms = CommandTerms { side_rows, ..CommandTerms::of_call(call) };
        let (stream, command) = (&lore.stream, LoreCommand::Canon(command));
        let done = self.execute_with_terms::<Canon, _, _>(&self.lore, call, stream, command, terms, |_| ()).await;
        match done {
            Err(not_done) if !is_unchanged(&not_done.failure) => Err(self.lore_fault(not_done.failure)),
            _ => self.load_lore(call, lore.campaign_id.clone()).await,
        }
    }
}

/// The date of a death; `None` takes it back.
fn parse_death(died: &str) -> Result<Option<SortDate>, Fault> {
    if died.trim().is_empty() {
        return Ok(None);
    }
    SortDate::read(died).map(Some).ok_or_else(|| {
        Fault::new(Code::InvalidParams, format!("{:?} is no date that can be compared", truncate_for_message(died)))
            .with_path("/died")
            .value(&died.into())
            .hint("write it as year-month-day, year-month or year, such as 1204-03-15")
    })
}

fn check_no_value(input: &CanonInput) -> Result<(), Fault> {
    for (field, is_given) in [("value", input.value.is_some()), ("fields", input.fields.is_some())] {
        if is_given {
            let fault = Fault::new(Code::InvalidParams, format!("{field} goes with choice value"));
            return Err(fault.with_path(format!("/{field}")).hint("leave it out, or choose value"));
        }
    }
    Ok(())
}
