//! `lore_graph` and `read_mention_graph`: who mentions whom, and who has a relationship with whom, as a picture and as
//! nodes and edges.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::access::EnteredLore;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Exposed, Fault, Operation, OperationKind, PermissionClass, Route, Toolset,
};
use skald_picture::{GraphRelationship, MentionGraph, MentionGraphEdge, MentionGraphNode, Theme};

/// Entities in one picture: those with the most mentions. More could not be read.
const DRAWN_ENTITIES_MAX: usize = 60;

pub(super) struct LoreGraph;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LoreGraphInput {
    /// The campaign.
    campaign_id: String,
    /// The colours; those that the reader prefers if left out.
    #[serde(default)]
    theme: Theme,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LoreGraphOutput {
    /// The picture, as SVG.
    text: String,
}

impl Operation for LoreGraph {
    const NAME: &'static str = "lore_graph";
    const TITLE: &'static str = "The lore as a picture";
    const SUMMARY: &'static str =
        "Who mentions whom and is what to whom, as SVG: the most connected entities, in colours by type.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    const EXPOSED: Exposed = Exposed::NotAsTool;
    const ROUTES: &'static [Route] = &[Route::document("/api/v1/campaigns/{campaign_id}/graph.svg", "image/svg+xml")];
    type Input = LoreGraphInput;
    type Output = LoreGraphOutput;

    async fn run(app: &App, call: &Call<'_>, input: LoreGraphInput) -> Result<LoreGraphOutput, Fault> {
        let lore = app.enter_lore::<Self>(call, Some(&input.campaign_id)).await?;
        let graph = lore.mention_graph(input.theme);
        let drawn = app.compute(move |_| Ok(graph.svg()));
        drawn.await.map(|text| LoreGraphOutput { text })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

/// The picture's nodes and edges, for a page that lets people drag them.
pub(super) struct ReadMentionGraph;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadMentionGraphInput {
    /// The campaign.
    campaign_id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReadMentionGraphOutput {
    /// Those with the most mentions.
    nodes: Vec<GraphEntity>,
    edges: Vec<GraphMention>,
    /// Entities with mentions that are not among the nodes.
    left_out: usize,
}

#[derive(Debug, Serialize, JsonSchema)]
struct GraphEntity {
    entity_id: u64,
    name: String,
    entity_type: &'static str,
}

#[derive(Debug, Serialize, JsonSchema)]
struct GraphMention {
    from: u64,
    to: u64,
}

impl Operation for ReadMentionGraph {
    const NAME: &'static str = "read_mention_graph";
    const TITLE: &'static str = "Mentions as a graph";
    const SUMMARY: &'static str = "Who mentions whom, as nodes and edges: the entities with the most mentions.";
    const TOOLSET: Toolset = Toolset::Lore;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    const EXPOSED: Exposed = Exposed::EngineOnly;
    type Input = ReadMentionGraphInput;
    type Output = ReadMentionGraphOutput;

    async fn run(app: &App, call: &Call<'_>, input: ReadMentionGraphInput) -> Result<ReadMentionGraphOutput, Fault> {
        let lore = app.enter_lore::<Self>(call, Some(&input.campaign_id)).await?;
        let graph = lore.mention_graph(Theme::default());
        let nodes = graph.nodes.into_iter();
        let nodes = nodes.map(|node| GraphEntity { entity_id: node.id, name: node.name, entity_type: node.group });
        let edges = graph.edges.into_iter().map(|edge| GraphMention { from: edge.from, to: edge.to });
        Ok(ReadMentionGraphOutput { nodes: nodes.collect(), edges: edges.collect(), left_out: graph.left_out })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

impl EnteredLore {
    /// The entities with the most mentions among those that the caller sees, and the mentions between them. A mention in a
    /// text that the caller may not see is not counted.
    fn mention_graph(&self, theme: Theme) -> MentionGraph {
        let is_current = |id: u64| self.visible_entity(id).is_some_and(|entity| !entity.is_superseded());
        let mut edges: BTreeMap<(u64, u64), usize> = BTreeMap::new();
        for entity in self.state().current_entities().filter(|entity| self.redaction.is_visible(&***entity)) {
            let posts = self.visible_posts(entity).filter_map(|post| post.text.as_ref());
            for target in entity.text.iter().chain(posts).flat_map(|text| text.mentions.iter()) {
                if *target != entity.entity_id && is_current(*target) {
                    *edges.entry((entity.entity_id, *target)).or_default() += 1;
                }
            }
        }
        let relationships = self.state().relationships().all();
        let relationships = relationships.filter(|one| self.is_relationship_visible(one));
        let relationships: Vec<_> =
            relationships.filter(|one| is_current(one.source_id) && is_current(one.target_id)).collect();
        let mut degrees: BTreeMap<u64, usize> = BTreeMap::new();
        let related = relationships.iter().map(|one| (one.source_id, one.target_id));
        for (from, to) in edges.keys().copied().chain(related) {
            *degrees.entry(from).or_default() += 1;
            *degrees.entry(to).or_default() += 1;
        }
        let mut drawn: Vec<(u64, usize)> = degrees.into_iter().collect();
        drawn.sort_by_key(|(id, degree)| (std::cmp::Reverse(*degree), *id));
        let left_out = drawn.len().saturating_sub(DRAWN_ENTITIES_MAX);
        drawn.truncate(DRAWN_ENTITIES_MAX);
        let ids: BTreeSet<u64> = drawn.iter().map(|(id, _)| *id).collect();
        let nodes = drawn.iter().filter_map(|(id, degree)| {
            let entity = self.visible_entity(*id)?;
            Some(MentionGraphNode {
                id: *id,
                name: entity.name.to_string(),
                group: entity.entity_type.as_str(),
                degree: *degree,
            })
        });
        let nodes = nodes.collect();
        let edges = edges.into_keys().filter(|(from, to)| ids.contains(from) && ids.contains(to));
        let edges = edges.map(|(from, to)| MentionGraphEdge { from, to }).collect();
        let drawn = relationships.iter().filter(|one| ids.contains(&one.source_id) && ids.contains(&one.target_id));
        let relationships = drawn.map(|one| GraphRelationship {
            from: one.source_id,
            to: one.target_id,
            word: one.relation.to_string(),
            is_symmetric: one.is_symmetric(),
        });
        MentionGraph { nodes, edges, relationships: relationships.collect(), left_out, theme }
    }
}
