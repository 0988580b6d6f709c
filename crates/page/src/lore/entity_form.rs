//! The form of an entity: reads its fields, compares them with the stored ones, and renders the page with the form.

use maud::{Markup, PreEscaped, html};
use serde_json::{Value, json};
use skald_app::Fault;

use super::conflict::{EditBase, FieldText};
use super::type_icon::{TYPES, type_title};
use super::{ArticleEntity, lore_path};
use crate::components::{TextField, described_by, fault_box, field_fault, invalid};
use crate::form::Form;
use crate::visitor::Visitor;

/// The fields of an entity as texts of a form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct EntityFields {
    pub name: String,
    pub entity_type: String,
    pub subtype: String,
    pub tags: String,
    pub aliases: String,
    pub date: String,
    pub parent: String,
    pub is_private: bool,
    pub entry: String,
}

impl EntityFields {
    pub(crate) fn of_entity(entity: &ArticleEntity) -> Self {
        let parent = entity.parent.as_ref();
        Self {
            name: entity.name.clone(),
            entity_type: entity.entity_type.clone(),
            subtype: entity.subtype.clone(),
            tags: entity.tags.join(", "),
            aliases: entity.aliases.join("\n"),
            date: entity.date.clone().unwrap_or_default(),
            parent: parent.map(|parent| parent.name.clone().unwrap_or_default()).unwrap_or_default(),
            is_private: entity.is_private,
            entry: entity.entry.clone(),
        }
    }

    pub(crate) fn of_form(form: &Form) -> Self {
        Self {
            name: form.text("name").trim().to_owned(),
            entity_type: form.text("entity_type").to_owned(),
            subtype: form.text("type").trim().to_owned(),
            tags: form.text("tags").trim().to_owned(),
            aliases: form.text("aliases").trim().to_owned(),
            date: form.text("date").trim().to_owned(),
            parent: form.text("parent").trim().to_owned(),
            is_private: form.is_set("is_private"),
            entry: form.text("entry").to_owned(),
        }
    }

    /// The fields as the form names them, the private mark first.
    pub(crate) fn texts(&self) -> Vec<FieldText> {
        let fields = [
            ("is_private", "Who sees it", if self.is_private { "yes" } else { "" }),
            ("name", "Name", &self.name),
            ("type", "Kind", &self.subtype),
            ("tags", "Tags", &self.tags),
            ("parent", "Part of", &self.parent),
            ("date", "Date", &self.date),
            ("aliases", "Other names", &self.aliases),
            ("entry", "Text", &self.entry),
        ];
        fields.map(|(key, label, value)| FieldText { key, label, value: value.to_owned() }).into()
    }

    /// All fields of the form, to create an entity.
    pub(crate) fn new_item(&self) -> Value {
        let empty = Self { is_private: !self.is_private, ..Self::default() };
        let mut item = self.changes(&empty);
        item["name"] = self.name.clone().into();
        item["entity_type"] = self.entity_type.clone().into();
        item
    }

    /// The fields that differ from the stored ones. Untouched fields are left out: a form may show a value in another way than
    /// it is stored, and sending it back would change it.
    pub(crate) fn changes(&self, stored: &Self) -> Value {
        let mut item = json!({});
        let texts = [
            ("name", &self.name, &stored.name),
            ("type", &self.subtype, &stored.subtype),
            ("date", &self.date, &stored.date),
            ("parent", &self.parent, &stored.parent),
        ];
        for (field, typed, stored) in texts {
            if typed != stored {
                item[field] = typed.clone().into();
            }
        }
        if self.entry.trim_end() != stored.entry.trim_end() {
            item["entry"] = self.entry.clone().into();
        }
        if self.tags != stored.tags {
            item["tags"] = split(&self.tags, ',').into();
        }
        if self.aliases != stored.aliases {
            item["aliases"] = split(&self.aliases, '\n').into();
        }
        if self.is_private != stored.is_private {
            item["is_private"] = self.is_private.into();
        }
        item
    }
}

fn split(text: &str, separator: char) -> Vec<String> {
    text.split(separator).map(str::trim).filter(|part| !part.is_empty()).map(ToOwned::to_owned).collect()
}

/// The parts of the page around the form of an entity or a post.
#[derive(Default)]
pub(crate) struct EditState<'a> {
    pub fault: Option<&'a Fault>,
    /// The preview of what was typed, with the names that lead nowhere.
    pub preview: Option<&'a EntryPreview>,
    /// The text as it is stored, if there is one.
    pub saved: Option<&'a str>,
}

#[derive(Debug, serde::Deserialize)]
pub(crate) struct EntryPreview {
    pub html: String,
    pub unresolved: Vec<String>,
}

/// A warning that a script shows when somebody else saves the entity while the form is open.
pub(crate) fn changed_meanwhile() -> Markup {
    html! {
        p.warning #changed-meanwhile role="status" hidden {
            "Somebody else has just saved a change. What you typed is kept; when you save, both are put together, or you choose."
        }
    }
}

