//! Tests of `skald import` and `skald export`: what goes in comes out equal, a second time changes nothing, and what is
//! refused or not confirmed leaves nothing behind.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::program_under_test::{Server, Surface, TestClient, World};

const NOTES: usize = 500;
/// Of the notes every third is private.
const PRIVATE_NOTES: usize = 167;

/// A store with a running server, since the command line works beside one.
struct LoreWorld {
    client: TestClient,
    _server: Server,
    // Dropped last: the server has its file open.
    world: World,
}

impl LoreWorld {
    fn new() -> Self {
        let world = World::sqlite();
        let server = world.serve(&[]);
        let client = server.client(Surface::Rest);
        Self { client, _server: server, world }
    }

    fn create_campaign(&mut self, name: &str) -> String {
        let campaign = self.client.ok("campaign_create", &json!({"name": name, "gm_mode": "HUMAN"}));
        campaign["id"].as_str().expect("an id").to_owned()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.world.folder().join(name)
    }

    fn import(&self, path: &Path, campaign: &str, options: &[&str]) -> Output {
        let path = path.to_str().expect("a path");
        self.world.run(&[&["import", path, "--campaign", campaign], options].concat())
    }

    fn import_ok(&self, path: &Path, campaign: &str) -> String {
        let output = self.import(path, campaign, &["--yes"]);
        assert!(output.status.success(), "{output:?}");
        text(&output.stdout)
    }

    fn export(&self, name: &str, campaign: &str, options: &[&str]) -> Output {
        let folder = self.path(name);
        let folder = folder.to_str().expect("a path");
        self.world.run(&[&["export", folder, "--campaign", campaign], options].concat())
    }

    /// The files of an export by their paths, without the manifest.
    fn exported(&self, name: &str, campaign: &str, options: &[&str]) -> BTreeMap<String, String> {
        let output = self.export(name, campaign, options);
        assert!(output.status.success(), "{output:?}");
        let paths = manifest_paths(&self.path(name));
        paths.into_values().map(|path| (path.clone(), read(&self.path(name).join(path)))).collect()
    }

    /// One entity with its posts, by its name.
    fn entity(&mut self, campaign: &str, name: &str) -> Value {
        let input = json!({"campaign_id": campaign, "entity_ids": [name], "include_posts": true});
        let found = self.client.ok("get_entities", &input)["results"][0].clone();
        assert_eq!(found["success"], true, "{found}");
        found
    }

    /// Whether the campaign has no lore.
    fn is_empty(&mut self, campaign: &str) -> bool {
        let found = self.client.ok("find_entities", &json!({"campaign_id": campaign}));
        found["entities"].as_array().expect("entities").is_empty()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn write(path: &Path, content: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, content).expect("a file");
}

/// The paths of an export's files by the ids of their entities.
fn manifest_paths(folder: &Path) -> BTreeMap<String, String> {
    let manifest: Value = serde_json::from_str(&read(&folder.join("skald.json"))).expect("JSON");
    let entities = manifest["entities"].as_object().expect("entities");
    entities.iter().map(|(id, path)| (id.clone(), path.as_str().expect("a path").to_owned())).collect()
}

fn note_path(number: usize) -> String {
    let folders = ["NPCs/", "Places/Towns/", "Factions/", "Sessions/", "Items/", ""];
    format!("{}Note {number}.md", folders[number % folders.len()])
}

fn note_text(number: usize) -> String {
    let parent = if number > 10 { format!("parent: '[[Note {}]]'\n", number / 2) } else { String::new() };
    let lines = [
        format!(
            "---\ntags: [t{}, shared]\naliases: ['Alias {number}']\nprivate: {}\n{parent}---",
            number % 13,
            number.is_multiple_of(3)
        ),
        format!("# Note {number}"),
        format!(
            "See [[Note {}]], [[Alias {}|that]] and #inline/{}.",
            number * 31 % NOTES,
            number * 7 % NOTES,
            number % 5
        ),
        "---".to_owned(),
        format!("%%Secret of {number}%%"),
        "<!-- skald:post {} -->".to_owned(),
        "| a | b |\n|---|---|\n| [[Note 1\\|x]] | `[[Note 2]]` |".to_owned(),
    ];
    lines.join("\n").replace('\n', if number.is_multiple_of(7) { "\r\n" } else { "\n" })
}

fn write_vault(folder: &Path) {
    for number in 0..NOTES {
        write(&folder.join(note_path(number)), note_text(number));
    }
}

/// An export without what is different in every campaign: ids become paths, and moments are left out.
fn without_ids(folder: &Path, files: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let paths = manifest_paths(folder);
    let normalize = |content: &String| {
        let is_same_everywhere =
            |line: &&str| !["entity_id: ", "created_at: ", "updated_at: "].iter().any(|field| line.starts_with(field));
        let lines = content.split_inclusive('\n').filter(is_same_everywhere).map(|line| {
            let post = line.strip_prefix("<!-- skald:post {\"post_id\":").and_then(|post| post.split_once(','));
            post.map_or(line.to_owned(), |(_, post)| format!("<!-- skald:post {{{post}"))
        });
        let content: String = lines.collect();
        let mut parts = content.split("[entity:");
        let mut normalized = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let rest = part.trim_start_matches(|letter: char| letter.is_ascii_digit());
            let id = &part[..part.len() - rest.len()];
            normalized.extend(["[entity:", &paths[id], rest]);
        }
        normalized
    };
    files.iter().map(|(path, content)| (path.clone(), normalize(content))).collect()
}

