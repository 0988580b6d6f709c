//! Entries on their way in: links by name become mentions, unchanged HTML is kept, and a cut entry is refused.

use skald_domain::lore::TextRef;
use skald_markup::{Entry, WikiLink};

use super::access::EnteredLore;
use super::texts::NewText;
use crate::{App, Code, Fault, limits};

/// Ends an entry that an answer had to cut. An update that contains it would destroy the rest of the entry.
pub(super) const CUT_MARK: &str = "[… cut here; get_entities has the whole entry]";

/// The text fields of a create or update.
pub(super) struct EntryFields<'a> {
    pub entry: Option<&'a str>,
    pub entry_append: Option<&'a str>,
    /// JSON pointer of the item.
    pub pointer: &'a str,
}

/// What becomes of an entry.
pub(super) enum EntryChange {
    Unchanged,
    Cleared,
    Written(Box<NewText>),
}

impl EntryChange {
    /// How many entities a written text mentions.
    pub(super) fn mention_count(&self) -> usize {
        match self {
            Self::Written(text) => text.reference.mentions.len(),
            Self::Unchanged | Self::Cleared => 0,
        }
    }

    /// The change for the command, and the row that is stored with it.
    pub(super) fn into_parts(self) -> (Option<Option<TextRef>>, Option<skald_journal::SideRow>) {
        match self {
            Self::Unchanged => (None, None),
            Self::Cleared => (Some(None), None),
            Self::Written(text) => (Some(Some(text.reference)), Some(text.row)),
        }
    }
}

impl App {
    /// The entry after a change; `old` is the current one. `other_names` resolves names that are not in the lore yet.
    pub(super) fn change_entry(
        &self,
        lore: &EnteredLore,
        fields: &EntryFields<'_>,
        old: Option<&Entry>,
        other_names: impl Fn(&str) -> Option<u64>,
    ) -> Result<EntryChange, Fault> {
        let written = match (fields.entry, fields.entry_append) {
            (None, None) => return Ok(EntryChange::Unchanged),
            (Some(_), Some(_)) => {
                let fault = Fault::new(Code::InvalidParams, "entry replaces the text and entry_append adds to it");
                return Err(fault.with_path(format!("{}/entry_append", fields.pointer)).hint("send one of the two"));
            }
            (Some(entry), None) => entry.to_owned(),
            (None, Some(added)) => append_entry(old.map_or("", |old| &old.markdown), added),
        };
        let field = if fields.entry.is_some() { "entry" } else { "entry_append" };
        let pointer = format!("{}/{field}", fields.pointer);
        check_entry(&written, &pointer)?;
        let linked = link_names(lore, &written, other_names);
        // Check the length again: a mention with an id may be longer than the name that it replaces.
        check_entry(&linked, &pointer)?;
        if linked.trim().is_empty() {
            return Ok(if old.is_some() { EntryChange::Cleared } else { EntryChange::Unchanged });
        }
        let entry = match old {
            None => Entry { markdown: linked, html: None },
            Some(old) => match skald_markup::update_entry(old, &linked) {
                None => return Ok(EntryChange::Unchanged),
                Some(entry) => entry,
            },
        };
        self.new_text(&lore.campaign_id, entry).map(|text| EntryChange::Written(Box::new(text)))
    }
}

/// `[[Name]]` becomes `[entity:ID]` if exactly one entity that the caller sees has the name; otherwise it stays as it is.
pub(super) fn link_names(lore: &EnteredLore, markdown: &str, other_names: impl Fn(&str) -> Option<u64>) -> String {
    skald_markup::replace_wiki_links(markdown, |link: &WikiLink| {
        if link.is_embed {
            return None;
        }
        match &lore.state().entities_named(&link.name, lore.sees_private)[..] {
            [one] => Some(*one),
            [] => other_names(&link.name),
            _ => None,
        }
    })
}

impl EnteredLore {
    /// The names in `[[…]]` of a text that is written, which lead nowhere or to several entities.
    pub(super) fn links_to_nowhere(&self, markdown: Option<&str>) -> Vec<String> {
        let names = markdown.map(unresolved_links).unwrap_or_default();
        names.into_iter().filter(|name| self.state().entities_named(name, self.sees_private).len() != 1).collect()
    }
}

/// The names in `[[…]]` that are left in a text.
pub(super) fn unresolved_links(markdown: &str) -> Vec<String> {
    let mut names = Vec::new();
    skald_markup::replace_wiki_links(markdown, |link: &WikiLink| {
        if !link.is_embed && !names.contains(&link.name) {
            names.push(link.name.clone());
        }
        None
    });
    names
}

fn append_entry(old: &str, added: &str) -> String {
    match old.trim_end() {
        "" => added.to_owned(),
        old => format!("{old}\n\n{added}"),
    }
}

pub(super) fn check_entry(entry: &str, pointer: &str) -> Result<(), Fault> {
    let most = limits::ENTRY_CHARS_MAX;
    if entry.len() > most && entry.chars().count() > most {
        let message = format!("the entry has {} characters, allowed: {most}", entry.chars().count());
        let fault = Fault::new(Code::TooLarge, message).with_path(pointer);
        return Err(fault.hint("put parts of it into posts; `create_posts` adds them"));
    }
    if entry.contains(CUT_MARK) {
        let fault = Fault::new(Code::InvalidParams, "the entry holds the mark of one that was cut in an answer");
        return Err(fault
            .with_path(pointer)
            .hint("read the whole entry with `get_entities` first, or send only the new part as entry_append"));
    }
    Ok(())
}
