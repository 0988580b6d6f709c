//! Our own export: whatever is written is read back equal.

use std::collections::BTreeMap;

use proptest::prelude::*;
use skald_lore_files::{
    ENTITY_TYPES, ExportedEntity, ExportedPost, Import, ImportError, ImportFormat, ImportedEntity, ImportedText,
    ReadLimits, SourceFile, exported_paths, import_files, read_import, write_export,
};

use crate::{TemporaryFolder, find, losses, posts, source_file};

fn source_files(files: &[(String, String)]) -> Vec<SourceFile> {
    files.iter().map(|(path, content)| source_file(path, content.as_str())).collect()
}

fn entity_id(source_id: &str) -> u64 {
    source_id.strip_prefix("skald:").unwrap().parse().unwrap()
}

/// What would have been exported for an entity to be imported like this.
fn exported(
    entity: &ImportedEntity,
    entity_id: u64,
    parent: Option<u64>,
    post_id: impl Fn(&str) -> u64,
) -> ExportedEntity {
    let markdown = |text: &Option<ImportedText>| match text {
        None => None,
        Some(ImportedText::Markdown(text) | ImportedText::WithOriginal { markdown: text, .. }) => Some(text.clone()),
        Some(ImportedText::Html(text)) => panic!("HTML: {text}"),
    };
    let html = |text: &Option<ImportedText>| match text {
        Some(ImportedText::WithOriginal { html, .. }) => Some(html.clone()),
        _ => None,
    };
    ExportedEntity {
        entity_id,
        entity_type: entity.entity_type.to_owned(),
        name: entity.name.clone(),
        subtype: entity.subtype.clone(),
        tags: entity.tags.clone(),
        aliases: entity.aliases.clone(),
        is_private: entity.is_private.unwrap_or(true),
        parent,
        image: entity.image.clone(),
        date: entity.date.clone(),
        actor_id: entity.actor_id.clone(),
        text: markdown(&entity.text),
        html: html(&entity.text),
        posts: entity
            .posts
            .iter()
            .map(|post| ExportedPost {
                post_id: post_id(&post.source_id),
                name: post.name.clone(),
                is_private: post.is_private,
                text: markdown(&post.text),
                html: html(&post.text),
            })
            .collect(),
        created_at: entity.created_at.clone(),
        updated_at: entity.updated_at.clone(),
    }
}

/// What an import of our own export was made from.
fn read_back(import: &Import) -> Vec<ExportedEntity> {
    assert_eq!(import.format, ImportFormat::Skald);
    let mut entities: Vec<ExportedEntity> = import
        .entities
        .iter()
        .map(|entity| {
            let parent = entity.parent.as_deref().map(entity_id);
            let post_id = |source_id: &str| source_id.strip_prefix("skald:post:").unwrap().parse().unwrap();
            exported(entity, entity_id(&entity.source_id), parent, post_id)
        })
        .collect();
    entities.sort_by_key(|entity| entity.entity_id);
    entities
}

/// A vault of 500 notes, the same in every run.
fn write_vault(folder: &TemporaryFolder) {
    let folders = ["NPCs", "Places/Towns", "Factions", "Sessions", "Items", ""];
    for number in 0..500_usize {
        let path = match folders[number % folders.len()] {
            "" => format!("Note {number}.md"),
            folder => format!("{folder}/Note {number}.md"),
        };
        let parent = if number > 10 { format!("parent: '[[Note {}]]'\n", number / 2) } else { String::new() };
        let line_break = if number % 7 == 0 { "\r\n" } else { "\n" };
        let lines = [
            format!(
                "---\ntags: [t{}, shared]\naliases: ['Alias {number}']\nprivate: {}\n{parent}---",
                number % 13,
                number % 3 == 0
            ),
            format!("# Note {number}"),
            format!("See [[Note {}]] and #inline/{}.", (number * 31) % 500, number % 5),
            "---".to_owned(),
            format!("%%Secret of {number}%%"),
            "<!-- skald:post {} -->".to_owned(),
            "| a | b |\n|---|---|\n| [[Note 1\\|x]] | `%%code%%` |".to_owned(),
        ];
        folder.write(&path, lines.join("\n").replace('\n', line_break));
    }
}

