//! Tests of guards that ask for the substance of artifacts.

use super::*;
use crate::gate::content_measure::ContentMeasure;

/// Notes with these texts, measured as they would be when they are submitted.
fn notes(texts: &[&str], words: &[&str]) -> GuardFixture {
    let mut world = GuardFixture::default();
    for (index, text) in texts.iter().enumerate() {
        world.evidence.put(Artifact {
            path: format!("note-{index}.md"),
            sha256: (*text).to_owned(),
            bytes: text.len() as u64,
            types: vec!["note".to_owned()],
            inline: false,
            measure: Some(ContentMeasure::from_content(text.as_bytes(), words.iter().copied())),
        });
    }
    world
}

#[test]
fn only_content_with_substance_exists() {
    /// A guard, a text, and the English and Japanese reasons if the text does not count.
    type Case = (&'static str, &'static str, Option<(&'static str, &'static str)>);
    let cases: [Case; 5] = [
        ("min_bytes: 5", "12345", None),
        (
            "min_bytes: 5",
            " 1234 \n",
            Some((
                "Artifact 'note-0.md' does not count: bytes of text: 4, required 5",
                "成果物 'note-0.md' は数えられません: バイト数: 4 (必要: 5)",
            )),
        ),
        ("min_lines: 2", "one\n\ntwo", None),
        (
            "min_lines: 2",
            "one\n \n",
            Some((
                "Artifact 'note-0.md' does not count: lines: 1, required 2",
                "成果物 'note-0.md' は数えられません: 行数: 1 (必要: 2)",
            )),
        ),
        (
            "contains: [Place, '## Ways out', now]",
            "Place: ways out, and everybody knows",
            Some((
                "Artifact 'note-0.md' does not count: without '## Ways out', 'now'",
                "成果物 'note-0.md' は数えられません: '## Ways out', 'now' がない",
            )),
        ),
    ];
    for (asked, text, expected) in cases {
        let world = notes(&[text], &["Place", "## Ways out", "now"]);
        let guard = format!("{{type: artifact, artifact_type: note, condition: exists, {asked}, message: no}}");
        let (en, ja): (Vec<&'static str>, Vec<&'static str>) = expected.into_iter().unzip();
        let whole = |thin: Vec<&'static str>| [vec!["no"; thin.len()], thin].concat();
        assert_eq!(world.missing("en", &guard), whole(en), "{asked}: {text}");
        assert_eq!(world.missing("ja", &guard), whole(ja), "{asked}: {text}");
    }
}

#[test]
fn a_guard_without_a_message_says_what_each_artifact_needs() {
    let guard = "{type: artifact, artifact_type: note, condition: count, min_count: 2, min_bytes: 9, min_lines: 2, \
                 contains: [Place]}";
    let world = GuardFixture::default();
    assert_eq!(
        world.missing("en", guard),
        ["Artifact 'note' count is 0, required 2 (each with at least 9 bytes of text, 2 lines, 'Place')"]
    );
    assert_eq!(
        world.missing("ja", guard),
        ["成果物 'note' の件数が不足 (現在: 0, 必要: 2) (各成果物に必要: 9 バイト、2 行、'Place')"]
    );
    let exists = "{type: artifact, artifact_type: note, condition: exists, min_lines: 3}";
    assert_eq!(world.missing("en", exists), ["Artifact 'note' does not exist (each with at least 3 lines)"]);
}

#[test]
fn contents_with_substance_are_counted_once_and_unless_they_are_stale() {
    let guard = "{type: artifact, artifact_type: note, condition: count, min_count: 2, min_bytes: 4, \
                 message: '{current} of {required}'}";
    assert_eq!(notes(&["long", "longer", "x"], &[]).missing("en", guard), [""; 0]);
    let same = notes(&["long", "long", "x"], &[]).missing("en", guard);
    assert_eq!(same, ["1 of 2", "Artifact 'note-2.md' does not count: bytes of text: 1, required 4"]);
    let mut world = notes(&["long", "longer", "x"], &[]);
    world.facts.stale.insert("note-1.md".to_owned());
    assert_eq!(
        world.missing("en", guard),
        [
            "1 of 2",
            "Artifact 'note-2.md' does not count: bytes of text: 1, required 4",
            "Artifact file 'note-1.md' is gone or has changed since it was submitted"
        ]
    );
    let texts: Vec<String> = (0..100).map(|number| format!("{number}")).collect();
    let many = notes(&texts.iter().map(String::as_str).collect::<Vec<_>>(), &[]).missing("en", guard);
    assert_eq!(many.len(), 6, "what is missing, and some of those that do not count");
}

/// Evidence that was stored by a version that did not measure it.
#[test]
fn content_that_was_not_measured_has_no_substance_and_without_substance_everything_counts() {
    let world = GuardFixture::default().with_notes(&["one"]);
    let missing = world.missing("en", "{type: artifact, artifact_type: note, condition: exists, min_lines: 1}");
    assert_eq!(missing[1], "Artifact 'note-0.md' does not count: lines: 0, required 1");
    assert!(world.missing("en", "{type: artifact, artifact_type: note, condition: exists}").is_empty());
    let not = "{not: {type: artifact, artifact_type: note, condition: exists, min_lines: 1}}";
    assert!(world.missing("en", not).is_empty());
}
