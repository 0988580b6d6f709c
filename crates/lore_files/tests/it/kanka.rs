//! Exports of Kanka, of today and of older versions.

use std::io::Cursor;

use serde_json::{Value, json};
use skald_lore_files::{Import, ImportError, ImportFormat, ReadLimits, import_files, read_zip};

use crate::{find, losses, pack, posts, text};

/// Packs these documents with what every export has, and imports the archive.
fn import(documents: &[(&str, Value)]) -> Import {
    let mut files = vec![
        ("info.json", json!({"kanka_version": "3.13", "export_version": "3.13", "started": "2026-08-20"}).to_string()),
        ("campaign.json", json!({"id": 1, "name": "Test"}).to_string()),
        ("settings/modules.json", "{}".to_owned()),
    ];
    files.extend(documents.iter().map(|(path, document)| (*path, document.to_string())));
    import_files(&read_zip(Cursor::new(pack(&files)), &ReadLimits::default()).unwrap()).unwrap()
}

#[test]
fn an_export_of_today_is_read() {
    let ann = json!({
        "id": 7, "name": "Ann", "is_private": false, "created_at": "2025-01-01T00:00:00.000000Z",
        "updated_at": "2025-02-01T00:00:00.000000Z", "title": "Dame", "age": "30", "sex": null,
        "characterTraits": [{"name": "Goals", "entry": "x"}],
        "entity": {
            "id": 12, "entity_id": 7, "parent_id": null, "type_id": 1, "name": "Ann", "type": "NPC",
            "entry": "<p>Loves [location:30|the inn].</p>", "is_private": 1, "tooltip": "", "is_template": 0,
            "created_by": 1, "image_uuid": "abc-1", "entityTags": [{"tag_id": 3}, {"tag_id": 99}],
            "posts": [
                {"id": 51, "name": "Later", "entry": "<p>b</p>", "visibility_id": 2, "position": 2},
                {"id": 50, "name": "First", "entry": "<p>a</p>", "visibility_id": 1, "position": 1},
                {"id": 52, "name": "Self", "entry": "<p>c</p>", "visibility_id": 4, "position": 3},
            ],
            "assets": [{"type_id": 3, "name": "The Red"}, {"type_id": 1, "name": "file"}, {"type_id": 2, "name": "link"}],
            "relationships": [{"target_id": 30, "relation": "guest"}], "entityAttributes": [{"name": "HP"}, {"name": "AC"}],
            "reminders": [{"id": 1}], "entityLocations": [{"location_id": 2}], "mentions": [{"target_id": 30}],
        },
    });
    let inn = json!({"id": 2, "name": "Inn", "entity": {"id": 30, "entity_id": 2, "parent_id": 31, "name": "Inn", "type": "Tavern"}});
    let town = json!({"id": 1, "name": "Town", "entity": {"id": 31, "entity_id": 1, "name": "Town", "entry": null, "events": [{}]}});
    let tag = json!({"id": 3, "name": "Spy", "colour": "red", "entity": {"id": 40, "entity_id": 3, "name": "Spy", "entry": ""}});
    let told_tag = json!({"id": 4, "name": "Guild", "entity": {"id": 41, "entity_id": 4, "entry": "<p>About it</p>"}});
    let family =
        json!({"id": 1, "name": "Reds", "entity": {"id": 60, "entity_id": 1, "name": "Reds", "type": "Noble"}});
    let map = json!({"id": 1, "name": "Chart", "entity": {"id": 61, "entity_id": 1, "name": "Chart"}});
    let journal = json!({"id": 1, "name": "One", "date": "2025-05-30", "author_id": 12, "entity": {"id": 62, "entity_id": 1, "name": "One"}});
    let ship = json!({"entity": {"id": 70, "name": "Gull", "type": "Brig", "entry": "<p>x</p>"}});
    let import = import(&[
        ("characters/ann_12.json", ann),
        ("locations/inn_30.json", inn),
        ("locations/_31.json", town),
        ("tags/spy_40.json", tag),
        ("tags/guild_41.json", told_tag),
        ("families/reds_60.json", family),
        ("maps/chart_61.json", map),
        ("journals/one_62.json", journal),
        ("ships_9/gull_70.json", ship),
        ("settings/custom-modules.json", json!([{"id": 9, "code": "ship", "singular": "Ship", "plural": "Ships"}])),
        ("gallery/abc-1.json", json!({"id": "abc-1"})),
        ("gallery/abc-1.jpg", json!("not read")),
    ]);
    assert_eq!(import.format, ImportFormat::Kanka);
    let ann = find(&import, "kanka:12");
    assert_eq!((ann.entity_type, ann.subtype.as_str(), ann.name.as_str()), ("character", "NPC", "Ann"));
    assert_eq!(ann.is_private, Some(true));
    assert_eq!(text(ann), Some("<p>Loves [location:30|the inn].</p>"));
    assert_eq!(posts(ann), [("First", "<p>a</p>", false), ("Later", "<p>b</p>", true), ("Self", "<p>c</p>", true)]);
    assert_eq!(ann.posts[0].source_id, "kanka:post:50");
    assert_eq!((ann.tags.as_slice(), ann.aliases.as_slice()), (&["Spy".to_owned()][..], &["The Red".to_owned()][..]));
    assert_eq!(ann.image.as_deref(), Some("gallery/abc-1.jpg"));
    assert_eq!(ann.updated_at.as_deref(), Some("2025-02-01T00:00:00.000000Z"));
    assert_eq!(find(&import, "kanka:30").parent.as_deref(), Some("kanka:31"));
    assert_eq!(find(&import, "kanka:31").name, "Town");
    let kind = |id| (find(&import, id).entity_type, find(&import, id).subtype.as_str());
    assert_eq!(kind("kanka:41"), ("other", "Tag"));
    assert_eq!(kind("kanka:60"), ("other", "Family: Noble"));
    assert_eq!(kind("kanka:61"), ("other", "Map"));
    assert_eq!(kind("kanka:70"), ("other", "Ship: Brig"));
    assert_eq!(find(&import, "kanka:62").date.as_deref(), Some("2025-05-30"));
    assert_eq!(import.entities.len(), 8);
    assert_eq!(import.mention_target(30), Some("kanka:30"));
    assert_eq!(import.mention_target(40), None, "a tag without a text is no entity");
    let expected = [
        "characters/ann_12.json: not imported: 1 relations, 2 attributes, 1 reminders, 1 locations, title, age, 1 traits, \
         1 tags that are not in the export, 2 files or links",
        "journals/one_62.json: not imported: author_id",
        "locations/_31.json: not imported: 1 reminders",
        "gallery: 1 files are not copied",
    ];
    assert_eq!(losses(&import), expected);
}