#[test]
fn a_vault_of_500_notes_comes_back_equal() {
    let folder = TemporaryFolder::new();
    write_vault(&folder);
    let limits = ReadLimits::default();
    let first = read_import(folder.path(), &limits).unwrap();
    assert_eq!((first.entities.len(), losses(&first)), (500, Vec::new()));
    assert!(first.entities.iter().all(|entity| entity.posts.len() == 1 && entity.tags.len() == 3));
    assert_eq!(first.entities.iter().filter(|entity| entity.parent.is_some()).count(), 489);
    let again = read_import(folder.path(), &limits).unwrap();
    assert_eq!(first.entities, again.entities, "ids and hashes are stable");

    let ids: BTreeMap<&str, u64> =
        first.entities.iter().zip(1..).map(|(entity, number)| (entity.source_id.as_str(), number)).collect();
    let entities: Vec<ExportedEntity> = first
        .entities
        .iter()
        .map(|entity| {
            let id = ids[entity.source_id.as_str()];
            exported(entity, id, entity.parent.as_deref().map(|parent| ids[parent]), |_| id)
        })
        .collect();
    let target = TemporaryFolder::new();
    for (path, content) in write_export(&entities) {
        target.write(&path, content);
    }
    let second = read_import(target.path(), &limits).unwrap();
    assert_eq!(losses(&second), [""; 0]);
    assert_eq!(read_back(&second), entities);
    assert_eq!(write_export(&read_back(&second)), write_export(&entities));
    assert_eq!(second.mention_target(500), Some("skald:500"));
    assert_eq!(second.mention_target(501), None);
}

fn entity(entity_id: u64, name: &str, text: Option<&str>) -> ExportedEntity {
    ExportedEntity {
        entity_id,
        entity_type: "note".to_owned(),
        name: name.to_owned(),
        text: text.map(str::to_owned),
        ..ExportedEntity::default()
    }
}

#[test]
fn an_export_can_be_read_by_people() {
    let mut ann = entity(5, "Ann \"the Red\"", Some("Loves [entity:6|the inn].\n"));
    ann.entity_type = "character".to_owned();
    ann.tags = vec!["Spy".to_owned(), "a: b".to_owned()];
    ann.is_private = true;
    ann.parent = Some(6);
    ann.date = Some("2025-05-30".to_owned());
    ann.posts = vec![
        ExportedPost {
            post_id: 9,
            name: "Past".to_owned(),
            is_private: true,
            text: Some("She\n---\nlied.".to_owned()),
            html: None,
        },
        ExportedPost { post_id: 10, name: "Empty".to_owned(), is_private: false, text: None, html: None },
    ];
    let mut inn = entity(6, "Inn", None);
    inn.entity_type = "location".to_owned();
    let files = write_export(&[ann, inn]);
    let expected = "---\nentity_id: 5\ntype: character\nname: \"Ann \\\"the Red\\\"\"\ntags: [Spy, \"a: b\"]\n\
        is_private: true\nparent: \"[[Locations/Inn]]\"\ndate: \"2025-05-30\"\n---\nLoves [entity:6|the inn].\n\n\
        <!-- skald:post {\"post_id\":9,\"name\":\"Past\",\"is_private\":true} -->\n## Past\nShe\n---\nlied.\n\
        <!-- skald:post {\"post_id\":10,\"name\":\"Empty\",\"is_private\":false} -->\n## Empty\n";
    assert_eq!(files[0], ("Characters/Ann _the Red_.md".to_owned(), expected.to_owned()));
    assert_eq!(files[1].0, "Locations/Inn.md");
    assert_eq!(files[2].0, "skald.json");
    let manifest: serde_json::Value = serde_json::from_str(&files[2].1).unwrap();
    let entities = serde_json::json!({"5": "Characters/Ann _the Red_.md", "6": "Locations/Inn.md"});
    assert_eq!(manifest, serde_json::json!({"format": "skald-lore", "version": 1, "entities": entities}));
}

