//! `entity_compare`: what two entities have in common and what differs, as far as the caller sees it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skald_domain::lore::Entity;

use super::access::EnteredLore;
use super::entity_reference::EntityReference;
use super::entity_search::type_word;
use super::relationship_rows::{LinkedEntity, RelationshipRow};
use super::texts::Texts;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, Fault, Operation, OperationKind, PermissionClass, Toolset,
};

/// Relationships of each that are compared, the oldest.
const RELATIONSHIPS_MAX: usize = 20;

pub(super) struct EntityCompare;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EntityCompareInput {
    /// Its id or name.
    entity_id_1: Option<EntityReference>,
    /// The other.
    entity_id_2: Option<EntityReference>,
    /// The context's if left out.
    campaign_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EntityCompareOutput {
    /// What they are to each other, and how much is the same.
    summary: String,
    entities: [LinkedEntity; 2],
    /// Fields and their values.
    same: BTreeMap<&'static str, Value>,
    /// Fields and both values.
    different: BTreeMap<&'static str, [Value; 2]>,
}

impl Operation for EntityCompare {
    const NAME: &'static str = "entity_compare";
    const TITLE: &'static str = "Compare two entities";
    const SUMMARY: &'static str = "What two entities have in common, and what differs.";
    const TOOLSET: Toolset = Toolset::Canon;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    type Input = EntityCompareInput;
    type Output = EntityCompareOutput;

    async fn run(app: &App, call: &Call<'_>, input: EntityCompareInput) -> Result<EntityCompareOutput, Fault> {
        let (Some(one), Some(other)) = (&input.entity_id_1, &input.entity_id_2) else {
            let path = if input.entity_id_1.is_none() { "/entity_id_1" } else { "/entity_id_2" };
            let fault = Fault::new(Code::InvalidParams, "Both entity IDs required").with_path(path);
            return Err(fault.hint("send entity_id_1 and entity_id_2"));
        };
        let lore = app.enter_lore::<Self>(call, input.campaign_id.as_deref()).await?;
        let ids = [lore.resolve_entity(one, "/entity_id_1")?, lore.resolve_entity(other, "/entity_id_2")?];
        let entities: Vec<&Entity> = ids.iter().filter_map(|id| lore.visible_entity(*id)).map(|one| &**one).collect();
        let texts = app.load_texts(&lore.campaign_id, entities.iter().filter_map(|one| one.text.as_ref())).await?;
        let [one, other] = entities[..] else { return Err(lore.missing_entity(one, "/entity_id_1")) };
        Ok(lore.compare_entities(one, other, &texts))
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

impl EnteredLore {
    fn compare_entities(&self, one: &Entity, other: &Entity, texts: &Texts) -> EntityCompareOutput {
        let (mut same, mut different) = (BTreeMap::new(), BTreeMap::new());
        let others: BTreeMap<&'static str, Value> = self.compared_fields(other, texts).into_iter().collect();
        for (field, value) in self.compared_fields(one, texts) {
            let other = others.get(field).cloned().unwrap_or_default();
            let is_empty = |value: &Value| value.is_null() || *value == json!("") || *value == json!([]);
            if value != other {
                different.insert(field, [value, other]);
            } else if !is_empty(&value) {
                same.insert(field, value);
            }
        }
        // `entry` has only the beginning of a text: compare the whole texts too.
        let markdown = |entity: &Entity| texts.markdown(entity.text.as_ref()).to_owned();
        if markdown(one) != markdown(other)
            && let Some(beginning) = same.remove("entry")
        {
            different.insert("entry", [beginning.clone(), beginning]);
        }
        let between: Vec<String> = self
            .state()
            .relationships()
            .of_entity(one.entity_id)
            .filter(|link| link.read_from(one.entity_id).1 == other.entity_id && self.is_relationship_visible(link))
            .take(RELATIONSHIPS_MAX)
            .map(|link| RelationshipRow::new(self.state(), link, one.entity_id, self.sees_private).sentence())
            .collect();
        let counted = format!("{} fields are the same, {} differ", same.len(), different.len());
        let summary = if between.is_empty() { counted } else { format!("{}; {counted}", between.join(", ")) };
        let linked = |entity: &Entity| LinkedEntity { id: entity.entity_id, name: entity.name.to_string() };
        EntityCompareOutput { summary, entities: [linked(one), linked(other)], same, different }
    }

    /// The fields of an entity that a caller sees, briefly.
    fn compared_fields(&self, entity: &Entity, texts: &Texts) -> Vec<(&'static str, Value)> {
        let details = entity.details();
        let mut tags = self.state().tag_names(entity);
        tags.sort_unstable();
        let relationships = self.state().relationships().of_entity(entity.entity_id);
        let mut relationships: Vec<String> = relationships
            .filter(|link| self.is_relationship_visible(link))
            .take(RELATIONSHIPS_MAX)
            .map(|link| {
                let (word, other) = link.read_from(entity.entity_id);
                format!("{word} {}", LinkedEntity::new(self.state(), other).name)
            })
            .collect();
        relationships.sort_unstable();
        let parent = details.parent.and_then(|id| self.named_entity(id)).and_then(|parent| parent.name);
        let mut fields = vec![
            ("name", json!(entity.name)),
            ("entity_type", json!(type_word(self.state(), entity))),
            ("type", json!(*entity.subtype)),
            ("tags", json!(tags)),
            ("aliases", json!(details.aliases)),
            ("parent", json!(parent)),
            ("date", json!(details.date)),
            ("image", json!(details.image)),
            ("actor_id", json!(details.actor_id)),
            ("entry", json!(self.brief_text(texts.markdown(entity.text.as_ref()), &[]))),
            ("relationships", json!(relationships)),
        ];
        if self.sees_private {
            fields.push(("is_private", json!(entity.is_private)));
        }
        fields
    }
}
