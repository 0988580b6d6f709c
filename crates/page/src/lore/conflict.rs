//! An edit that meets a newer version: fields that only one side changed are merged, and a page asks about the others.
//!
//! A form contains the revision and the fields that it was rendered with, each named `base_…`. A field that differs from
//! them was changed by the editor. A stored field that differs from them was changed by somebody else meanwhile.

use axum::response::Response;
use maud::{Markup, html};
use skald_app::{Code, Fault};

use super::block_diff::{DiffHunk, diff_hunks};
use super::edit::with_status;
use super::entity_form::draft_key;
use crate::form::Form;
use crate::layout::{CampaignHead, CampaignPart, PageLayout};
use crate::visitor::Visitor;

/// Before the names of the fields that a form was filled with.
const BASE_PREFIX: &str = "base_";
/// Before the names of the fields in which one chooses a side.
const PICK_PREFIX: &str = "pick_";
/// Before the number of a part of the text in which one chooses a side.
const BLOCK_PREFIX: &str = "block_";

/// A field of an entity or a post, as the text of a form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldText {
    pub key: &'static str,
    pub label: &'static str,
    pub value: String,
}

/// What a form was filled with.
#[derive(Debug, Clone, Default)]
pub(crate) struct EditBase {
    pub revision: u64,
    fields: Form,
}

impl EditBase {
    pub(crate) fn of_stored(revision: u64, stored: &[FieldText]) -> Self {
        let mut fields = Form::default();
        for field in stored {
            fields.set(field.key, &field.value);
        }
        Self { revision, fields }
    }

    /// From the hidden fields of a form; a form without a revision is about something new.
    pub(crate) fn of_form(form: &Form) -> Result<Option<Self>, Fault> {
        let revision = form.integer("revision")?.and_then(|revision| u64::try_from(revision).ok());
        Ok(revision.map(|revision| Self { revision, fields: form.strip_prefix(BASE_PREFIX) }))
    }

    /// The form as it was filled.
    pub(crate) fn form(&self) -> &Form {
        &self.fields
    }

    /// Whether a field was not touched.
    pub(crate) fn has(&self, key: &str, value: &str) -> bool {
        self.fields.value(key).is_some_and(|was| is_same(was, value))
    }

    /// The hidden fields that bring it back with the form.
    pub(crate) fn inputs(&self) -> Markup {
        html! {
            input type="hidden" name="revision" value=(self.revision);
            @for (name, value) in self.fields.iter() {
                input type="hidden" name={ (BASE_PREFIX) (name) } value=(value);
            }
        }
    }
}

/// A field that both sides changed, each to something else.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FieldConflict {
    key: &'static str,
    label: &'static str,
    base: Option<String>,
    mine: String,
    theirs: String,
}

/// A form put together with what was saved meanwhile.
#[derive(Debug, Default)]
pub(crate) struct MergedForm {
    /// The form, in which a field that only the others changed has their value.
    pub form: Form,
    /// What only the others changed.
    pub their_fields: Vec<FieldText>,
    pub conflicts: Vec<FieldConflict>,
}

/// Puts a form together with the stored fields. Without the base of a field, a difference is a conflict.
pub(crate) fn merge_form(form: &Form, base: Option<&EditBase>, revision: u64, stored: &[FieldText]) -> MergedForm {
    let mut merged = MergedForm { form: form.clone(), ..MergedForm::default() };
    if base.is_some_and(|base| base.revision == revision) {
        return merged;
    }
    for field in stored {
        let (mine, theirs) = (form.text(field.key), field.value.as_str());
        let was = base.and_then(|base| base.fields.value(field.key));
        if is_same(mine, theirs) || was.is_some_and(|was| is_same(was, theirs)) {
            continue;
        }
        if was.is_some_and(|was| is_same(was, mine)) {
            merged.form.set(field.key, theirs);
            merged.their_fields.push(field.clone());
        } else {
            let (base, mine, theirs) = (was.map(str::to_owned), mine.to_owned(), theirs.to_owned());
            merged.conflicts.push(FieldConflict { key: field.key, label: field.label, base, mine, theirs });
        }
    }
    merged
}

/// A browser may drop spaces around a value.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    one.trim() == other.trim()
}

/// Applies the choices of the page below: the form then has one value for each field.
pub(crate) fn apply_choices(form: &Form) -> Form {
    let mut chosen = form.clone();
    let picks = form.strip_prefix(PICK_PREFIX);
    for (key, _) in picks.iter().filter(|(_, side)| *side == "theirs") {
        chosen.set(key, form.text(&format!("{BASE_PREFIX}{key}")));
    }
    if form.iter().any(|(name, _)| name.starts_with(BLOCK_PREFIX)) {
        let entry = merge_blocks(form.text("base_entry"), form.text("entry"), form);
        chosen.set("entry", &entry);
    }
    chosen
}

