//! `/c/{campaign}/graph`: mentions and relationships of entities as a picture. With scripts its nodes can be dragged.

use axum::extract::State;
use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use maud::html;
use serde::Deserialize;
use serde_json::{Value, json};
use skald_app::Fault;

use crate::components::count;
use crate::extractors::PagePath;
use crate::inline_picture::picture_response;
use crate::layout::{CampaignPart, PageLayout};
use crate::live_pages::LivePage;
use crate::lore::type_icon::{TYPES, type_icon};
use crate::lore::{KankaFreshness, entity_path, lore_navigation, lore_path, stale_mirror_notice};
use crate::middleware::PageError;
use crate::visitor::Visitor;
use crate::{PageContext, SharedContext};

/// Relationships that are drawn.
const RELATIONSHIPS_MAX: usize = 100;

/// `GET /c/{campaign}/graph`.
pub(crate) async fn show(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let head = context.campaign_head(&visitor, &campaign).await?;
    let path = format!("/c/{}/graph", head.id);
    let (mentions, related) = context.read_graph(&visitor, &head.id).await?;
    let cut = [
        (mentions.left_out > 0).then(|| {
            let drawn = count(mentions.nodes.len() as u64, "entry", "entries");
            format!("Only the {drawn} with the most connections are drawn; {} more are not", mentions.left_out)
        }),
        related.next_cursor.is_some().then(|| format!("Only the first {RELATIONSHIPS_MAX} relationships are drawn")),
    ];
    let layout = PageLayout::for_visitor("Graph", &visitor).campaign(&head, CampaignPart::Lore).script("graph.js");
    Ok(layout.render(html! {
        div.lore {
            (lore_navigation(&head.id, "Graph", visitor.is_game_master_of(&head.id)))
            div.split {
                h1 { "Who knows whom" }
                div.graph-buttons hidden {
                    button.icon-button type="button" data-zoom="in" aria-label="Closer" { "+" }
                    button.icon-button type="button" data-zoom="out" aria-label="Further away" { "−" }
                    button.icon-button type="button" data-zoom="all" aria-label="All of it" { "⤢" }
                }
            }
            (stale_mirror_notice(mentions.mirror.as_ref(), &head.id, visitor.is_game_master_of(&head.id)))
            p.notice #graph-changed hidden { "The lore has changed. " a href=(path) { "Draw it again" } }
            figure.graph data-graph={ (path) ".json" } data-live=(LivePage::Graph.path(&head.id)) {
                img data-themed src={ (path) ".svg" } alt="The entries of the lore, with lines between those that mention each other";
            }
            p.muted.graph-help hidden { "Drag a name to move it, the ground to look around. Tab and Enter open one." }
            ul.chips.legend aria-label="Colours" {
                @for (word, title) in TYPES { li.chip { span aria-hidden="true" { (type_icon(word)) } (title) } }
            }
            @for cut in cut.iter().flatten() {
                p.notice { (cut) ". " a href=(lore_path(&head.id)) { "The list has every entry" } ", and each entry its relationships." }
            }
            p { a href=(lore_path(&head.id)) { "The same as a list" } }
        }
    }))
}

/// `GET /c/{campaign}/graph.svg`.
pub(crate) async fn picture(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    #[derive(Deserialize)]
    struct GraphAnswer {
        text: String,
    }
    let mut input = json!({"campaign_id": campaign});
    if let Some(theme) = visitor.browser.theme.attribute() {
        input["theme"] = theme.into();
    }
    let drawn: GraphAnswer = context.read(&visitor.caller, "lore_graph", input).await?;
    Ok(picture_response(drawn.text))
}

#[derive(Debug, Deserialize)]
struct MentionNodes {
    nodes: Vec<MentionNode>,
    edges: Vec<Value>,
    /// Entries with mentions that are not among the nodes.
    #[serde(default)]
    left_out: u64,
    /// Set if the campaign is linked to Kanka.
    mirror: Option<KankaFreshness>,
}

#[derive(Debug, Deserialize)]
struct MentionNode {
    entity_id: u64,
    name: String,
    entity_type: String,
}

#[derive(Debug, Default, Deserialize)]
struct DrawnRelationships {
    #[serde(default)]
    relationships: Vec<DrawnRelationship>,
    next_cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
struct DrawnRelationship {
    source: RelationshipEnd,
    target: RelationshipEnd,
    r#type: String,
}

#[derive(Debug, Deserialize)]
struct RelationshipEnd {
    id: u64,
    name: String,
}

impl PageContext {
    /// What the graph shows: entries with their mentions, and relationships.
    async fn read_graph(&self, visitor: &Visitor, campaign: &str) -> Result<(MentionNodes, DrawnRelationships), Fault> {
        let input = json!({"campaign_id": campaign});
        let mentions = self.read(&visitor.caller, "read_mention_graph", input).await?;
        if !self.offers("read_relationships") {
            return Ok((mentions, DrawnRelationships::default()));
        }
        let input = json!({"campaign_id": campaign, "limit": RELATIONSHIPS_MAX});
        Ok((mentions, self.read(&visitor.caller, "read_relationships", input).await?))
    }
}

/// `GET /c/{campaign}/graph.json`: what the script of the page draws.
pub(crate) async fn nodes_and_edges(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let (mentions, related) = context.read_graph(&visitor, &campaign).await?;
    let mut nodes: Vec<Value> =
        mentions.nodes.iter().map(|node| node_json(&campaign, node.entity_id, &node.name, &node.entity_type)).collect();
    let ends = related.relationships.iter().flat_map(|row| [&row.source, &row.target]);
    for end in ends {
        if !nodes.iter().any(|node| node["id"] == json!(end.id)) {
            nodes.push(node_json(&campaign, end.id, &end.name, "other"));
        }
    }
    let relationships = related
        .relationships
        .iter()
        .map(|row| json!({"from": row.source.id, "to": row.target.id, "label": row.r#type.replace('_', " ")}));
    let relationships: Vec<Value> = relationships.collect();
    let graph = json!({"nodes": nodes, "mentions": mentions.edges, "relationships": relationships});
    let mut response = graph.to_string().into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

fn node_json(campaign: &str, entity_id: u64, name: &str, entity_type: &str) -> Value {
    json!({"id": entity_id, "name": name, "type": entity_type, "href": entity_path(campaign, entity_id)})
}
