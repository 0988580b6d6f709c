//! Resource changes of a universe: the URIs whose content changes with a journal record.

use crate::resource::percent_decode;
use crate::{ResourceChange, percent_encode};
use skald_journal::Record;

pub(super) const LIST: &str = "universes://list";
const SCHEME: &str = "universe://";

/// The changes after a record. Its kind is compared by prefix, so that later versions of a kind match too.
pub(crate) fn record_changes(record: &Record) -> Vec<ResourceChange> {
    let mut changes = vec![ResourceChange::Resource(universe_uri(record.stream.id()).into())];
    let is = |kind: &str| record.kind.starts_with(kind);
    // Commands on bodies do not change the list.
    if !is("universe.commanded") {
        changes.push(ResourceChange::Resource(LIST.into()));
    }
    if is("universe.created") || is("universe.deleted") {
        changes.push(ResourceChange::ResourceList);
    }
    changes
}

/// The URI of a universe, with its id percent-encoded.
fn universe_uri(universe_id: &str) -> String {
    format!("{SCHEME}{}", percent_encode(universe_id))
}

/// For a resource that is part of a universe: the URI of the universe, since any change of it may change the part.
pub(crate) fn containing_universe_uri(part: &str) -> Option<String> {
    let rest = part.strip_prefix(SCHEME)?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    percent_decode(&rest[..end]).map(|id| universe_uri(&id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_id_has_a_uri() {
        assert_eq!(universe_uri("u-1"), "universe://u-1");
        assert_eq!(universe_uri("a b/ß"), "universe://a%20b%2F%C3%9F");
    }

    #[test]
    fn a_part_belongs_to_its_universe_however_that_is_written() {
        let parts = ["", "/summary", "/body/earth?t=7", "?x", "/positions?cursor=a%2Fb"];
        for part in parts {
            assert_eq!(
                containing_universe_uri(&format!("universe://u-1{part}")).as_deref(),
                Some("universe://u-1"),
                "{part}"
            );
            assert_eq!(
                containing_universe_uri(&format!("universe://u%2D1{part}")).as_deref(),
                Some("universe://u-1"),
                "{part}"
            );
            assert_eq!(
                containing_universe_uri(&format!("universe://a%2fb{part}")).as_deref(),
                Some("universe://a%2Fb"),
                "{part}"
            );
        }
        for other in ["universes://list", "campaign://u-1/actors", "universe://%", "u-1"] {
            assert_eq!(containing_universe_uri(other), None, "{other}");
        }
    }
}