/// The text of the chosen side of each part. If all are of one side, its text stays as it was typed.
fn merge_blocks(theirs: &str, mine: &str, form: &Form) -> String {
    let hunks = diff_hunks(theirs, mine);
    let side = |at: usize| form.text(&format!("{BLOCK_PREFIX}{at}"));
    let changed = || hunks.iter().enumerate().filter(|(_, hunk)| matches!(hunk, DiffHunk::Changed { .. }));
    if changed().all(|(at, _)| side(at) == "theirs") {
        return theirs.to_owned();
    }
    if changed().all(|(at, _)| !matches!(side(at), "theirs" | "both")) {
        return mine.to_owned();
    }
    let blocks = hunks.iter().enumerate().flat_map(|(at, hunk)| match hunk {
        DiffHunk::Same(blocks) => blocks.clone(),
        DiffHunk::Changed { theirs, ours } => match side(at) {
            "theirs" => theirs.clone(),
            "both" => theirs.iter().chain(ours).copied().collect(),
            _ => ours.clone(),
        },
    });
    blocks.collect::<Vec<_>>().join("\n\n")
}

/// What the page of a conflict is about.
pub(crate) struct ConflictSubject<'a> {
    pub head: CampaignHead,
    pub part: CampaignPart,
    pub title: String,
    /// Where the form goes, as that of the editor.
    pub action: String,
    /// The page of what was edited.
    pub path: String,
    /// The stored version.
    pub revision: u64,
    pub stored: &'a [FieldText],
}

/// Both versions, and a form to choose between them. Its base is the stored version, so saving it is like any other save.
pub(crate) fn conflict_page(visitor: &Visitor, subject: &ConflictSubject<'_>, merged: &MergedForm) -> Response {
    let layout = PageLayout::for_visitor(&subject.title, visitor).campaign(&subject.head, subject.part);
    let fields = merged.conflicts.iter().filter(|conflict| conflict.key != "entry");
    let text = merged.conflicts.iter().find(|conflict| conflict.key == "entry");
    let response = layout.render(html! {
        div.lore {
            h1 { (subject.title) }
            form.conflict method="post" action=(subject.action) data-draft=(draft_key(visitor, &subject.action)) {
                div role="alert" {
                    h2 { "Somebody else was faster" }
                    p { "Nothing of yours is saved yet, and nothing of theirs is lost. Choose where both of you changed the same." }
                }
                (EditBase::of_stored(subject.revision, subject.stored).inputs())
                @for field in subject.stored { input type="hidden" name=(field.key) value=(merged.form.text(field.key)); }
                @for conflict in fields { (field_choice(conflict)) }
                @if let Some(text) = text { (conflicting_text(text)) }
                @if !merged.their_fields.is_empty() {
                    section {
                        h3 { "Only they changed; it stays as they saved it" }
                        dl.their-fields {
                            @for field in &merged.their_fields { dt { (field.label) } dd dir="auto" { (shown_value(field.key, &field.value)) } }
                        }
                    }
                }
                div.actions {
                    button.primary name="do" value="save" { "Save" }
                    button name="do" value="edit" { "Go on writing" }
                    a.button href=(subject.path) { "Drop mine" }
                }
            }
        }
    });
    with_status(response, &Fault::new(Code::RevisionConflict, "somebody else saved it"))
}

/// A field that both changed. Of two values of a mark that says who sees it, the more private one is chosen first.
fn field_choice(conflict: &FieldConflict) -> Markup {
    let takes_theirs = match conflict.key {
        "is_private" => !conflict.theirs.is_empty(),
        "is_player_known" => conflict.theirs.is_empty(),
        _ => false,
    };
    let choice = |side: &str, title: &str, value: &str, is_chosen: bool| {
        html! {
            label.conflict-side {
                span { input type="radio" name={ (PICK_PREFIX) (conflict.key) } value=(side) checked[is_chosen]; " " (title) }
                bdi.conflict-value { (shown_value(conflict.key, value)) }
            }
        }
    };
    html! {
        fieldset.both {
            legend { (conflict.label) }
            (choice("theirs", "Take theirs", &conflict.theirs, takes_theirs))
            (choice("mine", "Keep mine", &conflict.mine, !takes_theirs))
        }
    }
}

fn shown_value(key: &str, value: &str) -> String {
    match (key, value.trim()) {
        ("is_private", "") => "Not private: the table sees it".to_owned(),
        ("is_private", _) => "Private: only game masters see it".to_owned(),
        ("is_player_known", "") => "The table does not know it".to_owned(),
        ("is_player_known", _) => "The table knows it".to_owned(),
        (_, "") => "nothing".to_owned(),
        (_, value) => value.to_owned(),
    }
}

