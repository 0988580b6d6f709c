//! Converts the texts of an import: HTML becomes Markdown beside it, links and mentions lead to the entities that were
//! imported, and links by name also to those that the campaign has already.

use std::collections::HashMap;

use skald_domain::lore::LoreState;
use skald_lore_files::{Import, ImportedText};
use skald_markup::{Entry, Mention, MentionKind, WikiLink};

use crate::limits;

/// Converts texts once all entities of an import have their ids.
pub(super) struct TextConverter<'a> {
    pub import: &'a Import,
    /// The ids in the campaign, by the `source_id` of the import.
    pub ids: &'a HashMap<&'a str, u64>,
    /// The ids of posts in the campaign, in the same way.
    pub post_ids: &'a HashMap<&'a str, u64>,
    /// The lore before the import.
    pub lore: &'a LoreState,
}

#[derive(Default)]
pub(super) struct ConvertedText {
    /// `None` if there is no text, or none that can be stored.
    pub entry: Option<Entry>,
    /// Links and mentions that lead nowhere, as they are written.
    pub unresolved: Vec<String>,
    /// Why the text is not imported.
    pub loss: Option<String>,
}

impl TextConverter<'_> {
    /// Converts a text of the entity `source_id`, or of one of its posts.
    pub(super) fn convert_text(&self, source_id: &str, text: Option<&ImportedText>) -> ConvertedText {
        let Some(text) = text else { return ConvertedText::default() };
        let mut unresolved = Vec::new();
        let entry = match text {
            ImportedText::Markdown(markdown) => {
                Entry { markdown: self.resolve_links(source_id, markdown, false, &mut unresolved), html: None }
            }
            // Links are resolved in the HTML, so that it and its Markdown say the same.
            ImportedText::Html(html) => {
                skald_markup::entry_from_html(&self.resolve_links(source_id, html, true, &mut unresolved))
            }
            ImportedText::WithOriginal { markdown, html } => Entry {
                markdown: self.resolve_links(source_id, markdown, false, &mut unresolved),
                html: Some(self.resolve_links(source_id, html, true, &mut unresolved)),
            },
        };
        unresolved.sort_unstable();
        unresolved.dedup();
        let (chars, chars_max) = (entry.markdown.chars().count(), limits::ENTRY_CHARS_MAX);
        if chars > chars_max {
            let loss = format!("a text of {chars} characters is not imported, allowed: {chars_max}");
            return ConvertedText { entry: None, unresolved, loss: Some(loss) };
        }
        let entry = Some(entry).filter(|entry| !entry.markdown.trim().is_empty());
        ConvertedText { entry, unresolved, loss: None }
    }

    /// The entity that a link by name leads to: one of the import, or the only one of this name in the campaign.
    pub(super) fn link_target(&self, source_id: &str, link: &WikiLink) -> Option<u64> {
        if let Some(target) = self.import.link_target(source_id, &link.name) {
            return self.ids.get(target).copied();
        }
        match &self.lore.entities_named(&link.name, true)[..] {
            [one] if !link.is_embed => Some(*one),
            _ => None,
        }
    }

    /// Mentions are renumbered before links are resolved: a link becomes a mention that has its final id already. A mention
    /// of something that is not in the source becomes text: here its number is that of another entity or post.
    fn resolve_links(&self, source_id: &str, text: &str, is_html: bool, unresolved: &mut Vec<String>) -> String {
        let mentioned = skald_markup::replace_mentions(text, |mention| {
            // `in_code` is only reliable for Markdown.
            if mention.in_code && !is_html {
                return None;
            }
            let number = mention.id;
            let new_id = match mention.kind {
                MentionKind::Entity => {
                    number.and_then(|id| self.import.mention_target(id)).and_then(|source_id| self.ids.get(source_id))
                }
                MentionKind::Post => number
                    .and_then(|id| self.import.post_mention_target(id))
                    .and_then(|source_id| self.post_ids.get(source_id.as_str())),
                MentionKind::Attribute => None,
                MentionKind::Icon | MentionKind::New => return None,
            };
            let written = &text[mention.range.clone()];
            if let Some(id) = new_id {
                return Some(with_id(written, *id));
            }
            unresolved.push(written.to_owned());
            // Nothing here has attributes.
            (mention.kind != MentionKind::Attribute).then(|| unlinked_text(mention, written))
        });
        skald_markup::replace_wiki_links(&mentioned, |link| {
            let entity_id = self.link_target(source_id, link);
            if entity_id.is_none() {
                unresolved.push(mentioned[link.range.clone()].to_owned());
            }
            entity_id
        })
    }
}

