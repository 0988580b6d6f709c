//! Resources of the lore, and completions of its fields.

use std::sync::Arc;

use skald_domain::lore::{Entity, EntityFilter, MatchRank, fold_name};

use super::access::EnteredLore;
use super::entity_reference::EntityReference;
use super::find::FindEntities;
use crate::{App, Call, Caller, Completion, CompletionRequest, RequestControl, Resource, Toolset, limits};

pub(super) const CONTEXT_URI: &str = "kanka://context";

pub(super) fn resources() -> Vec<Resource> {
    vec![
        Resource {
            uri: CONTEXT_URI,
            name: "kanka_context",
            title: "Kanka context",
            summary: "The kinds of entities, their fields, and how texts mention entities.",
            toolset: Toolset::Lore,
            mime_type: "application/json",
            operation: "kanka_context",
            fixed: None,
            listed: None,
        },
        Resource {
            uri: "lore://{campaign_id}/entities{?entity_type,query,cursor,limit}",
            name: "entities",
            title: "Entities of a campaign",
            summary: "Ids and names of the lore, page by page.",
            toolset: Toolset::Lore,
            mime_type: "application/json",
            operation: "find_entities",
            fixed: Some(("include_full", "false")),
            listed: None,
        },
        Resource {
            uri: "lore://{campaign_id}/entity/{entity_id}",
            name: "entity",
            title: "An entity",
            summary: "One entity with its posts, and what mentions it.",
            toolset: Toolset::Lore,
            mime_type: "application/json",
            operation: "read_entity",
            fixed: None,
            listed: None,
        },
        Resource {
            uri: "lore://{campaign_id}/graph.svg",
            name: "lore_graph",
            title: "The lore as a picture",
            summary: "Who mentions whom, and who is what to whom.",
            toolset: Toolset::Lore,
            mime_type: "image/svg+xml",
            operation: "lore_graph",
            fixed: None,
            listed: None,
        },
        canon_resource(
            "imagineer://campaigns/{campaign_id}/entities{?query,entity_type,limit,cursor}",
            ("campaign_entities", "Campaign Entities"),
            "List of entities in the campaign",
            "entity_search",
        ),
        canon_resource(
            "imagineer://campaigns/{campaign_id}/timeline{?start_date,end_date,entity_id,session_id,include,cursor,limit}",
            ("campaign_timeline", "Campaign Timeline"),
            "What happened in the campaign, in the order of its days",
            "read_timeline",
        ),
        canon_resource(
            "imagineer://systems/{code}",
            ("game_system", "Game System"),
            "Facts of play of a game system",
            "game_system",
        ),
        canon_resource(
            "lore://{campaign_id}/relationships/{entity_id}{?depth,limit}",
            ("relationships", "Relationships of an entity"),
            "Who is what to an entity, and how far from it",
            "read_relationships",
        ),
    ]
}

/// A resource of the toolset canon, as JSON.
fn canon_resource(
    uri: &'static str,
    (name, title): (&'static str, &'static str),
    summary: &'static str,
    operation: &'static str,
) -> Resource {
    let (toolset, mime_type) = (Toolset::Canon, "application/json");
    Resource { uri, name, title, summary, toolset, mime_type, operation, fixed: None, listed: None }
}

impl App {
    /// Completes an argument of a resource of the lore, in the campaign that is given with it, or in the context's: an
    /// entity by its name or its number, a query by names and tags, a session by its id.
    pub(super) async fn complete_lore_argument(
        &self,
        caller: &Caller,
        request: &CompletionRequest,
    ) -> Option<Completion> {
        if !matches!(request.argument.as_str(), "entity_id" | "query" | "session_id") {
            return None;
        }
        let control = RequestControl::default();
        let call = Call::internal(caller, &control);
        let entered = self.enter_lore::<FindEntities>(&call, request.argument_value("campaign_id")).await;
        let Ok(lore) = entered else { return Some(Completion::default()) };
        let typed = request.typed.trim();
        Some(match request.argument.as_str() {
            "entity_id" => lore.complete_reference(typed),
            "query" => lore.complete_query(typed),
            _ => {
                let mut ids = self.complete_field_of_campaign(caller, &lore.campaign_id, "session_id").await?;
                ids.retain(|id| id.starts_with(typed));
                Completion { total: ids.len(), values: ids }
            }
        })
    }
}

impl EnteredLore {
    /// The entities that the caller sees and whose name has a word that begins with a text, by how well they match.
    fn entities_beginning_with(&self, typed: &str) -> Vec<&Arc<Entity>> {
        let query = Some(typed.to_owned()).filter(|typed| !typed.is_empty());
        let (sees_private, revealed) = (self.sees_private, self.revealed_entities());
        let found = self.state().find(&EntityFilter { query, sees_private, revealed, ..EntityFilter::default() });
        let by_name = found.iter().filter(|found| found.rank <= MatchRank::NameWord || typed.is_empty());
        by_name.filter_map(|found| self.visible_entity(found.entity_id)).collect()
    }

    /// Entities by the beginning of their number or of a word of their name.
    fn complete_reference(&self, typed: &str) -> Completion {
        let mut values: Vec<String> = Vec::new();
        if typed.starts_with(|letter: char| letter.is_ascii_digit()) {
            let ids = self.state().current_entities().filter(|entity| self.redaction.is_visible(&***entity));
            let numbers = ids.map(|entity| entity.entity_id.to_string());
            values.extend(numbers.filter(|number| number.starts_with(typed)));
        }
        let named = self.entities_beginning_with(typed);
        let total = values.len() + named.len();
        values.truncate(limits::COMPLETIONS_MAX);
        values.extend(named.into_iter().take(limits::COMPLETIONS_MAX).map(|entity| self.shortest_reference(entity)));
        values.truncate(limits::COMPLETIONS_MAX);
        Completion { values, total }
    }

    /// The name of an entity if it stands for this entity alone, or else its number.
    fn shortest_reference(&self, entity: &Entity) -> String {
        match self.resolve_entity(&EntityReference::from(&*entity.name), "/entity_id") {
            Ok(entity_id) if entity_id == entity.entity_id => entity.name.to_string(),
            _ => entity.entity_id.to_string(),
        }
    }

    /// Names and tags by the beginning of one of their words.
    fn complete_query(&self, typed: &str) -> Completion {
        let entities = self.entities_beginning_with(typed);
        let folded = fold_name(typed);
        let tags: Vec<String> =
            self.visible_tags().into_iter().filter(|tag| fold_name(tag).starts_with(&folded)).collect();
        let total = entities.len() + tags.len();
        let names = entities.into_iter().take(limits::COMPLETIONS_MAX).map(|entity| entity.name.to_string());
        Completion { values: names.chain(tags).take(limits::COMPLETIONS_MAX).collect(), total }
    }
}