fn pack(files: &[(&str, String)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        writer.start_file(*name, SimpleFileOptions::default()).expect("a file in an archive");
        writer.write_all(content.as_bytes()).expect("content");
    }
    writer.finish().expect("an archive").into_inner()
}

#[test]
fn a_vault_goes_through_two_campaigns_and_comes_out_equal() {
    let mut world = LoreWorld::new();
    let (first, second) = (world.create_campaign("First"), world.create_campaign("Second"));
    let vault = world.path("vault");
    write_vault(&vault);

    // A campaign is named by its name as well.
    let imported = world.import_ok(&vault, "first");
    assert!(imported.starts_with(&format!("Markdown files, {NOTES} entities: ")), "{imported}");
    assert!(imported.contains("500 created, 0 updated, 0 unchanged, 500 posts"), "{imported}");
    assert!(!imported.contains("not taken over") && !imported.contains("lead to nothing"), "{imported}");
    let note = world.entity(&first, "Note 12");
    assert_eq!(
        (&note["type"], &note["is_private"], &note["parent"]["name"]),
        (&json!("NPC"), &json!(true), &json!("Note 6"))
    );
    assert_eq!(note["tags"], json!(["t12", "shared", "inline/2"]));
    let names: Vec<&str> =
        note["mentions"].as_array().expect("mentions").iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(["Note 372", "Note 84", "Note 1"].iter().all(|name| names.contains(name)), "{note}");
    assert!(note["entry"].as_str().expect("a text").contains("`[[Note 2]]`"), "code stays: {note}");
    let post = &note["posts"][0];
    assert_eq!((&post["name"], &post["is_private"]), (&json!("Hidden"), &json!(true)));
    assert!(post["entry"].as_str().expect("a text").contains("Secret of 12"), "{post}");

    let files = world.exported("one", &first, &[]);
    assert_eq!(files.len(), NOTES);
    let again = world.import_ok(&world.path("one"), &second);
    assert!(again.contains("500 created, 0 updated, 0 unchanged, 500 posts"), "{again}");
    assert!(!again.contains("not taken over") && !again.contains("lead to nothing"), "{again}");
    let copied = world.exported("two", &second, &[]);
    let (left, right) = (without_ids(&world.path("one"), &files), without_ids(&world.path("two"), &copied));
    for (path, content) in &left {
        assert_eq!(Some(content), right.get(path), "{path}");
    }
    assert_eq!(left.len(), right.len());

    for (source, campaign) in [(&vault, &first), (&world.path("one"), &second)] {
        let unchanged = world.import_ok(source, campaign);
        assert!(unchanged.contains("0 to create, 0 to update, 500 unchanged, 0 posts"), "{unchanged}");
        assert!(unchanged.contains("There is nothing to import."), "{unchanged}");
    }
    assert_eq!(world.exported("one", &first, &[]), files, "nothing has changed");
    let verified = world.world.run(&["verify"]);
    assert!(verified.status.success(), "{verified:?}");
}