/// Both texts, block by block, with a choice for each part that differs.
fn conflicting_text(conflict: &FieldConflict) -> Markup {
    let side = |at: usize, word: &str, title: &str, blocks: &[&str], is_chosen: bool| {
        html! {
            label class={ "conflict-side block-" (word) } {
                span { input type="radio" name={ (BLOCK_PREFIX) (at) } value=(word) checked[is_chosen]; " " (title) }
                pre.block dir="auto" { @if blocks.is_empty() { em { "left out" } } @else { (blocks.join("\n\n")) } }
            }
        }
    };
    html! {
        section.stack {
            h3 { (conflict.label) }
            @for (at, hunk) in diff_hunks(&conflict.theirs, &conflict.mine).iter().enumerate() {
                @match hunk {
                    DiffHunk::Same(blocks) => pre.block.block-both dir="auto" { (blocks.join("\n\n")) },
                    DiffHunk::Changed { theirs, ours } => {
                        @let takes_theirs = is_only_theirs(conflict.base.as_deref(), theirs, ours);
                        fieldset.both {
                            legend.visually-hidden { "Part " (at + 1) }
                            (side(at, "theirs", "Take theirs", theirs, takes_theirs))
                            (side(at, "mine", "Keep mine", ours, !takes_theirs))
                            @if !theirs.is_empty() && !ours.is_empty() {
                                label.conflict-side.conflict-wide { span { input type="radio" name={ (BLOCK_PREFIX) (at) } value="both"; " Keep both, theirs first" } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Whether only the others changed a part: then theirs is chosen first, else the editor's own.
fn is_only_theirs(base: Option<&str>, theirs: &[&str], ours: &[&str]) -> bool {
    let Some(base) = base else { return false };
    let is_new = |blocks: &[&str]| blocks.iter().any(|block| !base.contains(block));
    match (is_new(theirs), is_new(ours)) {
        (true, new_here) => !new_here,
        (false, true) => false,
        // Somebody deleted it.
        (false, false) => theirs.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(key: &'static str, value: &str) -> FieldText {
        FieldText { key, label: key, value: value.to_owned() }
    }

    fn base(fields: &[FieldText]) -> EditBase {
        EditBase::of_stored(1, fields)
    }

    #[test]
    fn a_field_that_one_side_changed_has_its_value() {
        let base = base(&[field("is_private", ""), field("name", "Mira"), field("tags", "a")]);
        let stored = [field("is_private", "yes"), field("name", "Mira"), field("tags", "b")];
        let merged = merge_form(&Form::parse("name=Mirabel&tags=c"), Some(&base), 2, &stored);
        assert_eq!((merged.form.text("is_private"), merged.form.text("name")), ("yes", "Mirabel"));
        assert_eq!(merged.their_fields, [field("is_private", "yes")]);
        let conflicts: Vec<_> =
            merged.conflicts.iter().map(|conflict| (conflict.key, &*conflict.mine, &*conflict.theirs)).collect();
        assert_eq!(conflicts, [("tags", "c", "b")]);
        // The same change on both sides is none.
        assert!(
            merge_form(&Form::parse("name=Mira&tags=b&is_private=yes"), Some(&base), 2, &stored).conflicts.is_empty()
        );
        // Without the base nobody knows who changed what.
        assert_eq!(merge_form(&Form::parse("name=Mirabel&tags=a"), None, 2, &stored).conflicts.len(), 3);
        assert!(merge_form(&Form::parse("tags=c"), Some(&base), 1, &stored).conflicts.is_empty());
    }

    #[test]
    fn choices_become_fields() {
        let form = "pick_tags=theirs&base_tags=b&tags=c&pick_name=mine&base_name=x&name=y\
                    &base_entry=a%0A%0Atheirs%0A%0Az&entry=a%0A%0Amine%0A%0Az%0A%0Aend";
        let entry = |blocks: &str| apply_choices(&Form::parse(&format!("{form}{blocks}"))).text("entry").to_owned();
        let chosen = apply_choices(&Form::parse(form));
        assert_eq!((chosen.text("tags"), chosen.text("name")), ("b", "y"));
        assert_eq!(entry("&block_1=theirs&block_3=mine"), "a\n\ntheirs\n\nz\n\nend");
        assert_eq!(entry("&block_1=both&block_3=theirs"), "a\n\ntheirs\n\nmine\n\nz");
        assert_eq!(entry("&block_1=theirs&block_3=theirs"), "a\n\ntheirs\n\nz");
        assert_eq!(entry(""), "a\n\nmine\n\nz\n\nend");
    }

    #[test]
    fn a_part_that_only_they_changed_is_theirs_first() {
        let base = Some("a\n\nb");
        assert!(is_only_theirs(base, &["new"], &["b"]));
        assert!(is_only_theirs(base, &[], &["b"]), "they deleted it");
        assert!(!is_only_theirs(base, &["b"], &[]), "I deleted it");
        assert!(!is_only_theirs(base, &["new"], &["other"]));
        assert!(!is_only_theirs(None, &["new"], &["b"]));
    }
}
