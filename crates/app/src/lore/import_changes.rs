//! Finds fields that were changed in Skald since the last import.

use skald_domain::lore::{EntityVersion, LoreEvent, fold_entity_version};

/// Stored in place of a hash while an entity is not imported whole.
pub(super) const UNFINISHED_HASH: &str = "unfinished";

/// What imports have written into the fields of an entity. `events` is all that happened to it, the oldest first.
pub(super) fn imported_version(events: &[&LoreEvent]) -> EntityVersion {
    fold_entity_version(events.iter().copied().filter(|event| is_of_import(event)))
}

/// An import gives each of its changes the source of the entity.
fn is_of_import(event: &LoreEvent) -> bool {
    match event {
        LoreEvent::EntityCreated { entity, .. } => entity.source.is_some(),
        LoreEvent::EntityUpdated { change, .. } => change.source.is_some(),
        LoreEvent::ConflictResolved { steps, .. } | LoreEvent::ConflictReopened { steps, .. } => {
            steps.iter().any(is_of_import)
        }
        _ => false,
    }
}

/// Decides field by field what an import writes, and collects the fields that somebody changed since the last one.
pub(super) struct FieldMerge {
    /// Whether the source's values are taken for these fields too.
    overwrites: bool,
    changed_here: Vec<&'static str>,
}

impl FieldMerge {
    pub(super) fn new(overwrites: bool) -> Self {
        Self { overwrites, changed_here: Vec::new() }
    }

    /// The value that the import writes, or `None` if the field stays: it is the same, or somebody has changed it.
    pub(super) fn merge<T: PartialEq>(&mut self, field: &'static str, imported: &T, ours: &T, theirs: T) -> Option<T> {
        if *ours == theirs {
            return None;
        }
        let is_changed_here = imported != ours;
        self.takes_source(field, is_changed_here).then_some(theirs)
    }

    /// Whether the source's value is taken for a field that differs from it.
    pub(super) fn takes_source(&mut self, field: &'static str, is_changed_here: bool) -> bool {
        if is_changed_here {
            self.changed_here.push(field);
        }
        self.overwrites || !is_changed_here
    }

    /// Which fields were changed in Skald and what becomes of them, or `None` if there are none.
    pub(super) fn into_report(self) -> Option<String> {
        if self.changed_here.is_empty() {
            return None;
        }
        let end = if self.overwrites { "the source's value replaces it" } else { "it stays" };
        Some(format!("{}: changed here since the last import; {end}", self.changed_here.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_nobody_has_changed_takes_the_value_of_the_source() {
        let mut merge = FieldMerge::new(false);
        assert_eq!(merge.merge("name", &"a", &"a", "b"), Some("b"));
        assert_eq!(merge.merge("date", &"a", &"b", "b"), None, "both say the same");
        assert_eq!(merge.merge("tags", &"a", &"b", "c"), None);
        assert_eq!(merge.merge("image", &"a", &"b", "a"), None, "a change here stays if the source is as it was");
        assert_eq!(merge.into_report().unwrap(), "tags, image: changed here since the last import; it stays");
        let mut merge = FieldMerge::new(true);
        assert_eq!(merge.merge("tags", &"a", &"b", "c"), Some("c"));
        assert!(merge.into_report().unwrap().ends_with("the source's value replaces it"));
        assert_eq!(FieldMerge::new(true).into_report(), None);
    }
}
