//! Converts entities and remote answers into the versions that the merge compares.

use serde_json::Value;
use skald_domain::lore::{
    Entity, EntityType, LoreState, MirroredFields, MirroredPost, MirroredText, Post, name_identity,
};
use skald_markup::{Entry, Mention, MentionKind};

use super::remote::{RemoteEntity, RemoteKind, RemoteParent, RemotePost};
use super::rows::{AgreedPost, AgreedRow};
use crate::deceptive_characters::clean_name;
use crate::limits;
use crate::sha256::sha256_hex;

/// Longer aliases stay here: the remote place does not take them.
const ALIAS_CHARS_MAX: usize = 45;
/// The name of an entity or post whose remote name is empty after cleaning.
const NO_NAME: &str = "Unnamed";

/// A text as it is sent.
pub(super) struct SentText {
    pub html: String,
    pub version: MirroredText,
}

/// Prepares a text for the remote place: mentions get current ids, and `[new:…]`, which would create an entity there, is
/// replaced by its label.
pub(super) fn sent_text(entry: &Entry, state: &LoreState) -> SentText {
    let current = current_mentions(entry, state);
    let plain = skald_markup::replace_mentions(&current.markdown, |mention| match mention.kind {
        MentionKind::New => Some(mention.label.clone().unwrap_or_else(|| mention.word.clone())),
        _ => None,
    });
    let sent = skald_markup::update_entry(&current, &plain).unwrap_or(current);
    let html = sent.html.unwrap_or_else(|| skald_markup::markdown_to_html(&sent.markdown));
    let html = without_requests_for_entities(&html);
    SentText { version: text_version(&html), html }
}

/// The entry with mentions of renumbered entities under the ids that they have now.
pub(super) fn current_mentions(entry: &Entry, state: &LoreState) -> Entry {
    let renumbered = skald_markup::replace_mentions(&entry.markdown, |mention: &Mention| {
        let id = mention.id.filter(|_| mention.kind == MentionKind::Entity)?;
        let current = state.current_id(id);
        (current != id).then(|| Mention { id: Some(current), ..mention.clone() }.to_markdown())
    });
    skald_markup::update_entry(entry, &renumbered).unwrap_or_else(|| entry.clone())
}

/// `[new:…]` in a text creates an entity when Kanka saves it, wherever in the HTML it stands.
fn without_requests_for_entities(html: &str) -> String {
    const REQUEST: &str = "[new:";
    let lower = html.to_ascii_lowercase();
    let mut safe = String::with_capacity(html.len());
    let mut end = 0;
    for (at, _) in lower.match_indices(REQUEST) {
        let colon = at + REQUEST.len() - 1;
        safe.push_str(&html[end..colon]);
        safe.push(' ');
        end = colon;
    }
    safe.push_str(&html[end..]);
    safe
}

pub(super) fn text_version(html: &str) -> MirroredText {
    let markdown = skald_markup::html_to_markdown(html);
    MirroredText { html_hash: sha256_hex(html.as_bytes()), markdown_hash: sha256_hex(markdown.trim().as_bytes()) }
}

/// `None` for an empty text.
pub(super) fn read_text_version(html: &str) -> Option<MirroredText> {
    (!skald_markup::html_to_markdown(html).trim().is_empty()).then(|| text_version(html))
}

