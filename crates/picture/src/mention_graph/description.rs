//! Texts of the mention graph: its subtitle, its note, and the description for screen readers.

use skald_domain::deceptive_characters::truncate_for_message;

use super::drawn_graph::{DrawnEntity, DrawnGraph};
use super::entity_groups::group_counts;

pub(super) const TITLE: &str = "Who mentions whom";
/// What to do if there are no mentions.
pub(super) const HOW_TO_BEGIN: &str = "Write [[Name]] in an entry to mention another entity.";
pub(super) const NOTHING_YET: &str = "Nothing mentions anything yet";
const HOW_TO_READ: &str = "An arrow points to what is mentioned. Larger circles have more mentions.";

const HOW_TO_READ_BOTH: &str = "An arrow points to what is mentioned. A bold one is a relationship.";

/// The most mentioned entities that a description names.
const MOST_MENTIONED_MAX: usize = 3;
/// Mentions that a description names.
const MENTIONS_MAX: usize = 60;

fn count_with_noun(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

pub(super) fn subtitle(graph: &DrawnGraph) -> String {
    let entities = count_with_noun(graph.entities.len(), "entity", "entities");
    let related = graph.relationships.len();
    let mentions = match graph.mention_count() {
        _ if graph.entities.is_empty() => return "no mentions yet".to_owned(),
        0 if related == 0 => format!("{entities}, no mentions yet"),
        0 => entities,
        count => format!("{entities}, {}", count_with_noun(count, "mention", "mentions")),
    };
    match related {
        0 => mentions,
        count => format!("{mentions}, {}", count_with_noun(count, "relationship", "relationships")),
    }
}

/// The note below the legend. `unnamed` counts the circles without a name.
pub(super) fn note(graph: &DrawnGraph, unnamed: usize) -> String {
    if graph.lines.is_empty() {
        return format!("{NOTHING_YET}. {HOW_TO_BEGIN}");
    }
    let how = if graph.relationships.is_empty() { HOW_TO_READ } else { HOW_TO_READ_BOTH };
    match unnamed {
        0 => how.to_owned(),
        _ => format!("{how} +{unnamed} without a name."),
    }
}

/// The line about entities that are not drawn.
pub(super) fn left_out_line(graph: &DrawnGraph) -> Option<String> {
    (graph.left_out > 0).then(|| format!("and {} more", graph.left_out))
}

pub(super) fn describe_entity(entity: &DrawnEntity) -> String {
    let mentioned = match entity.mentioned_by {
        0 => String::new(),
        count => format!(", mentioned by {count}"),
    };
    format!("{} ({}{mentioned})", entity.name, entity.group.name)
}

pub(super) fn describe_graph(graph: &DrawnGraph) -> String {
    let mut sentences = Vec::new();
    if graph.lines.is_empty() {
        sentences.push(format!("{NOTHING_YET}. {HOW_TO_BEGIN}"));
    }
    if !graph.entities.is_empty() {
        let groups: Vec<String> = group_counts(graph).into_iter().map(|(_, words)| words).collect();
        sentences.push(format!("{}: {}.", subtitle(graph), groups.join(", ")));
    }
    let mut ranks: Vec<&DrawnEntity> = graph.entities.iter().filter(|entity| entity.mentioned_by > 0).collect();
    // Stable, so that of equal ones the most connected comes first.
    ranks.sort_by_key(|entity| std::cmp::Reverse(entity.mentioned_by));
    let name = |entity: &DrawnEntity| truncate_for_message(&entity.name);
    if !ranks.is_empty() {
        let named = ranks.iter().take(MOST_MENTIONED_MAX);
        let named: Vec<String> = named.map(|entity| format!("{} (by {})", name(entity), entity.mentioned_by)).collect();
        sentences.push(format!("Mentioned most: {}.", named.join(", ")));
    }
    sentences.extend((graph.left_out > 0).then(|| format!("And {} more, not drawn.", graph.left_out)));
    for (from, to, word) in graph.relationships.iter().take(MENTIONS_MAX) {
        let (from, to) = (name(&graph.entities[*from]), name(&graph.entities[*to]));
        sentences.push(format!("{from} {} {to}.", truncate_for_message(word)));
    }
    let is_mutual = |(from, to): (usize, usize)| graph.mentions.contains(&(to, from));
    let lines = graph.mentions.iter().copied().filter(|pair| pair.0 < pair.1 || !is_mutual(*pair));
    for (from, to) in lines.clone().take(MENTIONS_MAX) {
        let (from_name, to_name) = (name(&graph.entities[from]), name(&graph.entities[to]));
        sentences.push(if is_mutual((from, to)) {
            format!("{from_name} and {to_name} mention each other.")
        } else {
            format!("{from_name} mentions {to_name}.")
        });
    }
    let more = lines.count().saturating_sub(MENTIONS_MAX) + graph.relationships.len().saturating_sub(MENTIONS_MAX);
    sentences.extend((more > 0).then(|| format!("And {}.", count_with_noun(more, "more line", "more lines"))));
    sentences.join(" ")
}