#[test]
fn a_changed_note_updates_one_entity() {
    let mut world = LoreWorld::new();
    let campaign = world.create_campaign("Bells");
    let vault = world.path("vault");
    write(&vault.join("Places/Inn.md"), "---\nparent: '[[Town]]'\n---\nAn inn.\n\n%%A trap door.%%");
    write(&vault.join("Places/Town.md"), "A town with [[Nowhere]].");
    write(&vault.join("People/Ann.md"), "Lives in the [[Inn]].");
    let imported = world.import_ok(&vault, &campaign);
    assert!(imported.contains("3 created, 0 updated, 0 unchanged, 1 posts"), "{imported}");
    assert!(imported.contains("lead to nothing here: 1\n  Places/Town.md: [[Nowhere]]\n"), "{imported}");
    let before = world.entity(&campaign, "Inn");
    assert_eq!(before["parent"]["name"], "Town");

    // The two change places, which must not look like a circle.
    write(&vault.join("Places/Inn.md"), "---\nprivate: true\n---\nA burnt inn.");
    write(&vault.join("Places/Town.md"), "---\nparent: '[[Inn]]'\n---\nA town with [[Nowhere]].");
    let imported = world.import_ok(&vault, &campaign);
    assert!(imported.contains("0 created, 2 updated, 1 unchanged, 0 posts"), "{imported}");
    assert!(imported.contains("the post \"Hidden\" is not in the source, and stays"), "{imported}");
    let inn = world.entity(&campaign, "Inn");
    assert_eq!(
        (&inn["entity_id"], &inn["entry"], &inn["is_private"]),
        (&before["entity_id"], &json!("A burnt inn."), &json!(true))
    );
    assert_eq!((&inn["parent"], inn["posts"].as_array().map(Vec::len)), (&Value::Null, Some(1)));
    assert_eq!(world.entity(&campaign, "Town")["parent"]["name"], "Inn");
    assert_eq!(world.entity(&campaign, "Ann")["entry"], format!("Lives in the [entity:{}].", inn["entity_id"]));

    // What was deleted here does not come back by itself.
    world.client.ok("delete_entities", &json!({"campaign_id": campaign, "entity_ids": ["Ann"]}));
    write(&vault.join("People/Ann.md"), "Is back.");
    let imported = text(&world.import(&vault, &campaign, &["--dry-run"]).stdout);
    assert!(imported.contains("0 to create, 0 to update, 2 unchanged"), "{imported}");
    assert!(imported.contains("People/Ann.md: is in the archive as entity"), "{imported}");
}

/// The second of two vaults with files of the same names overwrote what came from the first.
#[test]
fn two_vaults_do_not_overwrite_each_other() {
    let mut world = LoreWorld::new();
    let campaign = world.create_campaign("Bells");
    let (north, south) = (world.path("north"), world.path("south"));
    write(&north.join("People/Ann.md"), "Of the north.");
    write(&south.join("People/Ann.md"), "Of the south.");
    for vault in [&north, &south] {
        let imported = world.import_ok(vault, &campaign);
        assert!(imported.contains("1 created, 0 updated, 0 unchanged"), "{imported}");
    }
    let found = world.client.ok("find_entities", &json!({"campaign_id": campaign, "name": "Ann"}));
    let entries: Vec<&str> =
        found["entities"].as_array().expect("entities").iter().filter_map(|ann| ann["entry"].as_str()).collect();
    assert_eq!(entries, ["Of the north.", "Of the south."]);
    // A folder that was renamed is the same source if it is named so.
    let moved = world.path("elsewhere");
    fs::rename(&north, &moved).expect("the folder is renamed");
    let again = world.import(&moved, &campaign, &["--yes", "--source-name", "north"]);
    assert!(text(&again.stdout).contains("0 to create, 0 to update, 1 unchanged"), "{again:?}");
}