/// The key under which the browser stores the draft of a form until it is saved. It names the visitor, since several
/// people may use the same browser.
pub(crate) fn draft_key(visitor: &Visitor, action: &str) -> String {
    format!("{}:{action}", visitor.caller.id())
}

/// The form of an entity. `base` is what it was filled with; a new entity has none.
pub(crate) fn entity_form(
    visitor: &Visitor,
    campaign_id: &str,
    action: &str,
    fields: &EntityFields,
    base: Option<&EditBase>,
    state: &EditState<'_>,
) -> Markup {
    let text = |name, label, value, note| {
        let field =
            TextField { name, label, value, kind: "text", note, is_required: name == "name", fault: state.fault };
        field.render()
    };
    html! {
        @if let Some(fault) = state.fault { (fault_box(fault)) }
        form.edit-form method="post" action=(action) data-draft=(draft_key(visitor, action)) data-preview={ (lore_path(campaign_id)) "/preview" } {
            @if let Some(base) = base { (base.inputs()) }
            div.edit-fields {
                (text("name", "Name", &fields.name, None))
                @if base.is_none() { (type_choice(&fields.entity_type)) }
                (text("type", "Kind", &fields.subtype, Some("In your own words: NPC, City, Sword")))
                (text("tags", "Tags", &fields.tags, Some("With commas between them")))
                (text("parent", "Part of", &fields.parent, Some("The name of another entry")))
                (text("date", "Date", &fields.date, Some("Such as 2025-05-30")))
            }
            details.more open[!fields.aliases.is_empty()] {
                summary { "Other names" }
                (TextField { name: "aliases", label: "Other names", value: &fields.aliases, kind: "textarea",
                    note: Some("One on each line; found like the name"), is_required: false, fault: state.fault }.render())
            }
            (entry_editor(&fields.entry, state))
            label.check { input type="checkbox" name="is_private" value="yes" checked[fields.is_private]; " Private: only game masters see it" }
            (edit_buttons())
        }
        (saved_version(state))
    }
}

fn type_choice(chosen: &str) -> Markup {
    html! {
        div.field {
            label for="entity_type" { "What it is" }
            select #entity_type name="entity_type" {
                @for (word, _) in TYPES { option value=(word) selected[word == chosen] { (type_title(word)) } }
            }
        }
    }
}

/// The text with its preview beside it, or below it where there is no room.
pub(crate) fn entry_editor(entry: &str, state: &EditState<'_>) -> Markup {
    html! {
        div.editor {
            div.field {
                label for="entry" { "Text" }
                textarea #entry name="entry" rows="18" dir="auto" aria-describedby=[described_by(Some("entry-note"), state.fault, "entry")] spellcheck="true"
                    aria-invalid=[invalid(state.fault, "entry")] { (PreEscaped("\n")) (entry) }
                p.field-note id="entry-note" { "Markdown. Link others with [[Name]]." }
                (field_fault(state.fault, "entry"))
            }
            section.preview #preview aria-label="Preview" { (preview_part(state.preview)) }
        }
    }
}

/// What the preview shows.
pub(crate) fn preview_part(preview: Option<&EntryPreview>) -> Markup {
    html! {
        p.label { "Preview" }
        @if let Some(preview) = preview {
            @if !preview.unresolved.is_empty() {
                p.field-note { "These names lead nowhere yet: "
                    @for (at, name) in preview.unresolved.iter().enumerate() { @if at > 0 { ", " } bdi { (name) } } }
            }
            div.prose dir="auto" { (PreEscaped(&preview.html)) }
        } @else {
            p.muted { "As it will be shown." }
        }
    }
}

pub(crate) fn edit_buttons() -> Markup {
    html! {
        div.actions {
            button.primary name="do" value="save" { "Save" }
            button.preview-button name="do" value="preview" { "Preview" }
            button type="reset" { "Undo all" }
            span.draft-state role="status" {}
        }
    }
}

/// The last saved version, one click away.
pub(crate) fn saved_version(state: &EditState<'_>) -> Markup {
    html! {
        @if let Some(saved) = state.saved.filter(|saved| !saved.is_empty()) {
            details.more {
                summary { "The last saved version" }
                pre.saved-text tabindex="0" dir="auto" { (saved) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_touched_is_sent() {
        let stored =
            EntityFields { name: "Mira".into(), tags: "a, b".into(), entry: "x\n".into(), ..Default::default() };
        assert_eq!(EntityFields { entry: "x".into(), ..stored.clone() }.changes(&stored), json!({}));
        let typed = EntityFields { tags: "a,  c ,".into(), aliases: "One\n\nTwo".into(), ..stored.clone() };
        assert_eq!(typed.changes(&stored), json!({"tags": ["a", "c"], "aliases": ["One", "Two"]}));
        let cleared = EntityFields { date: String::new(), ..stored.clone() };
        assert_eq!(cleared.changes(&EntityFields { date: "2025-05-30".into(), ..stored }), json!({"date": ""}));
    }
}