/// What is shown instead of a mention that leads nowhere: its label, or without one what it says, without the brackets.
fn unlinked_text(mention: &Mention, written: &str) -> String {
    let label = mention.label.as_deref().map(str::trim).filter(|label| !label.is_empty());
    let bare = || written.trim_start_matches('[').trim_end_matches(']').split('|').next().unwrap_or_default();
    label.unwrap_or_else(|| bare().trim_end_matches('\\')).to_owned()
}

/// The mention with another id. Everything else stays as it is written.
fn with_id(mention: &str, id: u64) -> String {
    let (word, rest) = mention.split_once(':').unwrap_or((mention, ""));
    format!("{word}:{id}{}", rest.trim_start_matches(|letter: char| letter.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use skald_lore_files::{SourceFile, import_files};

    use super::*;

    fn source_file(path: &str, content: &str) -> SourceFile {
        SourceFile { path: path.to_owned(), content: Some(content.as_bytes().to_vec()) }
    }

    #[test]
    fn links_and_mentions_lead_to_the_imported_entities() {
        let export = [
            source_file(
                "skald.json",
                r#"{"format": "skald-lore", "version": 1, "entities": {"5": "a.md", "6": "b.md"}}"#,
            ),
            source_file("a.md", "---\nentity_id: 5\nname: Ann\n---\n"),
            source_file("b.md", "---\nentity_id: 6\nname: Inn\n---\n"),
        ];
        let import = import_files(&export).unwrap();
        let ids = HashMap::from([("skald:5", 6), ("skald:6", 7)]);
        let lore = LoreState::default();
        let text_converter = TextConverter { import: &import, ids: &ids, post_ids: &HashMap::new(), lore: &lore };
        let converted = |text: &str| {
            let converted = text_converter.convert_text("skald:5", Some(&ImportedText::Markdown(text.to_owned())));
            (converted.entry.map(|entry| entry.markdown).unwrap_or_default(), converted.unresolved)
        };
        let text = "[[Inn|below]] [[a]] [entity:5|Ann] [character:6\\|x|page:p] `[entity:5]` [icon:fa-x]";
        let expected = "[entity:7|below] [entity:6] [entity:6|Ann] [character:7\\|x|page:p] `[entity:5]` [icon:fa-x]";
        assert_eq!(converted(text), (expected.to_owned(), Vec::new()));
        let text = "[[Nowhere]] [entity:9] [post:1] ![[map.png]] [[Nowhere]]";
        let unresolved = ["![[map.png]]", "[[Nowhere]]", "[entity:9]", "[post:1]"].map(str::to_owned).to_vec();
        let expected = "[[Nowhere]] entity:9 post:1 ![[map.png]] [[Nowhere]]";
        assert_eq!(converted(text), (expected.to_owned(), unresolved));
        let text = "| [entity:9\\|Ann] | [character:9|anchor:#x] | [post:5|that] | {attribute:3} | `[entity:9]` |";
        let expected = "| Ann | character:9 | that | {attribute:3} | `[entity:9]` |";
        assert_eq!(converted(text).0, expected);
        assert_eq!(converted(" \n").0, "");
    }

    #[test]
    fn html_stays_beside_its_markdown() {
        let kanka = [
            source_file("info.json", r#"{"kanka_version": "3"}"#),
            source_file("notes/a_1.json", r#"{"entity": {"id": 1, "name": "A"}}"#),
        ];
        let import = import_files(&kanka).unwrap();
        let ids = HashMap::from([("kanka:1", 40)]);
        let lore = LoreState::default();
        let text_converter = TextConverter { import: &import, ids: &ids, post_ids: &HashMap::new(), lore: &lore };
        let html = ImportedText::Html("<p>See <b>[note:1|it]</b> and [note:2].</p>".to_owned());
        let converted = text_converter.convert_text("kanka:1", Some(&html));
        let entry = converted.entry.unwrap();
        assert_eq!(entry.markdown.trim(), "See **[note:40|it]** and note:2.");
        assert_eq!(entry.html.as_deref(), Some("<p>See <b>[note:40|it]</b> and note:2.</p>"));
        assert_eq!(converted.unresolved, ["[note:2]"]);
    }

    #[test]
    fn a_text_past_the_limit_is_left_out_with_a_reason() {
        let import = import_files(&[source_file("a.md", "x")]).unwrap();
        let ids = HashMap::new();
        let lore = LoreState::default();
        let text_converter = TextConverter { import: &import, ids: &ids, post_ids: &HashMap::new(), lore: &lore };
        let converted = |chars: usize| {
            let text = ImportedText::Markdown("é".repeat(chars));
            let converted = text_converter.convert_text("a.md", Some(&text));
            (converted.entry.is_some(), converted.loss.is_some())
        };
        assert_eq!(converted(limits::ENTRY_CHARS_MAX), (true, false));
        assert_eq!(converted(limits::ENTRY_CHARS_MAX + 1), (false, true));
    }
}
