//! `list_entities`: whole rows of entities by filter and page number, with HTML, for programs that keep a copy.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::lore::{Entity, EntityFilter, EntityType, NameFilter, parse_date};

use super::access::EnteredLore;
use super::entity_row::{EntityRow, RowParts};
use super::get::parse_moment;
use super::row_page::{RowPage, exact_moment};
use super::text_condition::{FoldedConditions, TextCondition, check_term_count};
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, Exposed, Fault, Operation, OperationKind, PermissionClass, Toolset,
    truncate_for_message,
};

pub(super) struct ListEntities;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListEntitiesInput {
    /// The campaign.
    campaign_id: String,
    #[serde(default)]
    filter: EntityRowFilter,
    page: RowPage,
    /// The last changed first; by `entity_id` if left out.
    #[serde(default)]
    newest_first: bool,
    /// What a row has besides its short fields.
    #[serde(default)]
    parts: RowParts,
}

/// What entities must have to be listed: everything that is given.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct EntityRowFilter {
    /// One of these.
    entity_types: Option<Vec<EntityType>>,
    /// One of these numbers in the campaign.
    entity_ids: Option<Vec<u64>>,
    /// One of these numbers in the type.
    ids: Option<Vec<u64>>,
    /// All of these, of the name.
    name: Vec<TextCondition>,
    /// All of these, of the subtype.
    r#type: Vec<TextCondition>,
    /// All of these, of the date.
    date: Vec<TextCondition>,
    /// A date on this day or later.
    date_from: Option<String>,
    /// A date on this day or earlier.
    date_until: Option<String>,
    is_private: Option<bool>,
    tags: Option<TagFilter>,
    /// Changed after this moment, posts included.
    updated_after: Option<String>,
    has_entry: Option<bool>,
    has_posts: Option<bool>,
    has_image: Option<bool>,
    /// The entity that they belong to or lie in.
    parent: Option<u64>,
    has_parent: Option<bool>,
    /// List archived entities instead; game masters only.
    archived: bool,
}

/// Tags by their ids.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TagFilter {
    AllOf(Vec<u32>),
    AnyOf(Vec<u32>),
    NoneOf(Vec<u32>),
    Untagged,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListEntitiesOutput {
    rows: Vec<EntityRow>,
    /// How many rows all pages have.
    total: usize,
    /// The moment before the rows were read: what changes later is listed with it as `updated_after`.
    read_at: String,
}

impl Operation for ListEntities {
    const NAME: &'static str = "list_entities";
    const TITLE: &'static str = "List entities";
    const SUMMARY: &'static str = "Whole entities by filter and page, with HTML, ids of tags and posts.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    const EXPOSED: Exposed = Exposed::EngineOnly;
    type Input = ListEntitiesInput;
    type Output = ListEntitiesOutput;

    async fn run(app: &App, call: &Call<'_>, input: ListEntitiesInput) -> Result<ListEntitiesOutput, Fault> {
        let read_at = exact_moment(app.clock.now());
        let page = input.page.check()?;
        let filter = CheckedFilter::new(&input.filter)?;
        let lore = app.enter_lore::<Self>(call, Some(&input.campaign_id)).await?;
        let mut found = filter.find(&lore);
        if input.newest_first {
            found.sort_by_key(|entity| std::cmp::Reverse((lore.updated_at(entity), entity.entity_id)));
        }
        let rows = app.entity_rows(&lore, page.cut(&found), input.parts).await?;
        Ok(ListEntitiesOutput { rows, total: found.len(), read_at })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

/// A filter with its moments and days parsed.
struct CheckedFilter<'a> {
    given: &'a EntityRowFilter,
    name: FoldedConditions,
    subtype: FoldedConditions,
    date: FoldedConditions,
    updated_after: Option<Timestamp>,
    first_day: Option<Date>,
    last_day: Option<Date>,
}

impl<'a> CheckedFilter<'a> {
    fn new(given: &'a EntityRowFilter) -> Result<Self, Fault> {
        let updated_after = given.updated_after.as_deref();
        for (ids, pointer) in [(&given.entity_ids, "/filter/entity_ids"), (&given.ids, "/filter/ids")] {
            check_term_count(ids.as_ref().map_or(0, Vec::len), pointer)?;
        }
        check_term_count(given.tags.as_ref().map_or(0, TagFilter::term_count), "/filter/tags")?;
        Ok(Self {
            given,
            name: FoldedConditions::new(&given.name, "/filter/name")?,
            subtype: FoldedConditions::new(&given.r#type, "/filter/type")?,
            date: FoldedConditions::new(&given.date, "/filter/date")?,
            updated_after: updated_after.map(|text| parse_moment(text, "/filter/updated_after")).transpose()?,
            first_day: given.date_from.as_deref().map(|text| day(text, "date_from")).transpose()?,
            last_day: given.date_until.as_deref().map(|text| day(text, "date_until")).transpose()?,
        })
    }

    /// The entities that fit and that the caller sees, by `entity_id`.
    fn find<'l>(&self, lore: &'l EnteredLore) -> Vec<&'l Arc<Entity>> {
        if self.given.archived {
            // Only game masters see the archive.
            if !lore.sees_private {
                return Vec::new();
            }
            let archived = lore.state().archived().filter(|entity| lore.redaction.is_visible(&***entity));
            return archived.filter(|entity| self.fits(lore, entity)).collect();
        }
        if let Some(entity_ids) = &self.given.entity_ids {
            let mut entity_ids = entity_ids.clone();
            entity_ids.sort_unstable();
            entity_ids.dedup();
            let entities = entity_ids.into_iter().filter_map(|entity_id| lore.visible_entity(entity_id));
            return entities.filter(|entity| self.fits(lore, entity)).collect();
        }
        // Narrow down by the indexes first, so that few entities are checked one by one.
        let candidates = lore.state().find(&self.index_filter(lore)).into_iter();
        let entities = candidates.filter_map(|found| lore.visible_entity(found.entity_id));
        entities.filter(|entity| self.fits(lore, entity)).collect()
    }

