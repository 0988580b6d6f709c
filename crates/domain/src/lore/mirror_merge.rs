//! Three-way merge of an entity or a post that is here and in another place: what both sides agreed on last (base), what
//! is here (ours) and what is there (theirs).
//!
//! A field that one side changed gets that side's value. Tags and aliases are sets, and additions and removals of both
//! sides count. A field that both sides changed to different values is a conflict, and each side keeps its own.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::find::name_identity;

/// A text by its hashes: it is the same if either the HTML or what the HTML says is the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MirroredText {
    pub html_hash: String,
    pub markdown_hash: String,
}

/// The fields of an entity that both sides have.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MirroredFields {
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subtype: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<MirroredText>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
    pub is_private: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
}

/// The fields of a post that both sides have.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MirroredPost {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<MirroredText>,
    pub is_private: bool,
}

/// What each side should have after a merge. They differ in the fields that are in conflict alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionMerge<T> {
    pub here: T,
    pub there: T,
    /// What both sides agree on from now on: the earlier base in the fields that are in conflict.
    pub base: T,
    /// Names of the fields that both sides changed to different values.
    pub conflicts: Vec<&'static str>,
}

/// Merges one field after the other.
struct FieldMerger {
    conflicts: Vec<&'static str>,
}

/// A field on both sides, and what they agree on.
struct MergedField<T> {
    here: T,
    there: T,
    base: T,
}

impl FieldMerger {
    fn merge<T: Clone + PartialEq>(&mut self, field: &'static str, base: &T, ours: &T, theirs: &T) -> MergedField<T> {
        self.merge_with(field, base, ours, theirs, |one, other| one == other)
    }

    fn merge_with<T: Clone + PartialEq>(
        &mut self,
        field: &'static str,
        base: &T,
        ours: &T,
        theirs: &T,
        is_same: impl Fn(&T, &T) -> bool,
    ) -> MergedField<T> {
        let agreed = if is_same(ours, theirs) || ours == base {
            theirs
        } else if theirs == base {
            ours
        } else {
            self.conflicts.push(field);
            return MergedField { here: ours.clone(), there: theirs.clone(), base: base.clone() };
        };
        // A text that says the same is left alone on both sides, so that nothing is written back and forth.
        let (here, there) = if is_same(ours, theirs) { (ours, theirs) } else { (agreed, agreed) };
        MergedField { here: here.clone(), there: there.clone(), base: agreed.clone() }
    }
}

pub fn merge_fields(
    base: &MirroredFields,
    ours: &MirroredFields,
    theirs: &MirroredFields,
) -> VersionMerge<MirroredFields> {
    let mut merger = FieldMerger { conflicts: Vec::new() };
    let name = merger.merge("name", &base.name, &ours.name, &theirs.name);
    let subtype = merger.merge("type", &base.subtype, &ours.subtype, &theirs.subtype);
    let entry = merger.merge_with("entry", &base.entry, &ours.entry, &theirs.entry, is_same_text);
    let is_private = merger.merge("is_private", &base.is_private, &ours.is_private, &theirs.is_private);
    let parent = merger.merge("parent", &base.parent, &ours.parent, &theirs.parent);
    let date = merger.merge("date", &base.date, &ours.date, &theirs.date);
    let tags = merge_sets(&base.tags, &ours.tags, &theirs.tags);
    let aliases = merge_sets(&base.aliases, &ours.aliases, &theirs.aliases);
    let version = |name, subtype, entry, is_private, parent, date| MirroredFields {
        name,
        subtype,
        entry,
        tags: tags.clone(),
        aliases: aliases.clone(),
        is_private,
        parent,
        date,
    };
    VersionMerge {
        here: version(name.here, subtype.here, entry.here, is_private.here, parent.here, date.here),
        there: version(name.there, subtype.there, entry.there, is_private.there, parent.there, date.there),
        base: version(name.base, subtype.base, entry.base, is_private.base, parent.base, date.base),
        conflicts: merger.conflicts,
    }
}

pub fn merge_post(base: &MirroredPost, ours: &MirroredPost, theirs: &MirroredPost) -> VersionMerge<MirroredPost> {
    let mut merger = FieldMerger { conflicts: Vec::new() };
    let name = merger.merge("name", &base.name, &ours.name, &theirs.name);
    let entry = merger.merge_with("entry", &base.entry, &ours.entry, &theirs.entry, is_same_text);
    let is_private = merger.merge("is_private", &base.is_private, &ours.is_private, &theirs.is_private);
    let version = |name, entry, is_private| MirroredPost { name, entry, is_private };
    VersionMerge {
        here: version(name.here, entry.here, is_private.here),
        there: version(name.there, entry.there, is_private.there),
        base: version(name.base, entry.base, is_private.base),
        conflicts: merger.conflicts,
    }
}

#[expect(clippy::ref_option, reason = "fields are compared as they are")]
fn is_same_text(one: &Option<MirroredText>, other: &Option<MirroredText>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.html_hash == other.html_hash || one.markdown_hash == other.markdown_hash,
        (None, None) => true,
        _ => false,
    }
}

/// Ours without what they removed, and then what they added. Spelling does not count, and ours stays.
fn merge_sets(base: &[String], ours: &[String], theirs: &[String]) -> Vec<String> {
    let folded = |texts: &[String]| texts.iter().map(|text| name_identity(text)).collect::<BTreeSet<String>>();
    let (base, our_forms, their_forms) = (folded(base), folded(ours), folded(theirs));
    let is_kept = |text: &&String| {
        let form = name_identity(text);
        their_forms.contains(&form) || !base.contains(&form)
    };
    let is_added = |text: &&String| {
        let form = name_identity(text);
        !our_forms.contains(&form) && !base.contains(&form)
    };
    ours.iter().filter(is_kept).chain(theirs.iter().filter(is_added)).cloned().collect()
}

impl MirroredFields {
    /// Whether two lists have the same members, in any order and spelling.
    pub fn is_same_set(one: &[String], other: &[String]) -> bool {
        let folded = |texts: &[String]| texts.iter().map(|text| name_identity(text)).collect::<BTreeSet<String>>();
        folded(one) == folded(other)
    }
}