/// An alias of its own visibility, often a secret identity, became an alias that players find; so did a private tag.
#[test]
fn hidden_aliases_and_private_tags_do_not_become_public() {
    let assets = json!([
        {"type_id": 3, "name": "The Red"}, {"type_id": 3, "name": "Ruane", "visibility_id": 1},
        {"type_id": 3, "name": "Night Queen", "visibility_id": 2}, {"type_id": 3, "name": "Own", "visibility_id": "4"},
        {"type_id": 3, "name": "Members'", "visibility_id": 5}, {"type_id": 3, "name": "Older", "visibility": "admin"},
        {"type_id": 3, "name": "Odd", "visibility_id": "all?"}, {"type_id": 3, "name": "night queen", "visibility_id": 3},
    ]);
    let person = |id: u64, is_private: bool| {
        json!({"id": id, "name": "Ann", "is_private": is_private, "entity": {
            "id": id, "entity_id": id, "name": "Ann", "assets": assets, "entityTags": [{"tag_id": 3}, {"tag_id": 4}]
        }})
    };
    let tag = |id: u64, name: &str, is_private: bool| json!({"id": id, "name": name, "entity": {"id": id + 40, "entity_id": id, "name": name, "is_private": is_private}});
    let import = import(&[
        ("characters/ann_12.json", person(12, false)),
        ("characters/ann_13.json", person(13, true)),
        ("tags/coast_43.json", tag(3, "Coast", false)),
        ("tags/traitor_44.json", tag(4, "Traitor", true)),
    ]);
    for (source_id, tags) in [("kanka:12", &["Coast"][..]), ("kanka:13", &["Coast", "Traitor"])] {
        let ann = find(&import, source_id);
        assert_eq!(
            (ann.aliases.as_slice(), ann.tags.as_slice()),
            (
                &["The Red", "Ruane"].map(str::to_owned)[..],
                &tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>()[..]
            )
        );
        assert_eq!(posts(ann), [("Hidden aliases", "- Night Queen\n- Own\n- Members'\n- Older\n- Odd\n", true)]);
    }
    let hidden = "5 aliases are hidden: they become the private post \"Hidden aliases\"";
    let expected = [
        format!("characters/ann_12.json: {hidden}"),
        "characters/ann_12.json: not imported: 1 private tags of a public entity (Traitor)".to_owned(),
        format!("characters/ann_13.json: {hidden}"),
    ];
    assert_eq!(losses(&import), expected);
    assert_eq!(import.link_target("kanka:13", "Night Queen"), None);
}