/// A link stayed a link by name for ever if its target came with a later import.
#[test]
fn a_link_in_an_unchanged_note_leads_to_a_note_that_comes_later() {
    let mut world = LoreWorld::new();
    let campaign = world.create_campaign("Bells");
    let vault = world.path("vault");
    write(&vault.join("Ann.md"), "Lives in the [[Inn]]. %%Owns the [[Inn]].%%");
    write(&vault.join("Ben.md"), "Knows nobody.");
    world.import_ok(&vault, &campaign);
    // What somebody wrote here meanwhile stays.
    let update = json!({"entity_id": "Ann", "entry_append": "She is old."});
    world.client.ok("update_entities", &json!({"campaign_id": campaign, "updates": [update]}));
    write(&vault.join("Inn.md"), "An inn.");
    let imported = world.import_ok(&vault, &campaign);
    assert!(imported.contains("1 created, 1 updated, 1 unchanged"), "{imported}");
    let inn = world.entity(&campaign, "Inn")["entity_id"].clone();
    let ann = world.entity(&campaign, "Ann");
    let entry = ann["entry"].as_str().expect("a text");
    assert!(entry.contains(&format!("Lives in the [entity:{inn}].")) && entry.contains("She is old."), "{entry}");
    assert!(ann["posts"][0]["entry"].as_str().expect("a text").contains(&format!("[entity:{inn}]")), "{ann}");
    let unchanged = world.import_ok(&vault, &campaign);
    assert!(unchanged.contains("0 to create, 0 to update, 3 unchanged"), "{unchanged}");
}

#[test]
fn what_is_not_confirmed_is_not_written() {
    let mut world = LoreWorld::new();
    let campaign = world.create_campaign("Bells");
    let vault = world.path("vault");
    write(&vault.join("Inn.md"), "An inn.");
    write(&vault.join("Places/Pier.md"), "A pier.");
    let dry = world.import(&vault, &campaign, &["--dry-run"]);
    assert!(dry.status.success(), "{dry:?}");
    let said = text(&dry.stdout);
    assert!(said.contains("2 to create, 0 to update, 0 unchanged, 0 posts") && said.contains("dry run"), "{said}");
    assert!(said.contains("\n1 entries that players will see\n"), "a note is private by default: {said}");
    let unconfirmed = world.import(&vault, &campaign, &[]);
    assert!(!unconfirmed.status.success(), "nobody can be asked: {unconfirmed:?}");
    assert!(text(&unconfirmed.stdout).contains("2 to create"), "{unconfirmed:?}");
    assert!(text(&unconfirmed.stderr).contains("--yes"), "{unconfirmed:?}");
    assert!(world.is_empty(&campaign));
    for options in [&["import", vault.to_str().expect("a path"), "--yes"][..], &["export", "x"]] {
        for named in [&["--campaign", "Nobody's"][..], &[]] {
            let refused = world.world.run(&[options, named].concat());
            assert!(!refused.status.success(), "{refused:?}");
            assert!(text(&refused.stderr).contains(&format!("there is: Bells ({campaign})")), "{refused:?}");
        }
    }
}

