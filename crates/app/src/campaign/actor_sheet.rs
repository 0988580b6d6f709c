//! The sheets of actors in the inputs of `actor_create` and `actor_update`: controller, template, traits and trackers,
//! for one actor or several.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use skald_domain::campaign::{
    ActorKind, ActorSheet, BatchPart, CampaignCommand, CampaignState, GameTemplate, SecretSubject, TickMoment,
    TrackerDefinition, TraitValue,
};

use super::people_names::{resolve_actor, resolve_controller};
use super::several_items::{item_pointer, single_or_batch};
use super::tracker::prefix_path;
use super::visible_to::{read_visible_to, with_visibility};
use crate::input::deserialize_input;
use crate::json_schema::full_input_schema;
use crate::{Code, Fault};

/// One of several actors to create.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct NewActor {
    pub name: String,
    pub kind: ActorKind,
    #[serde(default)]
    pub notes: String,
    pub notes_visible_to: Option<Vec<String>>,
    pub controller: Option<String>,
    pub template: Option<GameTemplate>,
    #[serde(default)]
    pub traits: Map<String, Value>,
    #[serde(default)]
    pub trackers: Map<String, Value>,
}

/// One of several actors to change.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ChangedActor {
    pub actor_id: String,
    pub name: Option<String>,
    pub kind: Option<ActorKind>,
    pub notes: Option<String>,
    pub notes_visible_to: Option<Vec<String>>,
    pub controller: Option<String>,
    pub template: Option<GameTemplate>,
    #[serde(default)]
    pub traits: Map<String, Value>,
    #[serde(default)]
    pub trackers: Map<String, Value>,
}

/// The commands that create actors under these ids.
pub(super) fn create_commands(
    state: &CampaignState,
    actors: Vec<NewActor>,
    ids: &[String],
) -> Result<CampaignCommand, Fault> {
    let mut parts = Vec::new();
    for (at, (actor, id)) in actors.into_iter().zip(ids).enumerate() {
        let pointer = item_pointer("actors", at);
        let NewActor { name, kind, notes, notes_visible_to, controller, template, traits, trackers } = actor;
        let visible_to = format!("{pointer}/notes_visible_to");
        let visible_to = read_visible_to(state, &visible_to, notes_visible_to.as_deref())?;
        let command = with_visibility(visible_to, CampaignCommand::AddActor { id: id.clone(), name, kind, notes });
        parts.push(BatchPart { pointer: pointer.clone(), command });
        add_sheet(state, &mut parts, &pointer, id, (controller, template, traits, trackers))?;
    }
    Ok(single_or_batch(parts))
}

/// The commands that change actors, and the ids of those actors.
pub(super) fn update_commands(
    state: &CampaignState,
    actors: Vec<ChangedActor>,
) -> Result<(CampaignCommand, Vec<String>), Fault> {
    let (mut parts, mut ids) = (Vec::new(), Vec::new());
    for (at, actor) in actors.into_iter().enumerate() {
        let pointer = item_pointer("actors", at);
        let ChangedActor { actor_id, name, kind, notes, notes_visible_to, controller, template, traits, trackers } =
            actor;
        let id = resolve_actor(state, &format!("{pointer}/actor_id"), &actor_id)?;
        let visible_to = format!("{pointer}/notes_visible_to");
        let visible_to = read_visible_to(state, &visible_to, notes_visible_to.as_deref())?;
        let before = parts.len();
        // Hide them before the new notes are written: the change of the notes is announced to those who see them then.
        if let Some(visible_to) = visible_to {
            let command = CampaignCommand::ChangeVisibility { of: SecretSubject::actor_notes(&id), visible_to };
            parts.push(BatchPart { pointer: pointer.clone(), command });
        }
        let first = parts.len();
        add_sheet(state, &mut parts, &pointer, &id, (controller, template, traits, trackers))?;
        // Also where nothing is given at all, which the rules refuse.
        if name.is_some() || kind.is_some() || notes.is_some() || parts.len() == before {
            let command = CampaignCommand::UpdateActor { actor_id: id.clone(), name, kind, notes };
            parts.insert(first, BatchPart { pointer, command });
        }
        ids.push(id);
    }
    Ok((single_or_batch(parts), ids))
}