#[test]
fn an_older_export_is_read() {
    let hall = json!({
        "id": 5, "entity_id": 21, "name": "Hall", "type": "Room", "entry": "<p>old</p>", "is_private": true, "location_id": 4,
        "is_dead": false, "slug": "hall", "campaign_id": 1, "tags": [3],
        "entity": {"id": 21, "entity_id": 5, "name": "Hall", "is_private": false, "entityNotes": [
            {"id": 1, "name": "GM", "entry": "x", "visibility": "admin"},
            {"id": 2, "name": "All", "entry": "y", "visibility": "all"},
            {"id": 3, "name": "Hidden", "entry": "z", "is_private": 1},
        ]},
    });
    let keep = json!({"id": "4", "name": "Keep", "entity": {"id": "20", "name": "Keep"}, "is_private": "0"});
    let quest = json!({"id": 1, "name": "Find it", "is_completed": 1, "character_id": 9, "entity": {"id": 22}});
    let code_module = json!({"entity": {"id": 23, "name": "Thing"}});
    let import = import(&[
        ("locations/hall.json", hall),
        ("locations/keep.json", keep),
        ("quests/find-it.json", quest),
        ("vehicle_7/thing_23.json", code_module),
        ("tags/old.json", json!({"id": 3, "name": "Old", "entity": {"id": 24}})),
        ("dice_rolls/x_1.json", json!({"entity": {"id": 25}})),
        ("notes/bare_26.json", json!({"name": "Bare"})),
    ]);
    let hall = find(&import, "kanka:21");
    assert_eq!((hall.subtype.as_str(), text(hall), hall.is_private), ("Room", Some("<p>old</p>"), Some(true)));
    assert_eq!(hall.parent.as_deref(), Some("kanka:20"));
    assert_eq!(hall.tags, ["Old"]);
    assert_eq!(posts(hall), [("GM", "x", true), ("All", "y", false), ("Hidden", "z", true)]);
    assert_eq!(find(&import, "kanka:20").is_private, Some(false));
    assert_eq!(find(&import, "kanka:22").name, "Find it");
    assert_eq!(find(&import, "kanka:26").name, "Bare");
    let losses = losses(&import);
    assert_eq!(losses.len(), 2, "{losses:#?}");
    assert!(
        losses.contains(&"quests/find-it.json: not imported: is_completed, character_id".to_owned()),
        "{losses:#?}"
    );
    // `rolls_1` would be a module, `dice_rolls` is not.
    assert!(losses.contains(&"dice_rolls/x_1.json: is no entity that can be imported".to_owned()), "{losses:#?}");
    assert!(losses.iter().all(|loss| !loss.starts_with("locations")), "{losses:#?}");
}

#[test]
fn a_changed_entity_has_another_hash() {
    let hash = |entry: &str, tag: &str| {
        let note = json!({"id": 1, "name": "A", "entity": {"id": 1, "entry": entry, "entityTags": [{"tag_id": 3}]}});
        let import =
            import(&[("notes/a_1.json", note), ("tags/t_2.json", json!({"id": 3, "name": tag, "entity": {"id": 2}}))]);
        find(&import, "kanka:1").source_hash.clone()
    };
    assert_eq!(hash("x", "t"), hash("x", "t"));
    assert_ne!(hash("x", "t"), hash("y", "t"));
    assert_ne!(hash("x", "t"), hash("x", "u"));
}

#[test]
fn json_that_cannot_be_read_refuses_the_whole() {
    let files = [
        crate::source_file("info.json", r#"{"kanka_version": "3"}"#),
        crate::source_file("notes/good_1.json", r#"{"entity": {"id": 1, "name": "x"}}"#),
        crate::source_file("notes/bad_2.json", "{"),
    ];
    let error = import_files(&files).unwrap_err();
    assert!(matches!(&error, ImportError::InvalidJson { entry, .. } if entry == "notes/bad_2.json"), "{error}");
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let files = [files[0].clone(), crate::source_file("notes/deep_3.json", deep)];
    assert!(matches!(import_files(&files), Err(ImportError::InvalidJson { .. })));
}

#[test]
fn documents_of_any_shape_bring_nothing_down() {
    let shapes = [
        json!(null),
        json!([]),
        json!("x"),
        json!(5),
        json!({"entity": []}),
        json!({"entity": {"id": -1, "posts": "x"}}),
    ];
    for shape in shapes {
        let import = import(&[("notes/x_1.json", shape.clone()), ("settings/custom-modules.json", shape)]);
        assert!(import.entities.len() <= 1);
    }
}
