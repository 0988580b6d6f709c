//! `relationships`: who is what to whom. Adds, changes, removes, lists, maps, and finds the shortest path between two.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::lore::{
    LoreCommand, LoreEvent, NewRelationship, Relationship, RelationshipChange, RelationshipCommand, Tone,
    known_relation_words, relation_word,
};

use super::access::EnteredLore;
use super::batch::is_unchanged;
use super::entity_reference::EntityReference;
use super::relationship_rows::{LinkedEntity, RelationshipRow};
use super::stream::LoreStream;
use crate::execute_command::CommandTerms;
use crate::list_page::{check_page_limit, invalid_cursor_fault};
use crate::method_fields::MethodFields;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, CommandAnswer, Completion, CompletionRequest, Exposed, Fault,
    Operation, OperationKind, PermissionClass, Route, Toolset, limits,
};
use skald_journal::Applied;

pub(super) struct RelationshipsOperation;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum RelationshipMethod {
    #[default]
    List,
    Map,
    Path,
    Add,
    Update,
    Remove,
}

impl RelationshipMethod {
    fn fields(self) -> MethodFields {
        let (method, takes): (_, &'static [&'static str]) = match self {
            Self::List => ("list", &["entity_id", "types", "cursor", "limit"]),
            Self::Map => ("map", &["entity_id", "depth", "types", "limit"]),
            Self::Path => ("path", &["entity_id", "target_id", "types"]),
            Self::Add => {
                ("add", &["entity_id", "target_id", "type", "inverse", "tone", "strength", "description", "visible_to"])
            }
            Self::Update => ("update", &["relationship_id", "tone", "strength", "description", "visible_to"]),
            Self::Remove => ("remove", &["relationship_id"]),
        };
        MethodFields { method, takes }
    }

    fn required(self) -> &'static [&'static str] {
        match self {
            Self::List => &[],
            Self::Map => &["entity_id"],
            Self::Path => &["entity_id", "target_id"],
            Self::Add => &["entity_id", "target_id", "type"],
            Self::Update | Self::Remove => &["relationship_id"],
        }
    }

    fn is_write(self) -> bool {
        matches!(self, Self::Add | Self::Update | Self::Remove)
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RelationshipsInput {
    /// list if left out.
    #[serde(default)]
    method: RelationshipMethod,
    /// Whose, by id or name; add: the source.
    entity_id: Option<EntityReference>,
    /// add, path: the other end.
    target_id: Option<EntityReference>,
    /// What the source is to the target: knows, rules, or a word of your own.
    r#type: Option<String>,
    /// The word from the other end, for a type of your own.
    inverse: Option<String>,
    /// update, remove.
    relationship_id: Option<u64>,
    /// How they feel.
    tone: Option<Tone>,
    /// How strong.
    #[schemars(range(min = 1, max = limits::RELATIONSHIP_STRENGTH_MAX))]
    strength: Option<u8>,
    /// In a few words.
    description: Option<String>,
    /// gm, table (default), or people.
    visible_to: Option<Vec<String>>,
    /// map: how far, 1 if left out.
    #[schemars(range(min = 1, max = limits::RELATIONSHIP_DEPTH_MAX))]
    depth: Option<usize>,
    /// Only of these types.
    types: Option<Vec<String>>,
    /// The `next_cursor`.
    cursor: Option<String>,
    /// Rows.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<usize>,
    /// The context's if left out.
    campaign_id: Option<String>,
}

impl RelationshipsInput {
    fn check_fields(&self) -> Result<(), Fault> {
        let given = [
            ("entity_id", self.entity_id.is_some()),
            ("target_id", self.target_id.is_some()),
            ("type", self.r#type.is_some()),
            ("inverse", self.inverse.is_some()),
            ("relationship_id", self.relationship_id.is_some()),
            ("tone", self.tone.is_some()),
            ("strength", self.strength.is_some()),
            ("description", self.description.is_some()),
            ("visible_to", self.visible_to.is_some()),
            ("depth", self.depth.is_some()),
            ("types", self.types.is_some()),
            ("cursor", self.cursor.is_some()),
            ("limit", self.limit.is_some()),
        ];
        let fields = self.method.fields();
        fields.check(&given)?;
        let required: Vec<_> = given.into_iter().filter(|(field, _)| self.method.required().contains(field)).collect();
        fields.check_required(&required)
    }
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct RelationshipsOutput {
    /// What was found or done.
    summary: String,
    /// map, path: where it begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    center: Option<LinkedEntity>,
    /// path: step by step.
    relationships: Vec<RelationshipRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    /// map: there are more.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Operation for RelationshipsOperation {
    const NAME: &'static str = "relationships";
    const TITLE: &'static str = "Relationships";
    const SUMMARY: &'static str = "Who is what to whom: list, map around an entity, shortest path between two; game masters \
        add, update, remove. One relationship is read from both ends.";
    const TOOLSET: Toolset = Toolset::Canon;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::RelationshipsAndTimeline;
    const DESTRUCTIVE: bool = true;
    const GAME_MASTER_METHODS: &'static [&'static str] = &["add", "update", "remove"];
    type Input = RelationshipsInput;
    type Output = CommandAnswer<RelationshipsOutput>;

    async fn run(app: &App, call: &Call<'_>, input: RelationshipsInput) -> Result<Self::Output, Fault> {
        input.check_fields()?;
        let lore = app.enter_lore::<Self>(call, input.campaign_id.as_deref()).await?;
        if !input.method.is_write() {
            return lore.read_relationships(&input).map(CommandAnswer::Now);
        }
        let name = format!("{} with method {}", Self::NAME, input.method.fields().method);
        app.enter_campaign_as(call.caller, &name, Allowed::InCampaign(CampaignRole::Gm), &lore.campaign_id).await?;
        let command = app.relationship_command(&lore, &input).await?;
        app.write_relationship(call, &lore, &input, command).await
    }

    async fn complete(app: &App, caller: &Caller, field: &str, typed: &str) -> Option<Vec<String>> {
        match field {
            "type" | "types" => {
                let words = known_relation_words().filter(|word| word.starts_with(typed));
                Some(words.take(limits::COMPLETIONS_MAX).map(str::to_owned).collect())
            }
            _ => app.complete_id_field(caller, field).await,
        }
    }
}

/// The reading half of `relationships`, as a resource and a route.
pub(super) struct ReadRelationships;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadRelationshipsInput {
    /// The campaign.
    campaign_id: String,
    /// The entity in the middle; all relationships if left out.
    entity_id: Option<EntityReference>,
    /// How far, with an entity.
    #[schemars(range(min = 1, max = limits::RELATIONSHIP_DEPTH_MAX))]
    depth: Option<usize>,
    /// The `next_cursor` of the page before, without an entity.
    cursor: Option<String>,
    /// Rows of a page.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<usize>,
}

impl Operation for ReadRelationships {
    const NAME: &'static str = "read_relationships";
    const TITLE: &'static str = "Relationships of an entity";
    const SUMMARY: &'static str = "Who is what to whom, around one entity or page by page.";
    const TOOLSET: Toolset = Toolset::Canon;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    const LISTS: bool = true;
    const EXPOSED: Exposed = Exposed::NotAsTool;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/campaigns/{campaign_id}/relationships")];
    type Input = ReadRelationshipsInput;
    type Output = RelationshipsOutput;

    async fn run(app: &App, call: &Call<'_>, input: ReadRelationshipsInput) -> Result<RelationshipsOutput, Fault> {
        let ReadRelationshipsInput { campaign_id, entity_id, depth, cursor, limit } = input;
        let method = if entity_id.is_some() { RelationshipMethod::Map } else { RelationshipMethod::List };
        let input = RelationshipsInput { method, entity_id, depth, cursor, limit, ..RelationshipsInput::default() };
        input.check_fields()?;
        let lore = app.enter_lore::<Self>(call, Some(&campaign_id)).await?;
        lore.read_relationships(&input)
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }

    async fn complete_from_arguments(app: &App, caller: &Caller, request: &CompletionRequest) -> Option<Completion> {
        app.complete_lore_argument(caller, request).await
    }
}

impl EnteredLore {
    fn read_relationships(&self, input: &RelationshipsInput) -> Result<RelationshipsOutput, Fault> {
        let words = input.types.as_deref().map(type_filter).transpose()?;
        let is_wanted = |relationship: &Relationship| {
            words.as_ref().is_none_or(|words| words.iter().any(|word| relationship.has_word(word)))
                && self.is_relationship_visible(relationship)
        };
        let center =
            input.entity_id.as_ref().map(|reference| self.resolve_entity(reference, "/entity_id")).transpose()?;
        match (input.method, center) {
            (RelationshipMethod::Map, Some(center)) => self.map_relationships(center, input, &is_wanted),
            (RelationshipMethod::Path, Some(center)) => self.find_path(center, input, &is_wanted),
            _ => self.list_relationships(center, input, &is_wanted),
        }
    }

    fn list_relationships(
        &self,
        entity_id: Option<u64>,
        input: &RelationshipsInput,
        is_wanted: &dyn Fn(&Relationship) -> bool,
    ) -> Result<RelationshipsOutput, Fault> {
        let limit = check_page_limit(input.limit)?;
        let after: u64 = match input.cursor.as_deref() {
            None => 0,
            Some(cursor) => cursor.parse().map_err(|_| invalid_cursor_fault(cursor))?,
        };
        let all = self.state().relationships();
        let relationships: Vec<_> = match entity_id {
            Some(entity_id) => all.of_entity(entity_id).filter(|one| is_wanted(one)).collect(),
            None => all.all().filter(|one| is_wanted(one)).collect(),
        };
        let rest = relationships.iter().filter(|one| one.relationship_id > after);
        let rows: Vec<RelationshipRow> = rest
            .clone()
            .take(limit)
            .map(|one| RelationshipRow::new(self.state(), one, entity_id.unwrap_or(one.source_id), self.sees_private))
            .collect();
        let next_cursor = rows.last().filter(|_| rest.count() > limit).map(|row| row.relationship_id.to_string());
        let total = relationships.len();
        let of = entity_id.map(|id| format!(" of {}", LinkedEntity::new(self.state(), id).name)).unwrap_or_default();
        let summary = format!("{total} {}{of}", relationship_noun(total));
        Ok(RelationshipsOutput {
            summary,
            relationships: rows,
            total: Some(total),
            next_cursor,
            ..RelationshipsOutput::default()
        })
    }

    fn map_relationships(
        &self,
        center: u64,
        input: &RelationshipsInput,
        is_wanted: &dyn Fn(&Relationship) -> bool,
    ) -> Result<RelationshipsOutput, Fault> {
        let limit = check_page_limit(input.limit)?;
        let (depth, depth_max) = (input.depth.unwrap_or(1), limits::RELATIONSHIP_DEPTH_MAX);
        if !(1..=depth_max).contains(&depth) {
            let fault = Fault::new(Code::InvalidParams, format!("depth is {depth}, allowed: 1 to {depth_max}"));
            return Err(fault.with_path("/depth").hint("ask for the map of an entity at its edge"));
        }
        let map = self.state().relationships().map_around(center, depth, limit, is_wanted);
        let steps = map.steps.iter().map(|step| RelationshipRow::of_step(self.state(), step, self.sees_private));
        let relationships: Vec<RelationshipRow> = steps.collect();
        let center = LinkedEntity::new(self.state(), center);
        let more = if map.is_cut { ", and there are more" } else { "" };
        let count = relationships.len();
        let summary = format!("{count} {} around {}{more}", relationship_noun(count), center.name);
        Ok(RelationshipsOutput {
            summary,
            center: Some(center),
            relationships,
            truncated: map.is_cut,
            ..RelationshipsOutput::default()
        })
    }

    fn find_path(
        &self,
        start: u64,
        input: &RelationshipsInput,
        is_wanted: &dyn Fn(&Relationship) -> bool,
    ) -> Result<RelationshipsOutput, Fault> {
        let target = input.target_id.as_ref().unwrap_or(&EntityReference::Id(0));
        let end = self.resolve_entity(target, "/target_id")?;
        let length_max = limits::RELATIONSHIP_PATH_MAX;
        let path = self.state().relationships().shortest_path(start, end, length_max, is_wanted);
        let (center, target) = (LinkedEntity::new(self.state(), start), LinkedEntity::new(self.state(), end));
        let summary = match &path {
            Some(path) => {
                let steps = path.iter().map(|step| {
                    let row = RelationshipRow::of_step(self.state(), step, false);
                    format!(" {} {}", row.r#type, row.target.name)
                });
                format!("{}{}", center.name, steps.collect::<Vec<_>>().join(","))
            }
            None => format!("no relationships lead from {} to {}", center.name, target.name),
        };
        let steps = path.iter().flatten().map(|step| RelationshipRow::of_step(self.state(), step, self.sees_private));
        let relationships: Vec<RelationshipRow> = steps.collect();
        let total = path.as_ref().map(Vec::len);
        Ok(RelationshipsOutput {
            summary,
            center: Some(center),
            relationships,
            total,
            ..RelationshipsOutput::default()
        })
    }
}

fn relationship_noun(count: usize) -> &'static str {
    if count == 1 { "relationship" } else { "relationships" }
}

/// The words of a filter, in the form in which types are stored.
fn type_filter(types: &[String]) -> Result<Vec<String>, Fault> {
    let word = |(index, text): (usize, &String)| {
        relation_word(text).ok_or_else(|| {
            Fault::new(Code::InvalidParams, "a type is letters, digits and underscores")
                .with_path(format!("/types/{index}"))
                .value(&text.as_str().into())
                .hint("send words such as parent_of")
        })
    };
    types.iter().enumerate().map(word).collect()
}

impl App {
    async fn relationship_command(
        &self,
        lore: &EnteredLore,
        input: &RelationshipsInput,
    ) -> Result<RelationshipCommand, Fault> {
        let visible_to = match &input.visible_to {
            Some(names) => Some(self.resolve_visible_to(lore, names).await?),
            None => None,
        };
        let relationship_id = input.relationship_id.unwrap_or_default();
        Ok(match input.method {
            RelationshipMethod::Remove => RelationshipCommand::Remove { relationship_id, expected_revision: None },
            RelationshipMethod::Update => {
                let change = RelationshipChange {
                    tone: input.tone,
                    strength: input.strength,
                    description: input.description.clone(),
                    visible_to,
                };
                RelationshipCommand::Update { relationship_id, expected_revision: None, change: Box::new(change) }
            }
            _ => {
                let end = |reference: Option<&EntityReference>, pointer| {
                    lore.resolve_entity(reference.unwrap_or(&EntityReference::Id(0)), pointer)
                };
                let source_id = end(input.entity_id.as_ref(), "/entity_id")?;
                let target_id = end(input.target_id.as_ref(), "/target_id")?;
                RelationshipCommand::Add(Box::new(NewRelationship {
                    inverse: input.inverse.clone(),
                    tone: input.tone.unwrap_or_default(),
                    strength: input.strength,
                    description: input.description.clone().unwrap_or_default(),
                    visible_to: visible_to.unwrap_or_default(),
                    ..NewRelationship::new(source_id, input.r#type.as_deref().unwrap_or_default(), target_id)
                }))
            }
        })
    }

    async fn write_relationship(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        input: &RelationshipsInput,
        command: RelationshipCommand,
    ) -> Result<CommandAnswer<RelationshipsOutput>, Fault> {
        // Read the relationship before the command: after a removal the state lacks it.
        let before = input.relationship_id.and_then(|id| lore.state().relationships().get(id));
        let before = before.map(|one| RelationshipRow::new(lore.state(), one, one.source_id, true));
        let removed = before.clone();
        let answer = move |done: &Applied<LoreStream>| written_relationship(done, removed.as_ref());
        let (command, terms) = (LoreCommand::Relationship(command), CommandTerms::of_call(call));
        let done = self.execute_with_terms::<RelationshipsOperation, _, _>(
            &self.lore,
            call,
            &lore.stream,
            command,
            terms,
            answer,
        );
        match done.await {
            Ok((answered, _)) => Ok(answered),
            Err(not_done) if is_unchanged(&not_done.failure) => {
                let summary = "nothing is different from what is stored".to_owned();
                let relationships = before.into_iter().collect();
                Ok(CommandAnswer::Now(RelationshipsOutput { summary, relationships, ..RelationshipsOutput::default() }))
            }
            Err(not_done) => Err(self.lore_fault(not_done.failure)),
        }
    }
}

fn written_relationship(done: &Applied<LoreStream>, removed: Option<&RelationshipRow>) -> RelationshipsOutput {
    let state = &done.committed.state;
    let (word, id) = match done.events.first() {
        Some(LoreEvent::RelationshipAdded { relationship_id, .. }) => ("added", *relationship_id),
        Some(LoreEvent::RelationshipUpdated { relationship_id, .. }) => ("updated", *relationship_id),
        Some(LoreEvent::RelationshipRemoved { relationship_id, .. }) => ("removed", *relationship_id),
        _ => return RelationshipsOutput::default(),
    };
    let stored = state.relationships().get(id);
    let row = stored.map(|one| RelationshipRow::new(state, one, one.source_id, true)).or_else(|| removed.cloned());
    let sentence = row.as_ref().map(RelationshipRow::sentence).unwrap_or_default();
    let relationships = row.filter(|_| word != "removed").into_iter().collect();
    RelationshipsOutput { summary: format!("{word}: {sentence}"), relationships, ..RelationshipsOutput::default() }
}