type SheetFields = (Option<String>, Option<GameTemplate>, Map<String, Value>, Map<String, Value>);

fn add_sheet(
    state: &CampaignState,
    parts: &mut Vec<BatchPart>,
    pointer: &str,
    id: &str,
    (controller, template, traits, trackers): SheetFields,
) -> Result<(), Fault> {
    if let Some(controller) = controller {
        let controller = resolve_controller(state, &format!("{pointer}/controller"), &controller)?;
        let command = CampaignCommand::SetActorControl { actor_id: id.to_owned(), controller };
        parts.push(BatchPart { pointer: pointer.to_owned(), command });
    }
    if template.is_some() || !traits.is_empty() || !trackers.is_empty() {
        let traits = read_traits(traits).map_err(|fault| prefix_path(fault, pointer))?;
        let trackers = read_trackers(trackers).map_err(|fault| prefix_path(fault, pointer))?;
        let sheet = Box::new(ActorSheet { template, traits, trackers });
        let command = CampaignCommand::SetActorSheet { actor_id: id.to_owned(), sheet };
        parts.push(BatchPart { pointer: pointer.to_owned(), command });
    }
    Ok(())
}

/// Traits are texts and numbers; null removes one.
fn read_traits(traits: Map<String, Value>) -> Result<BTreeMap<String, Option<TraitValue>>, Fault> {
    let read = |(name, value): (String, Value)| {
        let value = match value {
            Value::Null => None,
            Value::Number(number) => Some(TraitValue::Number(number)),
            Value::String(text) => Some(TraitValue::Text(text)),
            value => {
                let fault =
                    Fault::new(Code::InvalidParams, format!("the trait {name:?} is neither a text nor a number"));
                let fault = fault.with_path(format!("/traits/{name}")).value(&value);
                return Err(fault.hint("send a text or a number; null removes a trait"));
            }
        };
        Ok((name, value))
    };
    traits.into_iter().map(read).collect()
}

/// A tracker with all its fields but the name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TrackerFields {
    value: Option<i64>,
    min: Option<i64>,
    max: Option<i64>,
    meaning: Option<String>,
    ticks: Option<TickMoment>,
    step: Option<i64>,
}

/// Trackers by name: 6, "4/6", or an object with the fields of `tracker`.
fn read_trackers(trackers: Map<String, Value>) -> Result<Vec<TrackerDefinition>, Fault> {
    trackers.into_iter().map(|(name, value)| read_tracker(name, &value)).collect()
}

fn read_tracker(name: String, value: &Value) -> Result<TrackerDefinition, Fault> {
    let pointer = format!("/trackers/{name}");
    let short = |value, max| TrackerDefinition { value, max, ..TrackerDefinition::default() };
    let read = match value {
        Value::Number(number) => number.as_i64().map(|value| short(Some(value), None)),
        Value::String(text) => match text.split_once('/') {
            Some((value, max)) => {
                let numbers = value.trim().parse().ok().zip(max.trim().parse().ok());
                numbers.map(|(value, max)| short(Some(value), Some(max)))
            }
            None => text.trim().parse().ok().map(|value| short(Some(value), None)),
        },
        Value::Object(_) => {
            let fields: TrackerFields = deserialize_input(value, &full_input_schema::<TrackerFields>())
                .map_err(|fault| prefix_path(fault, &pointer))?;
            let TrackerFields { value, min, max, meaning, ticks, step } = fields;
            Some(TrackerDefinition { name: String::new(), value, min, max, meaning, ticks, step })
        }
        _ => None,
    };
    let Some(definition) = read else {
        let fault = Fault::new(Code::InvalidParams, format!("the tracker {name:?} has no value that can be read"));
        return Err(fault
            .with_path(pointer)
            .value(value)
            .hint("send a whole number, \"value/max\" such as 4/6, or an object"));
    };
    Ok(TrackerDefinition { name, ..definition })
}
