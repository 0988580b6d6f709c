//! Tests of the three-way merge: what each case gives, and that no write is lost in silence.

use proptest::prelude::*;

use super::*;

#[expect(clippy::unnecessary_wraps, reason = "a field has a text or none")]
fn text(word: &str) -> Option<MirroredText> {
    Some(MirroredText { html_hash: format!("h-{word}"), markdown_hash: format!("m-{word}") })
}

fn ann() -> MirroredFields {
    MirroredFields {
        name: "Ann".to_owned(),
        entry: text("base"),
        tags: split_words("a b"),
        ..MirroredFields::default()
    }
}

fn split_words(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn a_field_that_one_side_changed_gets_its_value_on_both() {
    let ours = MirroredFields { name: "Anna".to_owned(), ..ann() };
    let theirs = MirroredFields { entry: text("theirs"), is_private: true, ..ann() };
    let merged = merge_fields(&ann(), &ours, &theirs);
    let both = MirroredFields { name: "Anna".to_owned(), ..theirs };
    assert_eq!(merged, VersionMerge { here: both.clone(), there: both.clone(), base: both, conflicts: Vec::new() });
}

#[test]
fn a_field_that_both_changed_is_a_conflict_and_stays_on_each_side() {
    let ours = MirroredFields { name: "Anna".to_owned(), entry: text("ours"), parent: Some(1), ..ann() };
    let theirs = MirroredFields { name: "Anne".to_owned(), entry: None, parent: Some(1), ..ann() };
    let merged = merge_fields(&ann(), &ours, &theirs);
    assert_eq!(merged.conflicts, ["name", "entry"]);
    assert_eq!((&merged.here, &merged.there), (&ours, &theirs));
    assert_eq!(merged.base, MirroredFields { parent: Some(1), ..ann() });
}

#[test]
fn a_text_that_says_the_same_is_no_conflict_and_is_not_written_again() {
    let ours = MirroredText { html_hash: "our html".to_owned(), markdown_hash: "same".to_owned() };
    let theirs = MirroredText { html_hash: "their html".to_owned(), markdown_hash: "same".to_owned() };
    let ours = MirroredFields { entry: Some(ours), ..ann() };
    let theirs = MirroredFields { entry: Some(theirs), ..ann() };
    let merged = merge_fields(&ann(), &ours, &theirs);
    assert!(merged.conflicts.is_empty());
    assert_eq!((merged.here.entry, merged.there.entry), (ours.entry, theirs.entry.clone()));
    assert_eq!(merged.base.entry, theirs.entry);
}

#[test]
fn tags_and_aliases_merge_as_sets() {
    let ours = MirroredFields { tags: split_words("B c"), aliases: split_words("x"), ..ann() };
    let theirs = MirroredFields { tags: split_words("a b D"), aliases: split_words("X y"), ..ann() };
    let merged = merge_fields(&ann(), &ours, &theirs);
    assert_eq!((merged.here.tags, merged.here.aliases), (split_words("B c D"), split_words("x y")));
    assert_eq!((merged.there.tags, merged.conflicts), (split_words("B c D"), Vec::new()));
    assert!(MirroredFields::is_same_set(&split_words("B a"), &split_words("A b")));
    assert!(!MirroredFields::is_same_set(&split_words("a"), &split_words("a b")));
}

#[test]
fn a_post_merges_like_an_entity() {
    let base = MirroredPost { name: "Cellar".to_owned(), entry: text("base"), is_private: true };
    let ours = MirroredPost { entry: text("ours"), ..base.clone() };
    let theirs = MirroredPost { name: "Vault".to_owned(), entry: text("theirs"), ..base.clone() };
    let merged = merge_post(&base, &ours, &theirs);
    assert_eq!(merged.conflicts, ["entry"]);
    assert_eq!((merged.here.name.as_str(), merged.here.entry), ("Vault", ours.entry));
    assert_eq!((merged.there, merged.base.entry), (theirs, base.entry));
}

fn any_fields() -> impl Strategy<Value = MirroredFields> {
    let word = || prop::sample::select(vec!["a", "b", "c"]);
    let entry = proptest::option::of(word().prop_map(|word| text(word).unwrap()));
    let set =
        || proptest::collection::btree_set(word(), 0..3).prop_map(|set| set.into_iter().map(str::to_owned).collect());
    (word(), word(), entry, set(), set(), any::<bool>(), proptest::option::of(1..3_u64)).prop_map(
        |(name, subtype, entry, tags, aliases, is_private, parent)| MirroredFields {
            name: name.to_owned(),
            subtype: subtype.to_owned(),
            entry,
            tags,
            aliases,
            is_private,
            parent,
            date: None,
        },
    )
}

proptest! {
    #[test]
    fn a_merge_ends(base in any_fields(), ours in any_fields(), theirs in any_fields()) {
        let merged = merge_fields(&base, &ours, &theirs);
        prop_assert_eq!(merged.conflicts.is_empty(), merged.here == merged.there);
        // Once both sides have what the merge says, there is nothing left to do.
        let again = merge_fields(&merged.base, &merged.here, &merged.there);
        prop_assert_eq!((&again.here, &again.there, &again.conflicts), (&merged.here, &merged.there, &merged.conflicts));
        prop_assert_eq!(again.base, merged.base);
    }

    #[test]
    fn nothing_is_lost_in_silence(base in any_fields(), ours in any_fields(), theirs in any_fields()) {
        let merged = merge_fields(&base, &ours, &theirs);
        // A value that one side wrote is there afterwards, or the field is in conflict and each side has its own.
        for (field, base, ours, theirs, here, there) in [
            ("name", &base.name, &ours.name, &theirs.name, &merged.here.name, &merged.there.name),
            ("type", &base.subtype, &ours.subtype, &theirs.subtype, &merged.here.subtype, &merged.there.subtype),
        ] {
            if merged.conflicts.contains(&field) {
                prop_assert_eq!((here, there), (ours, theirs));
            } else {
                prop_assert_eq!(here, there);
                prop_assert!(ours == base || here == ours);
                prop_assert!(theirs == base || there == theirs);
            }
        }
        let mirrored = merge_fields(&base, &theirs, &ours);
        prop_assert_eq!(&mirrored.conflicts, &merged.conflicts, "which side is ours does not matter");
        prop_assert!(MirroredFields::is_same_set(&mirrored.here.tags, &merged.here.tags));
    }
}
