//! Vaults of Markdown: types, front matter, hidden parts, links, and what is lost.

use skald_lore_files::{ImportError, ImportFormat, ReadLimits, import_files, read_import};

use crate::{TemporaryFolder, find, import, losses, pack, posts, source_file, text};

#[test]
fn front_matter_and_folders_say_what_a_note_is() {
    let import = import(&[
        (
            "NPCs/Ann.md",
            "---\naliases: [Annie, 'The Red']\ntags:\n  - Spy\n  - '#guild/red'\nparent: [[Inn]]\nprivate: true\n\
             date: 2025-05-30\nimage: '![[ann.png|300]]'\ncreated: 2024-01-01\ncssclasses: [x]\nCR: 5\nempty:\n---\n\n\
             # Ann\n\nA #spy and #Thief.\n",
        ),
        ("Places/Inn.md", "---\ntype: tavern\ntags: 'town, #safe'\naliases: Pony, The Pony\n---\nSee [[Ann]]."),
        ("Factions/Guild.md", "---\nentity_type: Organisation\nname: The Guild\nsubtype: Thieves\n---\n"),
        ("Sessions/2025/One.md", "It began."),
        ("Readme.md", ""),
        ("Factions/Watch.md", "x"),
    ]);
    assert_eq!(import.format, ImportFormat::Markdown);
    let ann = find(&import, "NPCs/Ann.md");
    assert_eq!((ann.entity_type, ann.subtype.as_str(), ann.name.as_str()), ("character", "NPC", "Ann"));
    assert_eq!(ann.tags, ["Spy", "guild/red", "Thief"]);
    assert_eq!(ann.aliases, ["Annie", "The Red"]);
    assert_eq!(ann.is_private, Some(true));
    assert_eq!(ann.parent.as_deref(), Some("Places/Inn.md"));
    assert_eq!(ann.image.as_deref(), Some("ann.png"));
    assert_eq!(ann.date.as_deref(), Some("2025-05-30"));
    assert_eq!(ann.created_at.as_deref(), Some("2024-01-01"));
    assert_eq!(text(ann), Some("# Ann\n\nA #spy and #Thief."));
    assert_eq!(ann.source_hash.len(), 64);
    let inn = find(&import, "Places/Inn.md");
    assert_eq!((inn.entity_type, inn.subtype.as_str()), ("location", "tavern"));
    assert_eq!(inn.tags, ["town", "safe"]);
    assert_eq!(inn.aliases, ["Pony", "The Pony"]);
    assert_eq!((inn.is_private, inn.is_private_at_first), (None, None));
    let guild = find(&import, "Factions/Guild.md");
    assert_eq!(
        (guild.entity_type, guild.name.as_str(), guild.subtype.as_str()),
        ("organization", "The Guild", "Thieves")
    );
    assert_eq!(text(guild), None);
    let watch = find(&import, "Factions/Watch.md");
    assert_eq!((watch.entity_type, watch.subtype.as_str()), ("organization", "Faction"));
    let session = find(&import, "Sessions/2025/One.md");
    assert_eq!((session.entity_type, session.subtype.as_str()), ("journal", "Session"));
    assert_eq!(find(&import, "Readme.md").entity_type, "note");
    assert_eq!(losses(&import), ["NPCs/Ann.md: front matter \"CR\" is not imported"]);
    assert_eq!(import.link_target("Places/Inn.md", "[[ann#Past|her]]"), Some("NPCs/Ann.md"));
    assert_eq!(import.link_target("Places/Inn.md", "the pony"), Some("Places/Inn.md"));
    assert_eq!(import.link_target("Places/Inn.md", "The Guild"), Some("Factions/Guild.md"));
    assert_eq!(import.link_target("Places/Inn.md", "Nobody"), None);
    assert_eq!(import.mention_target(1), None);
}

#[test]
fn hidden_parts_become_a_private_post_and_give_no_tags() {
    let import = import(&[("Inn.md", "A door. %%It is #trapped%%\n\n%%\nThe key is below.\n%%\nEnd.\n")]);
    let inn = find(&import, "Inn.md");
    assert_eq!(text(inn), Some("A door. \n\nEnd."));
    assert_eq!(posts(inn), [("Hidden", "It is #trapped\n\nThe key is below.", true)]);
    assert_eq!(inn.posts[0].source_id, "Inn.md#hidden");
    assert_eq!(inn.tags, [""; 0]);
}