    /// A filter that finds at least all entities that fit.
    fn index_filter(&self, lore: &EnteredLore) -> EntityFilter {
        let name = self.given.name.iter().find_map(|condition| match condition {
            TextCondition::Contains(part) => Some(NameFilter::Contains(part.clone())),
            TextCondition::Equals(whole) => Some(NameFilter::Exactly(whole.clone())),
            TextCondition::Lacks(_) | TextCondition::IsEmpty(_) => None,
        });
        let only_type = match self.given.entity_types.as_deref() {
            Some([only]) => Some(*only),
            _ => None,
        };
        EntityFilter { entity_type: only_type, name, updated_after: self.updated_after, ..lore.entity_filter() }
    }

    fn fits(&self, lore: &EnteredLore, entity: &Entity) -> bool {
        let given = self.given;
        let is_one_of = |ids: &Option<Vec<u64>>, id: u64| ids.as_ref().is_none_or(|ids| ids.contains(&id));
        let date = entity.details().date.as_deref().unwrap_or_default();
        given.entity_types.as_ref().is_none_or(|types| types.contains(&entity.entity_type))
            && is_one_of(&given.entity_ids, entity.entity_id)
            && is_one_of(&given.ids, entity.id)
            && self.name.match_all(&entity.name)
            && self.subtype.match_all(&entity.subtype)
            && self.date.match_all(date)
            && self.has_day(date)
            && given.is_private.is_none_or(|is_private| entity.is_private == is_private)
            && given.tags.as_ref().is_none_or(|tags| tags.fits(&entity.tags))
            && self.updated_after.is_none_or(|after| lore.updated_at(entity) > after)
            && given.has_entry.is_none_or(|has| entity.text.is_some() == has)
            && given.has_posts.is_none_or(|has| lore.visible_posts(entity).next().is_some() == has)
            && given.has_image.is_none_or(|has| entity.details().image.is_some() == has)
            && given.parent.is_none_or(|parent| lore.visible_parent(entity) == Some(parent))
            && given.has_parent.is_none_or(|has| lore.visible_parent(entity).is_some() == has)
    }

    fn has_day(&self, date: &str) -> bool {
        if self.first_day.is_none() && self.last_day.is_none() {
            return true;
        }
        parse_date(date).is_some_and(|date| {
            self.first_day.is_none_or(|first| first <= date) && self.last_day.is_none_or(|last| date <= last)
        })
    }
}

impl TagFilter {
    fn term_count(&self) -> usize {
        match self {
            Self::AllOf(ids) | Self::AnyOf(ids) | Self::NoneOf(ids) => ids.len(),
            Self::Untagged => 0,
        }
    }

    fn fits(&self, tags: &[u32]) -> bool {
        match self {
            Self::AllOf(ids) => ids.iter().all(|id| tags.contains(id)),
            Self::AnyOf(ids) => ids.iter().any(|id| tags.contains(id)),
            Self::NoneOf(ids) => !ids.iter().any(|id| tags.contains(id)),
            Self::Untagged => tags.is_empty(),
        }
    }
}

fn day(text: &str, field: &str) -> Result<Date, Fault> {
    parse_date(text.trim()).ok_or_else(|| {
        Fault::new(Code::InvalidParams, format!("{:?} is no date", truncate_for_message(text)))
            .with_path(format!("/filter/{field}"))
            .value(&text.into())
            .hint("send one like 2025-05-30")
    })
}
