//! Journals of Foundry: pages, secrets, ownership, links, and the forms in which they come.

use serde_json::{Value, json};
use skald_lore_files::{Import, ImportError, ImportFormat, ImportedText, import_files};

use crate::{find, losses, posts, source_file, text};

fn import(documents: &[(&str, Value)]) -> Import {
    let files: Vec<_> = documents.iter().map(|(path, document)| source_file(path, document.to_string())).collect();
    import_files(&files).unwrap()
}

/// A page of HTML.
fn page(id: &str, name: &str, content: &str, ownership: i64, sort: i64) -> Value {
    json!({"_id": id, "name": name, "type": "text", "text": {"content": content, "format": 1}, "sort": sort,
        "ownership": {"default": ownership}})
}

#[test]
fn pages_become_the_text_and_posts() {
    let inn = json!({
        "_id": "inn0000000000000", "name": "The Inn", "folder": "f1", "ownership": {"default": 2, "user1": 3}, "flags": {},
        "categories": [{"_id": "c"}],
        "_stats": {"coreVersion": "13.350", "createdTime": 1_700_000_000_000_u64, "modifiedTime": 1_700_000_000_001_u64},
        "pages": [
            page("p3", "Cellar", "<p>Dark.</p><section class=\"secret\" id=\"secret-q\"><p>A corpse.</p></section>", -1, 300),
            page("p1", "Notes", "<p>For me.</p>", 0, 100),
            page("p2", "Front", "<p>See @UUID[JournalEntry.inn0000000000000.JournalEntryPage.p3]{below}.</p>\
                <section class=\"secret\">It burns.</section>", -1, 200),
            {"_id": "p4", "name": "Map", "type": "image", "src": "worlds/x/map.webp", "sort": 400},
            {"_id": "p5", "name": "Song", "type": "video", "src": "x.mp4", "sort": 500},
            {"_id": "p6", "name": "Rules", "type": "text", "sort": 600, "ownership": {"default": 3},
                "text": {"format": 2, "markdown": "# R @JournalEntry[inn0000000000000]", "content": "<h1>R</h1>"}},
        ],
    });
    let import = import(&[
        ("journal/The_Inn_inn0000000000000.json", inn),
        ("journal/folder.json", json!({"_id": "f1", "_key": "!folders!f1", "name": "Places", "type": "JournalEntry"})),
        ("journal/actor.json", json!({"_id": "a", "name": "Ann", "type": "npc", "system": {}, "items": []})),
    ]);
    assert_eq!(import.format, ImportFormat::Foundry);
    let inn = find(&import, "JournalEntry.inn0000000000000");
    assert_eq!((inn.entity_type, inn.name.as_str(), inn.is_private), ("location", "The Inn", Some(false)));
    assert_eq!(text(inn), Some("<p>See [[JournalEntry.inn0000000000000|below]].</p>"));
    let expected = [
        ("Notes", "<p>For me.</p>", true),
        ("Secret", "It burns.", true),
        ("Cellar", "<p>Dark.</p>", false),
        ("Secret: Cellar", "<p>A corpse.</p>", true),
        ("Rules", "# R [[JournalEntry.inn0000000000000|The Inn]]", false),
    ];
    assert_eq!(posts(inn), expected);
    assert!(matches!(inn.posts[4].text, Some(ImportedText::Markdown(_))));
    let ids: Vec<&str> = inn.posts.iter().map(|post| post.source_id.rsplit('.').next().unwrap()).collect();
    assert_eq!(ids, ["p1", "p2#secret-1", "p3", "p3#secret-q", "p6"]);
    assert_eq!(inn.image.as_deref(), Some("worlds/x/map.webp"));
    assert_eq!(inn.updated_at.as_deref(), Some("1700000000001"));
    assert_eq!(import.link_target("", "[[JournalEntry.inn0000000000000|below]]"), Some(inn.source_id.as_str()));
    let expected = [
        "journal/actor.json: is no journal entry",
        "journal/The_Inn_inn0000000000000.json: the page \"Song\" of type \"video\" is not imported",
        "journal/The_Inn_inn0000000000000.json: the categories of its pages are not imported",
        "Folder.f1: the folder \"Places\" is not imported",
    ];
    assert_eq!(losses(&import), expected);
}

#[test]
fn an_entry_is_private_unless_everybody_may_read_it() {
    let is_private = |ownership: Value| {
        let entry = json!({"_id": "x", "name": "X", "ownership": ownership, "pages": [page("p", "P", "text", -1, 0)]});
        let import = import(&[("x.json", entry)]);
        assert_eq!(text(&import.entities[0]), Some("text"));
        let entry = &import.entities[0];
        entry.is_private.or(entry.is_private_at_first) == Some(true)
    };
    assert!(is_private(json!({"default": 0})));
    assert!(is_private(json!({"default": 1})));
    assert!(is_private(json!({})));
    assert!(is_private(Value::Null));
    assert!(!is_private(json!({"default": 2})));
    assert!(!is_private(json!({"default": 3})));
}

#[test]
fn lists_and_exported_entries_are_read() {
    let import = import(&[
        (
            "all.json",
            json!([
                {"_id": "a", "name": "A", "pages": []},
                {"_id": "a", "name": "Again", "pages": []},
                {"name": "Old", "content": "<p>nine</p>", "img": "x.png", "permission": {"default": 2}},
            ]),
        ),
        ("fvtt-JournalEntry-b-0123456789abcdef.json", json!({"name": "B", "pages": []})),
        ("c.json", json!({"name": "C", "pages": [], "_stats": {"exportSource": {"uuid": "JournalEntry.c"}}})),
        ("d.json", json!({"name": "D", "pages": [], "flags": {"core": {"sourceId": "JournalEntry.d"}}})),
        ("e.json", json!({"pages": []})),
        ("f.json", json!({"name": "F", "content": "hello", "_key": "!messages!f"})),
    ]);
    let ids: Vec<&str> = import.entities.iter().map(|entity| entity.source_id.as_str()).collect();
    let expected =
        ["JournalEntry.a", "all.json#3", "JournalEntry.0123456789abcdef", "JournalEntry.c", "JournalEntry.d", "e.json"];
    assert_eq!(ids, expected);
    let old = find(&import, "all.json#3");
    assert_eq!((text(old), old.image.as_deref(), old.is_private), (Some("<p>nine</p>"), Some("x.png"), Some(false)));
    assert_eq!(losses(&import), ["all.json#2: has the id of another entry", "f.json: is no journal entry"]);
}

#[test]
fn json_without_a_journal_is_no_lore() {
    for document in ["{}", "[]", "5", "[1, null]", r#"{"name": "x", "items": []}"#] {
        let error = import_files(&[source_file("x.json", document)]).unwrap_err();
        assert!(matches!(error, ImportError::UnknownFormat), "{document}");
    }
}