#[test]
fn what_cannot_be_read_hides_rather_than_shows() {
    let import = import(&[
        ("Broken.md", "---\nprivate: true\ntags: [a\n---\nText"),
        ("Maybe.md", "---\nprivate: perhaps\n---\nText"),
        ("Open.md", "Before\n\n%% after"),
        ("NotClosed.md", "---\nprivate: true\n"),
    ]);
    assert_eq!(find(&import, "Broken.md").is_private, Some(true));
    assert_eq!(text(find(&import, "Broken.md")), Some("Text"));
    assert_eq!(find(&import, "Maybe.md").is_private, Some(true));
    assert_eq!(text(find(&import, "Open.md")), Some("Before"));
    assert_eq!(posts(find(&import, "Open.md")), [("Hidden", "after", true)]);
    let not_closed = find(&import, "NotClosed.md");
    assert_eq!((text(not_closed), not_closed.is_private), (Some("---\nprivate: true"), Some(true)));
    let losses = losses(&import);
    assert_eq!(losses.len(), 4, "{losses:#?}");
    assert!(losses[0].starts_with("Broken.md: the front matter cannot be read ("), "{losses:#?}");
    assert_eq!(losses[1], "Maybe.md: front matter \"private\" is not imported");
    assert_eq!(losses[2], "Open.md: a %% has no end: everything after it is in a private post");
    assert_eq!(losses[3], "NotClosed.md: the front matter has no end, so the note is private");
}

#[test]
fn many_keys_say_whether_a_note_is_private() {
    for (front_matter, expected) in [
        ("secret: true", Some(true)),
        ("Hidden: yes", Some(true)),
        ("dm: true", Some(true)),
        ("GM: on", Some(true)),
        ("publish: false", Some(true)),
        ("publish: true", Some(false)),
        ("secret: false", Some(false)),
        ("private: false\nsecret: true", Some(true)),
        ("secret: true\nprivate: false", Some(true)),
        ("gm: Alice", Some(true)),
        ("publish: later", Some(true)),
        ("secret:", None),
        ("tags: [secret]", None),
    ] {
        let import = import(&[("Inn.md", &format!("---\n{front_matter}\n---\nText"))]);
        assert_eq!(find(&import, "Inn.md").is_private, expected, "{front_matter}");
        let is_clear = losses(&import).is_empty();
        assert_eq!(is_clear, !["gm: Alice", "publish: later"].contains(&front_matter), "{front_matter}");
    }
}

#[test]
fn parents_that_lead_nowhere_or_in_circles_are_lost() {
    let import = import(&[
        ("A.md", "---\nparent: B\n---\n"),
        ("B.md", "---\nparent: '[[C]]'\n---\n"),
        ("C.md", "---\nparent: a\n---\n"),
        ("D.md", "---\nparent: D\n---\n"),
        ("E.md", "---\nparent: Nowhere\n---\n"),
        ("F.md", "---\nparent: A\n---\n"),
    ]);
    let parents: Vec<Option<&str>> = import.entities.iter().map(|entity| entity.parent.as_deref()).collect();
    assert_eq!(parents, [Some("B.md"), Some("C.md"), None, None, None, Some("A.md")]);
    let expected = [
        "C.md: the parent \"A.md\" lies below this entity",
        "D.md: the parent \"D.md\" lies below this entity",
        "E.md: the parent \"Nowhere\" is not in the import",
    ];
    assert_eq!(losses(&import), expected);
}

