//! Resources of the lore, and completions of its fields.

use std::collections::BTreeSet;

use skald_domain::lore::{EntityFilter, NameFilter};

use crate::{App, Call, Caller, RequestControl, Resource, Toolset, limits};

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
    /// Completions: ids of campaigns, names of entities by how they begin, tags.
    pub(super) async fn complete_lore_field(&self, caller: &Caller, field: &str, typed: &str) -> Option<Vec<String>> {
        if !matches!(field, "entity_id" | "entity_ids" | "name" | "tags" | "type") {
            return self.complete_id_field(caller, field).await;
        }
        let work = RequestControl::default();
        let call = Call::internal(caller, &work);
        let lore = self.enter_lore::<super::find::FindEntities>(&call, None).await.ok()?;
        if field == "tags" {
            let visible = lore.visible_tags();
            return Some(visible.into_iter().take(limits::COMPLETIONS_MAX).collect());
        }
        let filter = EntityFilter {
            name: (field.starts_with("entity_ids") || field == "name").then(|| NameFilter::Contains(typed.to_owned())),
            ..lore.entity_filter()
        };
        let found = lore.state().find(&filter);
        let entities = found.iter().filter_map(|found| lore.visible_entity(found.entity_id));
        let words: Vec<String> = match field {
            "type" => {
                let words: BTreeSet<String> = entities.map(|entity| entity.subtype.to_string()).collect();
                words.into_iter().filter(|word| !word.is_empty() && word.starts_with(typed)).collect()
            }
            "entity_id" => {
                let ids = entities.map(|entity| entity.entity_id.to_string());
                ids.filter(|id| id.starts_with(typed)).take(limits::COMPLETIONS_MAX).collect()
            }
            _ => entities.map(|entity| entity.name.to_string()).take(limits::COMPLETIONS_MAX).collect(),
        };
        let words = words.into_iter().take(limits::COMPLETIONS_MAX).collect();
        Some(words)
    }
}
