//! `/c/{campaign}/graph`: who mentions whom and who is what to whom, as a picture, and to drag where scripts run.

use axum::extract::{Path, State};
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use maud::html;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::SharedContext;
use crate::layout::{CampaignPart, PageLayout};
use crate::live_pages::LivePage;
use crate::lore::type_icon::{TYPES, type_icon};
use crate::lore::{entity_path, lore_navigation, lore_path};
use crate::middleware::PageError;
use crate::visitor::Visitor;

/// A picture has its colours in it, and nothing else.
const PICTURE_POLICY: HeaderValue = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'");
/// Relationships that are drawn.
const RELATIONSHIPS_MAX: usize = 100;

/// `GET /c/{campaign}/graph`.
pub(crate) async fn show(
    State(context): State<SharedContext>,
    Path(campaign): Path<String>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let head = context.campaign_head(&visitor, &campaign).await?;
    let path = format!("/c/{}/graph", head.id);
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
            p.notice #graph-changed hidden { "The lore has changed. " a href=(path) { "Draw it again" } }
            figure.graph data-graph={ (path) ".json" } data-live=(LivePage::Graph.path(&head.id)) {
                img data-themed src={ (path) ".svg" } alt="The entries of the lore, with lines between those that mention each other";
            }
            p.muted.graph-help hidden { "Drag a name to move it, the ground to look around. Tab and Enter open one." }
            ul.chips.legend aria-label="Colours" {
                @for (word, title) in TYPES { li.chip { span aria-hidden="true" { (type_icon(word)) } (title) } }
            }
            p { a href=(lore_path(&head.id)) { "The same as a list" } }
        }
    }))
}

/// `GET /c/{campaign}/graph.svg`.
pub(crate) async fn picture(
    State(context): State<SharedContext>,
    Path(campaign): Path<String>,
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
    let mut response = drawn.text.into_response();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("image/svg+xml"));
    headers.insert(CONTENT_SECURITY_POLICY, PICTURE_POLICY);
    Ok(response)
}

#[derive(Debug, Deserialize)]
struct MentionNodes {
    nodes: Vec<MentionNode>,
    edges: Vec<Value>,
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

/// `GET /c/{campaign}/graph.json`: what the script of the page draws.
pub(crate) async fn nodes_and_edges(
    State(context): State<SharedContext>,
    Path(campaign): Path<String>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let input = json!({"campaign_id": campaign});
    let mentions: MentionNodes = context.read(&visitor.caller, "read_mention_graph", input).await?;
    let related = if context.offers("read_relationships") {
        let input = json!({"campaign_id": campaign, "limit": RELATIONSHIPS_MAX});
        context.read(&visitor.caller, "read_relationships", input).await?
    } else {
        DrawnRelationships::default()
    };
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