#[test]
fn a_hostile_archive_is_refused_whole() {
    let mut world = LoreWorld::new();
    let campaign = world.create_campaign("Bells");
    let name = "../evil.md";
    let placeholder = "N".repeat(name.len());
    let mut archive = pack(&[("Good.md", "Good.".to_owned()), (placeholder.as_str(), "Evil.".to_owned())]);
    for at in 0..archive.len() - name.len() {
        if archive[at..].starts_with(placeholder.as_bytes()) {
            archive[at..at + name.len()].copy_from_slice(name.as_bytes());
        }
    }
    let path = world.path("vault.zip");
    write(&path, archive);
    let refused = world.import(&path, &campaign, &["--yes"]);
    assert!(!refused.status.success(), "{refused:?}");
    let said = text(&refused.stderr);
    assert!(said.contains(r#"nothing was imported: "../evil.md" leaves the folder"#), "{said}");
    assert!(world.is_empty(&campaign));
    assert!(!world.path("evil.md").exists());
}

#[test]
fn journals_of_foundry_are_imported() {
    let mut world = LoreWorld::new();
    let campaign = world.create_campaign("Bells");
    let page = |id: &str, content: &str, ownership: i64| json!({"_id": id, "name": id, "type": "text", "text": {"content": content, "format": 1}, "ownership": {"default": ownership}});
    let journals = json!([
        {"_id": "inn0000000000000", "name": "The Inn", "ownership": {"default": 2}, "pages": [
            page("Front", "<p>Ask @UUID[JournalEntry.ann0000000000000]{Ann}.</p>\
                <section class=\"secret\"><p>It burns.</p></section>", -1),
            page("Plans", "<p>For me.</p>", 0),
        ]},
        {"_id": "ann0000000000000", "name": "Ann", "ownership": {"default": 0}, "pages": [page("Text", "<p>A <b>spy</b>.</p>", -1)]},
    ]);
    let path = world.path("journals.json");
    write(&path, journals.to_string());
    let imported = world.import_ok(&path, &campaign);
    assert!(imported.contains("journals of Foundry, 2 entities: note 2"), "{imported}");
    assert!(imported.contains("2 created, 0 updated, 0 unchanged, 2 posts"), "{imported}");
    let (inn, ann) = (world.entity(&campaign, "The Inn"), world.entity(&campaign, "Ann"));
    let entry = |entity: &Value| entity["entry"].as_str().expect("a text").trim().to_owned();
    assert_eq!(entry(&inn), format!("Ask [entity:{}|Ann].", ann["entity_id"]));
    assert_eq!((entry(&ann), &ann["is_private"]), ("A **spy**.".to_owned(), &json!(true)));
    let posts = inn["posts"].as_array().expect("posts").iter();
    let posts: Vec<_> = posts.map(|post| (post["name"].as_str(), post["is_private"].as_bool())).collect();
    assert_eq!(posts, [(Some("Secret"), Some(true)), (Some("Plans"), Some(true))]);
    let again = world.import_ok(&path, &campaign);
    assert!(again.contains("0 to create, 0 to update, 2 unchanged, 0 posts"), "{again}");
}

#[test]
fn an_export_of_kanka_is_imported() {
    let mut world = LoreWorld::new();
    let campaign = world.create_campaign("Bells");
    let ann = json!({"id": 7, "name": "Ann", "title": "Dame", "entity": {
        "id": 12, "entity_id": 7, "name": "Ann", "type": "NPC", "is_private": 0, "entityTags": [{"tag_id": 3}],
        "entry": "<p>Loves [location:30|the inn] and [character:99].</p>",
        "posts": [
            {"id": 50, "name": "Past", "entry": "<p>A <em>spy</em> of [location:31].</p>", "visibility_id": 2, "position": 1},
            {"id": 51, "name": "Past", "entry": "<p>Young.</p>", "visibility_id": 1, "position": 2},
        ],
        "assets": [{"type_id": 3, "name": "The Red"}],
    }});
    let inn = json!({"id": 2, "name": "Inn", "entity": {"id": 30, "entity_id": 2, "parent_id": 31, "name": "Inn"}});
    let town = json!({"id": 1, "name": "Town", "entity": {"id": 31, "entity_id": 1, "name": "Town"}});
    let tag = json!({"id": 3, "name": "Spy", "entity": {"id": 40, "entity_id": 3, "name": "Spy"}});
    let archive = pack(&[
        ("info.json", json!({"kanka_version": "3.13"}).to_string()),
        ("campaign.json", json!({"id": 1, "name": "Test"}).to_string()),
        ("characters/ann_12.json", ann.to_string()),
        ("locations/inn_30.json", inn.to_string()),
        ("locations/town_31.json", town.to_string()),
        ("tags/spy_40.json", tag.to_string()),
    ]);
    let path = world.path("kanka.zip");
    write(&path, archive);
    let imported = world.import_ok(&path, &campaign);
    assert!(imported.contains("an export of Kanka, 3 entities: character 1, location 2\n"), "{imported}");
    assert!(imported.contains("not taken over: 1\n  characters/ann_12.json: not imported: title\n"), "{imported}");
    assert!(imported.contains("  kanka:12: [character:99]\n"), "{imported}");
    assert!(imported.contains("3 created, 0 updated, 0 unchanged, 2 posts"), "{imported}");
    let (inn, town) = (world.entity(&campaign, "Inn"), world.entity(&campaign, "Town"));
    assert_eq!(inn["parent"]["name"], "Town");
    let ann = world.entity(&campaign, "The Red");
    assert_eq!((&ann["name"], &ann["type"], &ann["tags"]), (&json!("Ann"), &json!("NPC"), &json!(["Spy"])));
    let entry = ann["entry"].as_str().expect("a text").trim();
    assert_eq!(entry, format!("Loves [location:{}|the inn] and character:99.", inn["entity_id"]));
    let posts = ann["posts"].as_array().expect("posts").iter();
    let posts: Vec<_> = posts
        .map(|post| {
            (post["name"].as_str(), post["is_private"].as_bool(), post["entry"].as_str().unwrap_or_default().trim())
        })
        .collect();
    let past = format!("A *spy* of [location:{}].", town["entity_id"]);
    assert_eq!(posts, [(Some("Past"), Some(true), past.as_str()), (Some("Past"), Some(false), "Young.")]);
}

#[test]
fn players_get_nothing_private() {
    let mut world = LoreWorld::new();
    let campaign = world.create_campaign("Bells");
    let vault = world.path("vault");
    write_vault(&vault);
    world.import_ok(&vault, &campaign);
    // The folder has the game master's export first: what is private must not stay in it.
    assert_eq!(world.exported("shared", &campaign, &[]).len(), NOTES);
    let files = world.exported("shared", &campaign, &["--as-player"]);
    assert_eq!(files.len(), NOTES - PRIVATE_NOTES);
    assert!(files.values().all(|content| !content.contains("Secret of") && content.contains("is_private: false\n")));
    let there: usize = fs::read_dir(world.path("shared"))
        .expect("a folder")
        .filter_map(|entry| fs::read_dir(entry.expect("an entry").path()).ok())
        .map(Iterator::count)
        .sum();
    assert_eq!(there, files.len(), "earlier files are removed");
}

#[test]
fn an_export_replaces_only_what_an_export_wrote() {
    let mut world = LoreWorld::new();
    let campaign = world.create_campaign("Bells");
    let vault = world.path("vault");
    write(&vault.join("Places/Inn.md"), "An inn.");
    world.import_ok(&vault, &campaign);
    let refused = world.export("vault", &campaign, &[]);
    assert!(!refused.status.success() && text(&refused.stderr).contains("is not empty"), "{refused:?}");
    let folder = world.path("out");
    let path = "Locations/Inn.md";
    assert!(world.exported("out", &campaign, &[]).contains_key(path));
    write(&folder.join("Locations/My own.md"), "mine");
    write(&folder.join(path), "changed by hand");
    assert!(world.exported("out", &campaign, &[])[path].contains("An inn."));
    assert_eq!(read(&folder.join("Locations/My own.md")), "mine");
    write(&vault.join("Places/My own.md"), "The vault's.");
    world.import_ok(&vault, &campaign);
    let refused = world.export("out", &campaign, &[]);
    assert!(!refused.status.success() && text(&refused.stderr).contains("is in the way"), "{refused:?}");
    assert_eq!(read(&folder.join("Locations/My own.md")), "mine");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&folder.join("Locations"))), (0o700, 0o700));
        assert_eq!((mode(&folder.join("skald.json")), mode(&folder.join(path))), (0o600, 0o600));
        fs::remove_dir_all(folder.join("Locations")).expect("removed");
        std::os::unix::fs::symlink(&vault, folder.join("Locations")).expect("a link");
        let refused = world.export("out", &campaign, &[]);
        assert!(!refused.status.success() && text(&refused.stderr).contains("is a link"), "{refused:?}");
    }
}