/// The kind that entities of a type have there: clues, documents and others are notes.
pub(super) fn kind_of_type(kinds: &'static [RemoteKind], entity_type: EntityType) -> Option<&'static RemoteKind> {
    let find = |wanted| kinds.iter().find(|kind| kind.entity_type == Some(wanted));
    find(entity_type).or_else(|| find(EntityType::Note))
}

/// The type of an entity that is new here.
pub(super) fn type_of_kind(kind: &RemoteKind) -> EntityType {
    kind.entity_type.unwrap_or(EntityType::Other)
}

/// The word before the subtype of an entity that is a note there: `Clue: Letter`.
fn type_word(kind: &RemoteKind, entity_type: EntityType) -> Option<String> {
    let is_note_there = kind.entity_type.is_some_and(|known| known != entity_type);
    is_note_there.then(|| capitalize(entity_type.as_str()))
}

fn capitalize(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

pub(super) fn sent_subtype(kind: &RemoteKind, entity_type: EntityType, subtype: &str) -> String {
    match type_word(kind, entity_type) {
        None => subtype.to_owned(),
        Some(word) if subtype.is_empty() => word,
        Some(word) => format!("{word}: {subtype}"),
    }
}

fn read_subtype(kind: &RemoteKind, entity_type: EntityType, subtype: &str) -> String {
    if kind.entity_type.is_none() && subtype.is_empty() {
        return capitalize(&kind.word.replace('_', " "));
    }
    match type_word(kind, entity_type).as_deref().and_then(|word| subtype.strip_prefix(word)) {
        Some("") => String::new(),
        Some(rest) if rest.starts_with(": ") => rest[2..].to_owned(),
        _ => subtype.to_owned(),
    }
}

/// The fields of an entity that are mirrored. A field that its kind lacks there has the agreed value.
pub(super) fn our_fields(
    state: &LoreState,
    entity: &Entity,
    kind: &RemoteKind,
    row: &AgreedRow,
    entry: Option<MirroredText>,
) -> MirroredFields {
    MirroredFields {
        name: entity.name.to_string(),
        subtype: entity.subtype.to_string(),
        entry,
        tags: state.tag_names(entity).into_iter().map(ToOwned::to_owned).collect(),
        aliases: entity
            .details()
            .aliases
            .iter()
            .map(ToString::to_string)
            .filter(|alias| alias_travels(alias))
            .collect(),
        is_private: entity.is_private,
        // An archived parent counts as none, unless both sides agreed on it.
        parent: entity.details().parent.filter(|parent| {
            let is_here = state.entity(*parent).is_some_and(|parent| !parent.is_archived());
            is_here || row.base.parent == Some(*parent)
        }),
        date: if kind.has_date {
            entity.details().date.as_ref().map(ToString::to_string)
        } else {
            row.base.date.clone()
        },
    }
}

pub(super) fn alias_travels(alias: &str) -> bool {
    alias.chars().count() <= ALIAS_CHARS_MAX
}

/// The fields of a remote answer, fitted to the rules of lore. A field that the answer lacks has its last known remote
/// value.
pub(super) fn their_fields(remote: &RemoteEntity, entity_type: EntityType, row: &AgreedRow) -> MirroredFields {
    let known = assumed_fields(row);
    let aliases = remote.aliases.as_ref().map(|aliases| {
        let names = aliases.iter().map(|alias| alias.name.clone()).collect::<Vec<_>>();
        fit_list(&names, limits::NAME_CHARS_MAX, limits::LORE_ALIASES_MAX)
    });
    let subtype = remote.subtype.as_deref().map(|subtype| {
        let subtype = read_subtype(remote.kind, entity_type, subtype.trim());
        fit_text(&subtype, limits::NAME_CHARS_MAX).unwrap_or_default()
    });
    let tags = remote.tags.as_ref().map(|tags| fit_list(tags, limits::TAG_CHARS_MAX, limits::LORE_TAGS_MAX));
    let date = remote.date.as_ref().map(|date| fit_text(date.as_deref()?, limits::NAME_CHARS_MAX));
    MirroredFields {
        name: fit_text(&remote.name, limits::NAME_CHARS_MAX).unwrap_or_else(|| NO_NAME.to_owned()),
        subtype: subtype.unwrap_or(known.subtype),
        entry: remote.html.as_deref().map_or(known.entry, read_text_version),
        tags: tags.unwrap_or(known.tags),
        aliases: aliases.unwrap_or(known.aliases),
        is_private: remote.is_private.unwrap_or(known.is_private),
        parent: match remote.parent {
            RemoteParent::Unknown | RemoteParent::SameKind(_) => known.parent,
            RemoteParent::None => None,
            RemoteParent::Entity(entity_id) => Some(entity_id),
        },
        date: date.unwrap_or(known.date).filter(|_| remote.kind.has_date),
    }
}

pub(super) fn our_post(post: &Post, entry: Option<MirroredText>) -> MirroredPost {
    MirroredPost { name: post.name.to_string(), entry, is_private: post.is_private }
}

pub(super) fn their_post(remote: &RemotePost) -> MirroredPost {
    MirroredPost {
        name: fit_text(&remote.name, limits::NAME_CHARS_MAX).unwrap_or_else(|| NO_NAME.to_owned()),
        entry: read_text_version(&remote.html),
        is_private: remote.is_private,
    }
}

/// The last known remote version: the merge base, with the remote side of open conflicts.
pub(super) fn assumed_fields(row: &AgreedRow) -> MirroredFields {
    let mut fields = row.base.clone();
    for (field, theirs) in &row.conflicts {
        let text = || theirs.as_str().unwrap_or_default().to_owned();
        match field.as_str() {
            "name" => fields.name = text(),
            "type" => fields.subtype = text(),
            "entry" => fields.entry = read_text_version(&text()),
            "is_private" => fields.is_private = theirs.as_bool().unwrap_or(fields.is_private),
            "parent" => fields.parent = theirs.as_u64(),
            "date" => fields.date = theirs.as_str().map(ToOwned::to_owned),
            "tags" => fields.tags = texts_of(theirs),
            "aliases" => fields.aliases = texts_of(theirs),
            _ => {}
        }
    }
    fields
}

fn texts_of(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(ToOwned::to_owned).collect()
}

pub(super) fn assumed_post(post: &AgreedPost) -> MirroredPost {
    let mut fields = post.base.clone();
    for (field, theirs) in &post.conflicts {
        let text = theirs.as_str().unwrap_or_default();
        match field.as_str() {
            "name" => text.clone_into(&mut fields.name),
            "entry" => fields.entry = read_text_version(text),
            "is_private" => fields.is_private = theirs.as_bool().unwrap_or(fields.is_private),
            _ => {}
        }
    }
    fields
}

/// One line of plain characters, cut to the limit. `None` if nothing is left.
pub(super) fn fit_text(text: &str, chars_max: usize) -> Option<String> {
    let cleaned = clean_name(text);
    let fitted: String = cleaned.as_deref().unwrap_or(text).trim().chars().take(chars_max).collect();
    let fitted = fitted.trim_end();
    (!fitted.is_empty()).then(|| fitted.to_owned())
}

/// The name that a tag of the remote place has here. `None` if nothing of it can be shown.
pub fn mirrored_tag_name(name: &str) -> Option<String> {
    fit_text(name, limits::TAG_CHARS_MAX)
}

fn fit_list(texts: &[String], chars_max: usize, count_max: usize) -> Vec<String> {
    let mut fitted: Vec<String> = Vec::new();
    for text in texts.iter().filter_map(|text| fit_text(text, chars_max)) {
        if fitted.len() < count_max && !fitted.iter().any(|known| name_identity(known) == name_identity(&text)) {
            fitted.push(text);
        }
    }
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_is_sent_asks_for_a_new_entity() {
        let state = LoreState::default();
        for markdown in [
            "see [new:character|Ann] there",
            "`[new:character|Ann]`",
            "\\[new:character|Ann]",
            "<p>[NEW:character|Ann]</p>",
        ] {
            let sent = sent_text(&Entry { markdown: markdown.to_owned(), html: None }, &state);
            assert!(!sent.html.to_lowercase().contains("[new:") && sent.html.contains("Ann"), "{}", sent.html);
        }
        let html = "<p>a [new:note|B]</p><p class=\"x\">c</p>".to_owned();
        let kept = Entry { markdown: skald_markup::html_to_markdown(&html), html: Some(html) };
        assert_eq!(sent_text(&kept, &state).html, "<p>a B</p>\n<p class=\"x\">c</p>");
    }

    #[test]
    fn clues_and_documents_are_notes_of_that_type_there() {
        static NOTE: RemoteKind = RemoteKind { word: "note", entity_type: Some(EntityType::Note), has_date: false };
        static MAP: RemoteKind = RemoteKind { word: "map", entity_type: None, has_date: false };
        for (entity_type, subtype, sent) in [
            (EntityType::Note, "Letter", "Letter"),
            (EntityType::Clue, "", "Clue"),
            (EntityType::Clue, "Letter", "Clue: Letter"),
            (EntityType::Document, "Deed", "Document: Deed"),
        ] {
            assert_eq!(sent_subtype(&NOTE, entity_type, subtype), sent);
            assert_eq!(read_subtype(&NOTE, entity_type, sent), subtype);
        }
        assert_eq!(read_subtype(&NOTE, EntityType::Clue, "Rumour"), "Rumour");
        assert_eq!(read_subtype(&MAP, EntityType::Other, ""), "Map");
    }

    #[test]
    fn an_empty_text_is_no_text() {
        assert_eq!((read_text_version(""), read_text_version(" \n")), (None, None));
        assert!(read_text_version("<p>a</p>").is_some());
        // An empty paragraph is kept as it is, here as there.
        assert!(read_text_version("<p></p>").is_some());
    }
}
