//! Checks of the fields of lore commands: lengths, characters, numbers, and how many there may be.

use super::entity::{ImportSource, SourcePost, TextRef};
use super::find::name_identity;
use super::refusal::LoreRefusal;
use super::state::LoreState;
use crate::deceptive_characters::first_deceptive;
use crate::limits;

pub(super) fn check_name(field: &'static str, name: &str) -> Result<String, LoreRefusal> {
    check_short_text(field, check_not_empty(field, name)?, limits::NAME_CHARS_MAX)
}

/// A subtype may be empty.
pub(super) fn check_subtype(subtype: &str) -> Result<String, LoreRefusal> {
    check_short_text("subtype", subtype.trim(), limits::NAME_CHARS_MAX)
}

/// A field that may be missing, and is not empty if it is there.
pub(super) fn check_optional(
    field: &'static str,
    text: Option<&String>,
    chars_max: usize,
) -> Result<Option<String>, LoreRefusal> {
    text.map(|text| check_short_text(field, check_not_empty(field, text)?, chars_max)).transpose()
}

/// Trims tags, drops repeated ones, and spells known ones as they were spelled first.
pub(super) fn check_tags(state: &LoreState, tags: &[String]) -> Result<Vec<String>, LoreRefusal> {
    let checked = check_list("tags", tags, limits::TAG_CHARS_MAX, limits::LORE_TAGS_MAX)?;
    let known = checked.iter().map(|tag| state.find_tag(tag)).collect::<Vec<_>>();
    let new = known.iter().filter(|tag| tag.is_none()).count();
    if state.tags.len() + new > limits::LORE_CAMPAIGN_TAGS_MAX && new > 0 {
        return Err(LoreRefusal::TooMany { things: "tags", count_max: limits::LORE_CAMPAIGN_TAGS_MAX });
    }
    let spelled = |(tag, known): (String, Option<u32>)| known.map_or(tag, |known| state.tag_name(known).to_owned());
    Ok(checked.into_iter().zip(known).map(spelled).collect())
}

pub(super) fn check_tag_name(name: &str) -> Result<String, LoreRefusal> {
    check_short_text("name", check_not_empty("name", name)?, limits::TAG_CHARS_MAX)
}

/// Trims aliases and drops repeated ones.
pub(super) fn check_aliases(aliases: &[String]) -> Result<Vec<String>, LoreRefusal> {
    check_list("aliases", aliases, limits::NAME_CHARS_MAX, limits::LORE_ALIASES_MAX)
}

/// Texts that are different in more than their case, in the given order.
fn check_list(
    field: &'static str,
    texts: &[String],
    chars_max: usize,
    count_max: usize,
) -> Result<Vec<String>, LoreRefusal> {
    let (mut checked, mut folded): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    for text in texts {
        let text = check_short_text(field, check_not_empty(field, text)?, chars_max)?;
        let form = name_identity(&text);
        if !folded.contains(&form) {
            if checked.len() >= count_max {
                return Err(LoreRefusal::TooManyOnOne { things: field, field, count: texts.len(), count_max });
            }
            checked.push(text);
            folded.push(form);
        }
    }
    Ok(checked)
}

/// A text of several lines that may be empty.
pub(super) fn check_description(text: &str, chars_max: usize) -> Result<String, LoreRefusal> {
    let text = text.trim();
    let chars = text.chars().count();
    if chars > chars_max {
        return Err(LoreRefusal::TooLong { field: "description", chars, chars_max });
    }
    Ok(text.to_owned())
}

/// Mentions in ascending order, each once.
pub(super) fn check_text(text: &TextRef) -> Result<TextRef, LoreRefusal> {
    let mut mentions = text.mentions.to_vec();
    mentions.sort_unstable();
    mentions.dedup();
    let (count, count_max) = (mentions.len(), limits::LORE_MENTIONS_MAX);
    if count > count_max {
        return Err(LoreRefusal::TooManyOnOne { things: "mentioned entities", field: "entry", count, count_max });
    }
    // Numbers past the range name no entity, and no entity will ever have them.
    mentions.retain(|entity_id| check_id("entry", *entity_id).is_ok());
    Ok(TextRef { key: text.key, mentions: mentions.into() })
}

pub(super) fn check_source(source: &ImportSource) -> Result<ImportSource, LoreRefusal> {
    let check =
        |text: &str| check_short_text("source", check_not_empty("source", text)?, limits::LORE_SOURCE_CHARS_MAX);
    let (count, count_max) = (source.posts.len(), limits::LORE_ENTITY_POSTS_MAX);
    if count > count_max {
        return Err(LoreRefusal::TooManyOnOne { things: "posts", field: "source", count, count_max });
    }
    let posts = source.posts.iter().map(|(id, post)| {
        check_id("source", post.post_id)?;
        Ok((check(id)?, SourcePost { name: check_name("source", &post.name)?, ..post.clone() }))
    });
    let posts = posts.collect::<Result<_, LoreRefusal>>()?;
    Ok(ImportSource { id: check(&source.id)?, hash: check(&source.hash)?, posts })
}

pub(super) fn check_id(field: &'static str, id: u64) -> Result<(), LoreRefusal> {
    let id_max = limits::LORE_ID_MAX;
    if (1..=id_max).contains(&id) { Ok(()) } else { Err(LoreRefusal::IdOutOfRange { field, id, id_max }) }
}

fn check_not_empty<'a>(field: &'static str, text: &'a str) -> Result<&'a str, LoreRefusal> {
    let text = text.trim();
    if text.is_empty() { Err(LoreRefusal::Empty { field }) } else { Ok(text) }
}

/// One line of plain characters.
fn check_short_text(field: &'static str, text: &str, chars_max: usize) -> Result<String, LoreRefusal> {
    let chars = text.chars().count();
    if chars > chars_max {
        return Err(LoreRefusal::TooLong { field, chars, chars_max });
    }
    match first_deceptive(text) {
        Some(character) => Err(LoreRefusal::Deceptive { field, character }),
        None => Ok(text.to_owned()),
    }
}
