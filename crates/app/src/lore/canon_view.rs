//! Rows of `canon`: conflicts with their values, and the marks of entities.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use skald_domain::Moment;
use skald_domain::lore::{
    CanonSeverity, Confidence, Conflict, ConflictChoice, ConflictStatus, Entity, EntityChange, LoreEvent, LoreState,
    PostChange, TextRef,
};

use super::access::EnteredLore;
use super::canon_hold::conflict_name;
use super::entity_view::NamedEntity;
use super::texts::Texts;
use crate::{App, Fault};

/// A conflict or a marked entity.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct CanonRow {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// held, marked, or what a check found.
    pub kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<CanonSeverity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<ConflictStatus>,
    /// What it is about.
    pub entities: Vec<NamedEntity>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub what: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// The authoritative fields.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub died: Option<String>,
    /// The values of each field.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, ConflictingValues>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Moment>,
    /// What was decided, the oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<DecisionRow>,
}

/// Both sides of one field.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ConflictingValues {
    pub current: RatedValue,
    pub proposed: RatedValue,
}

/// A value, and how far it is established.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct RatedValue {
    pub value: Value,
    pub confidence: Confidence,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct DecisionRow {
    pub status: ConflictStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choice: Option<ConflictChoice>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    pub by: String,
    pub at: Moment,
}

impl CanonRow {
    pub(super) fn of_mark(state: &LoreState, entity: &Entity) -> Self {
        let mark = entity.canon_mark();
        Self {
            kind: "marked",
            entities: vec![named_entity(entity)],
            confidence: Some(mark.confidence),
            fields: mark.fields.field_names(),
            died: state.death_date(entity.entity_id).map(|date| date.to_string()),
            ..Self::default()
        }
    }

    pub(super) fn of_conflict(state: &LoreState, conflict: &Conflict) -> Self {
        let entity = state.entity(conflict.entity_id);
        Self {
            id: Some(conflict_name(conflict.id)),
            kind: "held",
            severity: Some(CanonSeverity::Major),
            status: Some(conflict.status()),
            entities: entity.map(|entity| named_entity(entity)).into_iter().collect(),
            what: describe(&conflict.proposed),
            fields: conflict.fields.field_names(),
            by: Some(conflict.by.clone()),
            tool: Some(conflict.tool.clone()).filter(|tool| !tool.is_empty()),
            at: Some(Moment::from(conflict.at)),
            log: conflict.log.iter().map(DecisionRow::new).collect(),
            ..Self::default()
        }
    }
}

impl DecisionRow {
    fn new(row: &skald_domain::lore::ConflictLogRow) -> Self {
        let (reason, by) = (row.reason.clone(), row.by.clone());
        Self { status: row.status, choice: row.choice, reason, by, at: Moment::from(row.at) }
    }
}

pub(super) fn named_entity(entity: &Entity) -> NamedEntity {
    NamedEntity { entity_id: entity.entity_id, name: Some(entity.name.to_string()), deleted: entity.is_archived() }
}

/// Describes what a held event would change.
fn describe(proposed: &LoreEvent) -> String {
    match proposed {
        LoreEvent::EntityUpdated { .. } => format!("change {}", proposed.changed_fields().join(", ")),
        LoreEvent::EntityArchived { .. } => "delete it".to_owned(),
        LoreEvent::PostUpdated { post_id, .. } => {
            format!("change {} of post {post_id}", proposed.changed_fields().join(", "))
        }
        LoreEvent::PostArchived { post_id, .. } => format!("delete post {post_id}"),
        LoreEvent::EntityVersionRestored { .. } => {
            format!("go back to an earlier version of {}", proposed.changed_fields().join(", "))
        }
        _ => String::new(),
    }
}

/// A value of a field that a conflict is about; a text is named by its reference.
enum FieldValue<'a> {
    Json(Value),
    Text(Option<&'a TextRef>),
}

impl FieldValue<'_> {
    fn to_json(&self, texts: &Texts) -> Value {
        match self {
            Self::Json(value) => value.clone(),
            Self::Text(reference) => json!(texts.markdown(*reference)),
        }
    }
}

type FieldValues<'a> = BTreeMap<String, FieldValue<'a>>;

fn values_of_change(change: &EntityChange) -> FieldValues<'_> {
    let mut values = FieldValues::new();
    let mut add = |field: &str, value: Option<Value>| {
        if let Some(value) = value {
            values.insert(field.to_owned(), FieldValue::Json(value));
        }
    };
    add("name", change.name.as_ref().map(|name| json!(name)));
    add("type", change.subtype.as_ref().map(|subtype| json!(subtype)));
    add("tags", change.tags.as_ref().map(|tags| json!(tags)));
    add("aliases", change.aliases.as_ref().map(|aliases| json!(aliases)));
    add("is_private", change.is_private.map(|is_private| json!(is_private)));
    add("parent", change.parent.map(|parent| json!(parent)));
    add("image", change.image.as_ref().map(|image| json!(image)));
    add("date", change.date.as_ref().map(|date| json!(date)));
    add("actor_id", change.actor_id.as_ref().map(|actor_id| json!(actor_id)));
    if let Some(text) = &change.text {
        values.insert("entry".to_owned(), FieldValue::Text(text.as_ref()));
    }
    values
}