#[test]
fn a_manifest_names_the_files_of_its_export_and_no_others() {
    let files = write_export(&[entity(1, "Ann", None), entity(2, "a/b", None)]);
    let paths = exported_paths(files[2].1.as_bytes()).unwrap();
    assert_eq!(paths, [files[0].0.as_str(), files[1].0.as_str()]);
    let paths = |entities: &str| {
        exported_paths(format!(r#"{{"format": "skald-lore", "version": 1, "entities": {entities}}}"#).as_bytes())
    };
    let hostile =
        r#"{"1": "../x.md", "2": "/etc/x.md", "3": "a/./x.md", "4": "C:x.md", "5": "x.sh", "6": 7, "7": "a/x.md"}"#;
    assert_eq!(paths(hostile), Some(vec!["a/x.md".to_owned()]));
    for other in ["", "{}", r#"{"format": "skald-lore", "version": 2, "entities": {}}"#] {
        assert_eq!(exported_paths(other.as_bytes()), None, "{other}");
    }
}

#[test]
fn hard_names_and_texts_come_back() {
    let names = [
        "a/b\\c",
        "A/B\\C",
        "con",
        "CON.x",
        "..",
        "",
        " ",
        "\"",
        "'",
        "🐉",
        "e\u{301}",
        "é",
        "É",
        "ß",
        "ẞ",
        "ss",
        "x.md",
        "x",
        "x.MD.",
        "#tag",
        "[[x]]",
        "a|b",
        "-->",
        "null",
        "true",
        "5",
        "\n",
        "\r\n",
        "\u{0}",
        "\u{feff}",
        "\u{202e}",
        "- x",
        "x: y",
        "---",
        "skald.json",
        "%41",
        "trailing. ",
        ".hidden",
        "a (1)",
        "a",
        "a",
    ];
    let texts = [
        None,
        Some(""),
        Some("\n"),
        Some("\r\n"),
        Some("\r"),
        Some("---\nx: y\n---\n"),
        Some("<!-- skald:post {\"name\":\"x\"} -->\n## x\n"),
        Some("<!-- \\skald:post"),
        Some("## x"),
        Some("%%hidden%% #tag [[x]] [entity:5|x]"),
        Some("\u{feff}x\u{0}\u{0}\u{0}\u{0}"),
        Some("  indented\n\n\n"),
    ];
    let entities: Vec<ExportedEntity> = (1_u64..)
        .zip(names)
        .map(|(id, name)| {
            let text = |at: usize| texts[at % texts.len()].map(str::to_owned);
            let at = usize::try_from(id).unwrap();
            let mut entity = entity(id, name, texts[at % texts.len()]);
            entity.parent = (id > 1).then_some(id - 1);
            entity.subtype = name.to_owned();
            entity.tags = vec![name.to_owned(), String::new()];
            entity.image = Some(name.to_owned());
            entity.posts = (0..3)
                .map(|number| ExportedPost {
                    post_id: id * 10 + number,
                    name: name.to_owned(),
                    is_private: number == 1,
                    text: text(at + 1 + usize::try_from(number).unwrap()),
                    html: None,
                })
                .collect();
            entity
        })
        .collect();
    let target = TemporaryFolder::new();
    let files = write_export(&entities);
    for (path, content) in &files {
        target.write(path, content);
    }
    assert_eq!(read_back(&read_import(target.path(), &ReadLimits::default()).unwrap()), entities);
    assert_eq!(read_back(&import_files(&source_files(&files)).unwrap()), entities);
}

#[test]
fn people_may_change_an_export() {
    let mut files = write_export(&[entity(5, "Ann", Some("text")), entity(6, "Bob", None), entity(7, "Cid", None)]);
    files.retain(|(path, _)| path != "Notes/Cid.md");
    let copy = files[0].1.replace("text", "copied");
    files.insert(0, ("Copies/Ann.md".to_owned(), copy));
    files.push(("NPCs/New.md".to_owned(), "---\nparent: '[[Ann]]'\n---\nNew, see [[Notes/Bob]]. %%psst%%".to_owned()));
    let bob = files.iter_mut().find(|(path, _)| path == "Notes/Bob.md").unwrap();
    bob.0 = "Moved/Bob.md".to_owned();
    bob.1 = bob.1.replace("is_private: false\n", "color: red\n").replace("---\n", "---\r\n");
    bob.1.push_str("<!-- skald:post {broken} -->\nstill hidden\n");
    let import = import_files(&source_files(&files)).unwrap();
    assert_eq!(find(&import, "skald:5").name, "Ann");
    assert_eq!(find(&import, "Copies/Ann.md").name, "Ann");
    let bob = find(&import, "skald:6");
    assert_eq!((bob.is_private, bob.is_private_at_first), (None, Some(true)), "a line that is missing hides");
    assert_eq!(posts(bob), [("Post", "still hidden", true)]);
    let new = find(&import, "NPCs/New.md");
    assert_eq!((new.entity_type, new.parent.as_deref()), ("character", Some("Copies/Ann.md")));
    assert_eq!(posts(new), [("Hidden", "psst", true)]);
    assert_eq!(import.link_target("NPCs/New.md", "Bob"), Some("skald:6"));
    let mut losses = losses(&import);
    losses.sort();
    let expected = [
        "Copies/Ann.md: has the entity_id of another file, so it is a new entity",
        "Moved/Bob.md: a mark of a post cannot be read, so the post is private",
        "Moved/Bob.md: front matter \"color\" is not imported",
        "Notes/Cid.md: is named by skald.json, and is not there",
    ];
    assert_eq!(losses, expected);
}

#[test]
fn the_html_that_a_text_came_from_comes_back_while_the_text_is_the_same() {
    let mut ann = entity(5, "Ann", Some("**Loud**"));
    ann.html = Some("<p><b>Loud</b></p>".to_owned());
    ann.posts = vec![ExportedPost {
        post_id: 9,
        name: "Past".to_owned(),
        text: Some("_Quiet_".to_owned()),
        html: Some("<p><i>Quiet</i></p>".to_owned()),
        ..ExportedPost::default()
    }];
    let mut files = write_export(&[ann.clone(), entity(6, "Bob", None)]);
    let paths: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(paths, ["Notes/Ann.md", "Notes/Bob.md", "Notes/Ann.html.json", "skald.json"]);
    assert_eq!(exported_paths(files[3].1.as_bytes()).unwrap(), ["Notes/Ann.md", "Notes/Bob.md", "Notes/Ann.html.json"]);
    assert!(!files[0].1.contains("<p>"), "the Markdown is for people");
    let import = import_files(&source_files(&files)).unwrap();
    assert_eq!((read_back(&import)[0].clone(), losses(&import)), (ann, Vec::new()));
    let hash = find(&import, "skald:5").source_hash.clone();
    files[0].1 = files[0].1.replace("**Loud**", "**Louder**");
    let changed = import_files(&source_files(&files)).unwrap();
    let changed = find(&changed, "skald:5");
    assert_eq!(changed.text, Some(ImportedText::Markdown("**Louder**".to_owned())));
    assert!(matches!(&changed.posts[0].text, Some(ImportedText::WithOriginal { html, .. }) if html.contains("<i>")));
    assert_ne!(changed.source_hash, hash);
    for broken in ["{", "{\"entry\": 5}"] {
        files[2].1 = broken.to_owned();
        let import = import_files(&source_files(&files)).unwrap();
        let expected = "Notes/Ann.html.json: cannot be read, so the HTML that the texts came from is lost";
        assert_eq!(losses(&import), [expected], "{broken}");
    }
}

#[test]
fn an_export_of_a_newer_version_is_refused() {
    let files = [source_file("skald.json", r#"{"format": "skald-lore", "version": 2, "entities": {}}"#)];
    let error = import_files(&files).unwrap_err();
    assert!(matches!(error, ImportError::NewerExport { version: 2, readable: 1 }), "{error}");
    let other = [source_file("skald.json", "{}"), source_file("a.md", "x")];
    assert_eq!(import_files(&other).unwrap().format, ImportFormat::Markdown);
}

/// Texts with what is special to Markdown, YAML, HTML and our marks.
fn hard_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<String>(),
        any::<char>().prop_map(String::from),
        prop::sample::select(vec![
            "\n",
            "\r\n",
            "\r",
            "---",
            "---\n",
            "<!-- skald:post {} -->\n",
            "<!-- ",
            "\\",
            "skald:",
            "## ",
            "%%",
            "[[",
            "]]",
            "\"",
            "\u{feff}",
            "\u{0}",
            " ",
            "",
            "#",
            ": ",
            "- ",
            "-->",
            ".md",
        ])
        .prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn arbitrary_post() -> impl Strategy<Value = ExportedPost> {
    (any::<u64>(), hard_text(), any::<bool>(), arbitrary_text())
        .prop_map(|(post_id, name, is_private, (text, html))| ExportedPost { post_id, name, is_private, text, html })
}

/// A text, and where there is one perhaps the HTML that it came from.
fn arbitrary_text() -> impl Strategy<Value = (Option<String>, Option<String>)> {
    prop::option::of((hard_text(), prop::option::of(hard_text()))).prop_map(|text| match text {
        None => (None, None),
        Some((text, html)) => (Some(text), html),
    })
}

fn arbitrary_entity() -> impl Strategy<Value = ExportedEntity> {
    let heads = (prop::sample::select(ENTITY_TYPES.to_vec()), hard_text(), hard_text(), any::<bool>());
    let lists = (prop::collection::vec(hard_text(), 0..3), prop::collection::vec(hard_text(), 0..3));
    let texts = prop::array::uniform5(prop::option::of(hard_text()));
    let posts = prop::collection::vec(arbitrary_post(), 0..3);
    (heads, lists, texts, arbitrary_text(), posts).prop_map(
        |((entity_type, name, subtype, is_private), (tags, aliases), texts, (text, html), posts)| {
            let [actor_id, image, date, created_at, updated_at] = texts;
            let entity_type = entity_type.to_owned();
            let (entity_id, parent) = (0, None);
            ExportedEntity {
                entity_id,
                entity_type,
                name,
                subtype,
                tags,
                aliases,
                is_private,
                parent,
                image,
                date,
                actor_id,
                text,
                html,
                posts,
                created_at,
                updated_at,
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_exported_is_imported_equal(
        entities in prop::collection::vec((arbitrary_entity(), any::<prop::sample::Index>()), 1..6),
    ) {
        let entities: Vec<ExportedEntity> = (1_u64..)
            .zip(entities)
            .map(|(entity_id, (entity, parent))| {
                // Below an earlier one, or at the top.
                let parent = u64::try_from(parent.index(usize::try_from(entity_id).unwrap())).unwrap();
                ExportedEntity { entity_id, parent: (parent > 0).then_some(parent), ..entity }
            })
            .collect();
        let files = write_export(&entities);
        for (path, _) in &files {
            let is_safe = path.len() < 160 && path.split('/').all(|part| !part.is_empty() && !part.starts_with('.'));
            prop_assert!(is_safe, "{path:?}");
        }
        let import = import_files(&source_files(&files)).unwrap();
        prop_assert_eq!(read_back(&import), entities);
        prop_assert_eq!(losses(&import), Vec::<String>::new());
    }

    #[test]
    fn no_note_brings_the_reader_down(path in "[a-zA-Z/.]{0,20}", note in hard_text(), yaml in hard_text()) {
        let files = [source_file(&format!("{path}.md"), format!("---\n{yaml}\n---\n{note}"))];
        let import = import_files(&files).unwrap();
        prop_assert!(import.entities.len() <= 1);
        let _ = import.link_target(&path, &note);
    }
}