#[test]
fn a_folder_is_read_without_what_belongs_to_programs() {
    let folder = TemporaryFolder::new();
    folder.write("Inn.md", "\u{feff}---\r\ntags: [a]\r\n---\r\nLine\r\n\r\n![[map.PNG]] and ![x](art/d%20e.png)\r\n");
    folder.write(".obsidian/app.json", "{");
    folder.write(".trash/Old.md", "x");
    folder.write(".git/x.md", [0xff]);
    folder.write("Board.canvas", "{}");
    folder.write("Query.base", "x");
    folder.write("files/map.png", [0xff, 0xd8]);
    folder.write("art/d e.png", [0xff]);
    folder.write("art/unused.png", [0xff]);
    folder.write("sheet.json", [0xff]);
    folder.write("Map.excalidraw.md", "x");
    let import = read_import(folder.path(), &ReadLimits::default()).unwrap();
    assert_eq!(import.entities.len(), 1);
    assert_eq!(text(&import.entities[0]), Some("Line\r\n\r\n![[map.PNG]] and ![x](art/d%20e.png)"));
    assert_eq!(import.entities[0].tags, ["a"]);
    let expected = [
        "Map.excalidraw.md: a drawing is not imported",
        "art/unused.png: is not Markdown, and no note uses it",
        "sheet.json: is not Markdown, and no note uses it",
    ];
    assert_eq!(losses(&import), expected);
}

#[test]
fn a_folder_an_archive_of_it_and_a_file_are_the_same() {
    let folder = TemporaryFolder::new();
    let files = [("Vault/NPCs/Ann.md", "See [[Inn]]"), ("Vault/Inn.md", "x"), ("Vault/.obsidian/a.json", "{")];
    for (path, content) in files {
        folder.write(path, content);
    }
    folder.write("vault.zip", pack(&files));
    let limits = ReadLimits::default();
    let from_folder = read_import(&folder.path().join("Vault"), &limits).unwrap();
    let from_zip = read_import(&folder.path().join("vault.zip"), &limits).unwrap();
    assert_eq!(from_folder.entities, from_zip.entities);
    assert_eq!(from_zip.entities[1].source_id, "NPCs/Ann.md");
    let from_file = read_import(&folder.path().join("Vault/Inn.md"), &limits).unwrap();
    assert_eq!(from_file.entities, from_folder.entities[..1]);
}

#[test]
fn an_archive_of_one_known_folder_keeps_it() {
    let folder = TemporaryFolder::new();
    folder.write("x.zip", pack(&[("Characters/Ann.md", "x"), ("Characters/Bob.md", "x")]));
    let import = read_import(&folder.path().join("x.zip"), &ReadLimits::default()).unwrap();
    assert_eq!(import.entities[0].source_id, "Characters/Ann.md");
    assert_eq!(import.entities[0].entity_type, "character");
}

#[test]
fn texts_that_are_not_utf8_refuse_the_whole() {
    let refusal = |content: &[u8]| {
        let files = [source_file("Good.md", "x"), source_file("Bad.md", content)];
        import_files(&files).unwrap_err().to_string()
    };
    assert_eq!(refusal(b"\xff\xfeA\0"), "the text of \"Bad.md\" is UTF-16: save it as UTF-8");
    assert_eq!(refusal(b"\xfe\xff\0A"), "the text of \"Bad.md\" is UTF-16: save it as UTF-8");
    assert_eq!(refusal(b"A\0n\0n\0"), "the text of \"Bad.md\" is UTF-16: save it as UTF-8");
    assert_eq!(refusal(b"caf\xe9"), "the text of \"Bad.md\" is not UTF-8");
}

#[test]
fn without_lore_nothing_is_imported() {
    let folder = TemporaryFolder::new();
    folder.write("a.png", "x");
    folder.write("b.txt", "x");
    let limits = ReadLimits::default();
    assert!(matches!(read_import(folder.path(), &limits), Err(ImportError::UnknownFormat)));
    let error = read_import(&folder.path().join("b.txt"), &limits).unwrap_err();
    assert!(matches!(error, ImportError::UnsupportedFile { .. }), "{error}");
    let error = read_import(&folder.path().join("missing"), &limits).unwrap_err();
    assert!(matches!(error, ImportError::Unreadable { .. }), "{error}");
}

#[test]
fn long_lines_of_signs_take_no_time_of_their_square() {
    // Half a megabyte of each: where a reader looked at the rest of the line for every sign, this took minutes.
    for sign in ["#a", "`", "``` ", "%%", "[[", "](", "@UUID[", "<section ", "#", "%", "`a` "] {
        let text = sign.repeat((1 << 19) / sign.len());
        let import = import(&[("Signs.md", &text)]);
        assert_eq!(import.entities.len(), 1);
        let journal = serde_json::json!({"name": "Signs", "content": text}).to_string();
        assert_eq!(crate::import(&[("signs.json", &journal)]).entities.len(), 1);
    }
}