fn values_of_post_change(post_id: u64, change: &PostChange) -> FieldValues<'_> {
    let mut values = FieldValues::new();
    if let Some(name) = &change.name {
        values.insert(format!("post {post_id}: name"), FieldValue::Json(json!(name)));
    }
    if let Some(text) = &change.text {
        values.insert(format!("post {post_id}: entry"), FieldValue::Text(text.as_ref()));
    }
    values
}

/// The values that an event sets.
fn values_of_event(event: &LoreEvent) -> FieldValues<'_> {
    match event {
        LoreEvent::EntityUpdated { change, .. } => values_of_change(change),
        LoreEvent::PostUpdated { post_id, change, .. } => values_of_post_change(*post_id, change),
        LoreEvent::EntityArchived { .. } => [("deleted".to_owned(), FieldValue::Json(json!(true)))].into(),
        LoreEvent::EntityRestored { .. } => [("deleted".to_owned(), FieldValue::Json(json!(false)))].into(),
        LoreEvent::PostArchived { post_id, .. } => {
            [(format!("post {post_id}: deleted"), FieldValue::Json(json!(true)))].into()
        }
        LoreEvent::PostRestored { post_id, .. } => {
            [(format!("post {post_id}: deleted"), FieldValue::Json(json!(false)))].into()
        }
        LoreEvent::EntityVersionRestored { steps, .. } => steps.iter().flat_map(values_of_event).collect(),
        _ => FieldValues::new(),
    }
}

/// The values that an entity has in the fields that an event would set.
fn current_values<'a>(state: &LoreState, entity: &'a Entity, event: &LoreEvent) -> FieldValues<'a> {
    let details = entity.details();
    let value = |field: &str| match field {
        "name" => FieldValue::Json(json!(entity.name)),
        "type" => FieldValue::Json(json!(entity.subtype)),
        "tags" => FieldValue::Json(json!(state.tag_names(entity))),
        "aliases" => FieldValue::Json(json!(details.aliases)),
        "is_private" => FieldValue::Json(json!(entity.is_private)),
        "parent" => FieldValue::Json(json!(details.parent)),
        "image" => FieldValue::Json(json!(details.image)),
        "date" => FieldValue::Json(json!(details.date)),
        "actor_id" => FieldValue::Json(json!(details.actor_id)),
        "entry" => FieldValue::Text(entity.text.as_ref()),
        "deleted" => FieldValue::Json(json!(entity.is_archived())),
        post_field => {
            let (number, field) =
                post_field.strip_prefix("post ").and_then(|rest| rest.split_once(": ")).unwrap_or_default();
            let post = number.parse().ok().and_then(|post_id| entity.post(post_id));
            match (field, post) {
                ("name", Some(post)) => FieldValue::Json(json!(post.name)),
                ("entry", Some(post)) => FieldValue::Text(post.text.as_ref()),
                ("deleted", Some(post)) => FieldValue::Json(json!(post.is_archived())),
                _ => FieldValue::Json(Value::Null),
            }
        }
    };
    values_of_event(event).into_keys().map(|field| (field.clone(), value(&field))).collect()
}

impl App {
    /// Adds both sides of every field. Of a resolved conflict the winner is authoritative and the loser superseded.
    pub(super) async fn add_conflict_values(
        &self,
        lore: &EnteredLore,
        conflict: &Conflict,
        row: &mut CanonRow,
    ) -> Result<(), Fault> {
        let Some(entity) = lore.state().entity(conflict.entity_id) else { return Ok(()) };
        let proposed = values_of_event(&conflict.proposed);
        let mut current = current_values(lore.state(), entity, &conflict.proposed);
        // Of a resolved conflict show the values from before the resolution, which its undo list has.
        let outcome = conflict.outcome.as_deref().filter(|_| conflict.choice() != Some(ConflictChoice::Current));
        for undone in outcome.iter().flat_map(|outcome| &outcome.undo).flat_map(values_of_event) {
            current.insert(undone.0, undone.1);
        }
        let references = proposed.values().chain(current.values()).filter_map(|value| match value {
            FieldValue::Text(reference) => *reference,
            FieldValue::Json(_) => None,
        });
        let texts = self.load_texts(&lore.campaign_id, references).await?;
        let (current_confidence, proposed_confidence) = match conflict.choice() {
            None => (Confidence::Authoritative, Confidence::Draft),
            Some(ConflictChoice::Current) => (Confidence::Authoritative, Confidence::Superseded),
            Some(ConflictChoice::Proposed) => (Confidence::Superseded, Confidence::Authoritative),
            Some(ConflictChoice::Value) => (Confidence::Superseded, Confidence::Superseded),
        };
        let held = conflict.fields.field_names();
        for (field, value) in &proposed {
            let current = current.get(field).map_or(Value::Null, |value| value.to_json(&texts));
            // A held change may contain fields that did not cause the conflict: these were never authoritative.
            let is_held = held.contains(&field.as_str()) || !field.chars().all(|letter| letter.is_ascii_lowercase());
            let current_confidence =
                if conflict.is_open() && !is_held { Confidence::Draft } else { current_confidence };
            row.values.insert(
                field.clone(),
                ConflictingValues {
                    current: RatedValue { value: current, confidence: current_confidence },
                    proposed: RatedValue { value: value.to_json(&texts), confidence: proposed_confidence },
                },
            );
        }
        Ok(())
    }
}
