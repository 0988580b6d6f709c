//! Tests of imports and exports: what is hidden in a source stays hidden, links lead to what is there already, and an
//! export comes back with its original HTML and its actors.

use serde_json::{Value, json};
use skald_app::{Caller, CampaignRole, ImportOptions, ImportReport};
use skald_lore_files::{ExportedEntity, Import, SourceFile, import_files, write_export};

use super::{LoreCampaign, names};
use crate::universe::run;

fn source_file(path: &str, content: &dyn ToString) -> SourceFile {
    SourceFile { path: path.to_owned(), content: Some(content.to_string().into_bytes()) }
}

fn kanka(documents: &[(&str, Value)]) -> Import {
    let mut files = vec![source_file("info.json", &json!({"kanka_version": "3.13"}))];
    files.extend(documents.iter().map(|(path, document)| source_file(path, document)));
    import_files(&files).expect("an export of Kanka")
}

/// An import of a folder of this name.
fn named_import(name: &str, files: &[SourceFile]) -> Import {
    let mut import = import_files(files).expect("an import");
    name.clone_into(&mut import.source_name);
    import
}

/// A folder of Markdown files.
fn vault(name: &str, notes: &[(&str, &str)]) -> Import {
    let files: Vec<SourceFile> = notes.iter().map(|(path, content)| source_file(path, content)).collect();
    named_import(name, &files)
}

async fn import_into(lore: &LoreCampaign, campaign_id: &str, import: &Import, dry_run: bool) -> ImportReport {
    import_with(lore, campaign_id, import, ImportOptions { dry_run, overwrite: false }).await
}

async fn import_with(lore: &LoreCampaign, campaign_id: &str, import: &Import, options: ImportOptions) -> ImportReport {
    let app = lore.engine.app();
    let imported = app.import_lore(&Caller::owner(), campaign_id, import, options, &mut |_, _| {}).await;
    imported.unwrap_or_else(|fault| panic!("{fault}"))
}

fn losses(report: &ImportReport) -> Vec<String> {
    report.losses.iter().map(|loss| format!("{}: {}", loss.source, loss.what)).collect()
}

#[test]
fn hidden_aliases_and_private_tags_of_kanka_never_reach_a_player() {
    run(async {
        let lore = LoreCampaign::new().await;
        let assets = json!([
            {"type_id": 3, "name": "The Red", "visibility_id": 1}, {"type_id": 3, "name": "Night Queen", "visibility_id": 2}
        ]);
        let ann = json!({"id": 12, "name": "Ann", "entity": {
            "id": 12, "name": "Ann", "entry": "<p>A guest.</p>", "assets": assets, "entityTags": [{"tag_id": 3}, {"tag_id": 4}]
        }});
        let ben = json!({"id": 13, "name": "Ben", "entity": {
            "id": 13, "name": "Ben", "is_private": 1, "assets": assets, "entityTags": [{"tag_id": 4}]
        }});
        let import = kanka(&[
            ("characters/ann_12.json", ann),
            ("characters/ben_13.json", ben),
            ("tags/coast_43.json", json!({"id": 3, "name": "Coast", "entity": {"id": 43, "name": "Coast"}})),
            ("tags/traitor_44.json", json!({"id": 4, "name": "Traitor", "is_private": 1, "entity": {"id": 44}})),
        ]);
        for dry_run in [true, false] {
            let report = import_into(&lore, &lore.campaign_id, &import, dry_run).await;
            let losses = losses(&report).join("\n");
            assert!(losses.contains("1 aliases are hidden") && losses.contains("(Traitor)"), "{dry_run}: {losses}");
        }
        let player = lore.caller(CampaignRole::Player);
        let as_player = async |operation: &str, input: Value| {
            let answer = lore.call_as(&player, operation, input.clone()).await;
            let answer = answer.unwrap_or_else(|fault| panic!("{operation} {input}: {fault}"));
            for hidden in ["Night Queen", "Traitor", "Ben", "Hidden aliases"] {
                assert!(!answer.to_string().contains(hidden), "{operation} {input}: {answer}");
            }
            answer
        };
        for filter in [
            json!({"query": "night queen"}),
            json!({"name": "Night Queen"}),
            json!({"name": "Nihgt Queen", "name_fuzzy": true}),
            json!({"tags": ["traitor"]}),
            json!({"query": "traitor"}),
        ] {
            assert_eq!(names(&as_player("find_entities", filter).await), [""; 0]);
        }
        let all = as_player("find_entities", json!({})).await;
        assert_eq!(names(&all), ["Ann"]);
        let ann = as_player("get_entities", json!({"entity_ids": ["Ann"], "include_posts": true})).await;
        assert_eq!(ann["results"][0]["aliases"], json!(["The Red"]));
        assert_eq!(lore.find_names(json!({"query": "night queen"})).await.len(), 2, "game masters find them");
        assert_eq!(lore.find_names(json!({"tags": ["traitor"]})).await, ["Ben"]);
    });
}

#[test]
fn links_by_name_lead_to_what_the_campaign_has() {
    run(async {
        let lore = LoreCampaign::new().await;
        let place = |name: &str| json!({"entity_type": "location", "name": name, "aliases": [format!("{name}'s")]});
        let known = lore.create(json!([place("Old Tam"), place("Twin"), place("Twin"), place("Inn")])).await;
        let text = "[[Old Tam]], [[old tam's|his]], [[Twin]], [[Inn]], [[Late]], ![[Old Tam]]";
        let import = vault("vault", &[("Ann.md", text), ("Inn.md", "An inn.")]);
        let report = import_into(&lore, &lore.campaign_id, &import, false).await;
        let unresolved: Vec<&str> = report.unresolved.iter().map(|link| link.link.as_str()).collect();
        assert_eq!(unresolved, ["![[Old Tam]]", "[[Late]]", "[[Twin]]"]);
        let inn = lore.find(json!({"query": "an inn", "limit": 1})).await["entities"][0]["entity_id"].clone();
        assert_ne!(inn, json!(known[3]), "a note of the import comes first");
        let tam = known[0];
        let linked =
            |late: &str| format!("[entity:{tam}], [entity:{tam}|his], [[Twin]], [entity:{inn}], {late}, ![[Old Tam]]");
        assert_eq!(lore.get("Ann").await["entry"], linked("[[Late]]"));
        // A name that is there later is linked by the next import, also in a note that has not changed.
        let late = lore.create_one(place("Late")).await;
        let report = import_into(&lore, &lore.campaign_id, &import, false).await;
        assert_eq!((report.created, report.updated, report.unchanged), (0, 1, 1));
        assert_eq!(lore.get("Ann").await["entry"], linked(&format!("[entity:{late}]")));
    });
}

#[test]
fn a_second_source_of_the_same_name_is_reported() {
    run(async {
        let lore = LoreCampaign::new().await;
        let first = vault("vault", &[("People/Ann.md", "Of the north."), ("Inn.md", "An inn.")]);
        assert_eq!(losses(&import_into(&lore, &lore.campaign_id, &first, false).await), [""; 0]);
        assert_eq!(losses(&import_into(&lore, &lore.campaign_id, &first, true).await), [""; 0]);
        let second = vault("vault", &[("People/Ann.md", "Of the south.")]);
        let expected = "vault: 1 entities that were imported from a source of this name are not in this one, and stay; if it \
            is another source of the same name, give it one with --source-name";
        assert_eq!(losses(&import_into(&lore, &lore.campaign_id, &second, true).await), [expected]);
        let other = vault("other", &[("People/Ann.md", "Of the south.")]);
        assert_eq!(losses(&import_into(&lore, &lore.campaign_id, &other, true).await), [""; 0]);
    });
}

/// An export as it is read back, from a folder of this name.
fn read_back(name: &str, exported: &[ExportedEntity]) -> Import {
    let files = write_export(exported);
    let files: Vec<SourceFile> = files.iter().map(|(path, content)| source_file(path, content)).collect();
    named_import(name, &files)
}

#[test]
fn an_export_comes_back_with_its_html_and_its_actors() {
    run(async {
        let lore = LoreCampaign::new().await;
        let html = "<p class=\"lead\">Knows <b>[note:2|him]</b>.</p>";
        let post = json!({"id": 50, "name": "Past", "entry": "<p><u>Long</u> ago, [note:2].</p>", "visibility_id": 1});
        let import = kanka(&[
            ("characters/ann_1.json", json!({"entity": {"id": 1, "name": "Ann", "entry": html, "posts": [post]}})),
            ("notes/him_2.json", json!({"entity": {"id": 2, "name": "Him"}})),
        ]);
        import_into(&lore, &lore.campaign_id, &import, false).await;
        let actor = lore.call("actor_create", json!({"name": "Ann", "kind": "PC"})).await["id"].clone();
        lore.update(json!({"entity_id": "Ann", "actor_id": actor})).await;
        let export = async |campaign_id: &str| {
            let exported = lore.engine.app().export_lore(&Caller::owner(), campaign_id).await;
            exported.unwrap_or_else(|fault| panic!("{fault}"))
        };
        let first = export(&lore.campaign_id).await;
        assert_eq!(first[0].actor_id, actor.as_str().map(str::to_owned));
        assert!(first[0].html.as_ref().is_some_and(|html| html.contains("class=\"lead\"")), "{first:?}");

        // Into another campaign, where the ids are others and the actor is nobody.
        let other = lore.call("campaign_create", json!({"name": "Other", "gm_mode": "HUMAN"})).await["id"].clone();
        let other = other.as_str().expect("an id");
        let filler = json!([{"entity_type": "note", "name": "First here"}]);
        lore.call("create_entities", json!({"campaign_id": other, "entities": filler})).await;
        let copy = read_back("copy", &first);
        let report = import_into(&lore, other, &copy, false).await;
        let expected =
            format!("skald:1: the actor {} is not in this campaign, and is not linked", actor.as_str().unwrap());
        assert_eq!(losses(&report), [expected]);
        let second = export(other).await;
        let renumbered = |text: &Option<String>| text.as_ref().map(|text| text.replace("[note:3", "[note:2"));
        assert_eq!((second[1].name.as_str(), renumbered(&second[1].html)), ("Ann", first[0].html.clone()));
        assert_eq!(renumbered(&second[1].text), first[0].text);
        assert_eq!(renumbered(&second[1].posts[0].html), first[0].posts[0].html);
        let again = import_into(&lore, other, &copy, false).await;
        assert_eq!((again.created, again.updated, again.unchanged), (0, 0, 2));

        // Into the same campaign: beside what it came from, and instead of it.
        let report = import_into(&lore, &lore.campaign_id, &copy, true).await;
        assert!(losses(&report)[0].ends_with("is entity 1 already, and is not linked"), "{:?}", losses(&report));
        lore.call("delete_entities", json!({"campaign_id": lore.campaign_id, "entity_ids": [1]})).await;
        let report = import_into(&lore, &lore.campaign_id, &copy, false).await;
        assert_eq!(losses(&report), [""; 0]);
        let ann = json!({"campaign_id": lore.campaign_id, "entity_ids": ["Ann"]});
        assert_eq!(lore.call("get_entities", ann).await["results"][0]["actor_id"], actor);
    });
}

fn changed_here(report: &ImportReport) -> Vec<String> {
    report.changed_here.iter().map(|kept| format!("{}: {}", kept.source, kept.what)).collect()
}

#[test]
fn privacy_that_somebody_set_here_survives_imports() {
    run(async {
        let lore = LoreCampaign::new().await;
        let (plain, secret) = ("An inn.", "---\nsecret: true\n---\nA den.");
        let first = vault("vault", &[("Places/Inn.md", plain), ("Places/Den.md", secret), ("Plot.md", "The plot.")]);
        for dry_run in [true, false] {
            let report = import_into(&lore, &lore.campaign_id, &first, dry_run).await;
            assert_eq!((report.created, report.seen_by_players), (3, 1));
        }
        let is_private = async |name: &str| lore.get(name).await["is_private"].clone();
        assert_eq!(is_private("Plot").await, true, "a note is private if nothing says otherwise");
        assert_eq!((is_private("Inn").await, is_private("Den").await), (json!(false), json!(true)));
        for (name, private) in [("Inn", true), ("Den", false), ("Plot", false)] {
            lore.update(json!({"entity_id": name, "is_private": private})).await;
        }
        let secret = "---\nsecret: true\n---\nA dark den.";
        let second = vault(
            "vault",
            &[("Places/Inn.md", "An old inn."), ("Places/Den.md", secret), ("Plot.md", "A better plot.")],
        );
        let report = import_into(&lore, &lore.campaign_id, &second, false).await;
        assert_eq!((report.updated, report.seen_by_players), (3, 2));
        let kept = ["Places/Den.md: is_private: changed here since the last import; it stays"];
        assert_eq!(changed_here(&report), kept);
        assert_eq!(lore.get("Inn").await["entry"], "An old inn.");
        assert_eq!(
            (is_private("Inn").await, is_private("Den").await, is_private("Plot").await),
            (json!(true), json!(false), json!(false))
        );
        // What the source says newly is taken where nobody has said otherwise here.
        let third = vault("vault", &[("Plot.md", "---\npublish: false\n---\nA better plot.")]);
        import_into(&lore, &lore.campaign_id, &third, false).await;
        assert_eq!(is_private("Plot").await, false, "somebody has published it here");
        let options = ImportOptions { overwrite: true, ..ImportOptions::default() };
        let fourth = vault("vault", &[("Plot.md", "---\npublish: false\n---\nThe best plot.")]);
        import_with(&lore, &lore.campaign_id, &fourth, options).await;
        assert_eq!(is_private("Plot").await, true);
    });
}

#[test]
fn local_work_survives_an_import_unless_it_is_told_to_overwrite() {
    run(async {
        let lore = LoreCampaign::new().await;
        let ann = |name: &str, text: &str, post: &str| {
            let posts = json!([{"id": 50, "name": name, "entry": post, "visibility_id": 1}]);
            json!({"date": "1204-03-01", "entity": {
                "id": 1, "name": "Ann", "type": "Spy", "entry": text, "posts": posts
            }})
        };
        let kanka_of = |ann: Value| kanka(&[("journals/ann_1.json", ann)]);
        let first = kanka_of(ann("Past", "<p>A spy.</p>", "<p>Long ago.</p>"));
        import_into(&lore, &lore.campaign_id, &first, false).await;
        let post_id = lore.get("Ann").await["posts"][0]["id"].clone();
        lore.update(
            json!({"entity_id": "Ann", "entry": "A double agent.", "tags": ["north"], "image": "https://x/y.png"}),
        )
        .await;
        let renamed = json!({"entity_id": "Ann", "post_id": post_id, "name": "Childhood"});
        lore.call("update_posts", json!({"updates": [renamed]})).await;
        // The post is found by its id in the source, whatever its name is here and there.
        let mut changed = ann("Her past", "<p>A master spy.</p>", "<p>Very long ago.</p>");
        changed.as_object_mut().unwrap().remove("date");
        changed["entity"]["type"] = json!("Master");
        let second = kanka_of(changed);
        for dry_run in [true, false] {
            let report = import_into(&lore, &lore.campaign_id, &second, dry_run).await;
            let kept = [
                "kanka:1: the post \"Childhood\": name: changed here since the last import; it stays",
                "kanka:1: tags, entry: changed here since the last import; it stays",
            ];
            assert_eq!((changed_here(&report), report.posts), (kept.map(str::to_owned).to_vec(), 1), "{dry_run}");
        }
        let now = lore.get("Ann").await;
        assert_eq!(
            (&now["entry"], &now["type"], &now["date"]),
            (&json!("A double agent."), &json!("Master"), &json!("1204-03-01"))
        );
        assert_eq!((&now["tags"], &now["image"]), (&json!(["north"]), &json!("https://x/y.png")));
        let posts = now["posts"].as_array().unwrap();
        assert_eq!((posts.len(), &posts[0]["name"], &posts[0]["id"]), (1, &json!("Childhood"), &post_id));
        assert!(posts[0]["entry"].as_str().unwrap().contains("Very long ago."), "{now}");

        // What was kept once is kept by the next import too.
        let again = kanka_of(ann("Their past", "<p>A grand master.</p>", "<p>Very long ago.</p>"));
        let report = import_into(&lore, &lore.campaign_id, &again, false).await;
        assert_eq!(changed_here(&report).len(), 2, "{report:?}");
        assert_eq!(lore.get("Ann").await["entry"], "A double agent.");
        assert_eq!(lore.get("Ann").await["posts"][0]["name"], "Childhood");

        let third = kanka_of(ann("Her past", "<p>The master.</p>", "<p>Very long ago.</p>"));
        let options = ImportOptions { overwrite: true, ..ImportOptions::default() };
        let report = import_with(&lore, &lore.campaign_id, &third, options).await;
        assert!(
            changed_here(&report).iter().all(|line| line.ends_with("the source's value replaces it")),
            "{report:?}"
        );
        let now = lore.get("Ann").await;
        assert_eq!(now["entry"].as_str().map(str::trim), Some("The master."));
        assert_eq!((&now["posts"][0]["name"], &now["tags"]), (&json!("Her past"), &json!([])));
        // A post that was deleted here does not come back.
        lore.call("delete_posts", json!({"deletions": [{"entity_id": "Ann", "post_id": post_id}]})).await;
        let fourth = kanka_of(ann("Her past", "<p>The mistress.</p>", "<p>Very long ago.</p>"));
        let report = import_into(&lore, &lore.campaign_id, &fourth, false).await;
        assert_eq!(
            losses(&report).last().unwrap(),
            "kanka:1: the post \"Her past\" is in the archive, and stays there"
        );
        assert_eq!(lore.get("Ann").await["posts"], json!([]));
    });
}

#[test]
fn mentions_of_another_system_lead_to_nobody_here() {
    run(async {
        let lore = LoreCampaign::new().await;
        lore.create(json!([{"entity_type": "character", "name": "Bystander"}])).await;
        let note = "Met [entity:1], [character:1|Ann] and [post:1]. `[entity:1]`";
        let html = "<p>Met [character:9|Ben], [entity:1].</p>";
        let import = kanka(&[("journals/x_7.json", json!({"entity": {"id": 7, "name": "Html", "entry": html}}))]);
        import_into(&lore, &lore.campaign_id, &import, false).await;
        let report = import_into(&lore, &lore.campaign_id, &vault("vault", &[("Note.md", note)]), false).await;
        assert_eq!(report.unresolved.len(), 3);
        assert_eq!(lore.get("Note").await["entry"], "Met entity:1, Ann and post:1. `[entity:1]`");
        assert_eq!(lore.get("Html").await["entry"].as_str().map(str::trim), Some("Met Ben, entity:1."));
        let bystander = lore.get("Bystander").await;
        assert!(bystander["mentioned_by"].as_array().is_none_or(Vec::is_empty), "{bystander}");
    });
}

/// Mentions of posts lost their number, since posts had none when texts were written.
#[test]
fn mentions_of_posts_lead_to_the_imported_posts() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entity = json!({"entity_type": "location", "name": "Inn"});
        lore.create(json!([{"entity_type": "note", "name": "First here"}, entity])).await;
        lore.create_post(json!({"entity_id": "First here", "name": "Filler"})).await;
        let cellar = lore.create_post(json!({"entity_id": "Inn", "name": "Cellar"})).await;
        let attic = json!({"entity_id": "Inn", "name": "Attic", "entry": format!("Above [post:{cellar}]."), "is_private": true});
        let attic = lore.create_post(attic).await;
        let below = json!({"entity_id": "Inn", "post_id": cellar, "entry": format!("Below [post:{attic}|the attic].")});
        lore.call("update_posts", json!({"updates": [below]})).await;
        let text = |cellar: u64| format!("See [post:{cellar}|the cellar] and [post:{cellar}]; [post:99] is nothing.");
        lore.update(json!({"entity_id": "Inn", "entry": text(cellar)})).await;
        let exported = lore.engine.app().export_lore(&Caller::owner(), &lore.campaign_id).await.expect("an export");
        let exported: Vec<ExportedEntity> = exported.into_iter().filter(|entity| entity.name == "Inn").collect();

        let other = lore.call("campaign_create", json!({"name": "Other", "gm_mode": "HUMAN"})).await["id"].clone();
        let other = other.as_str().expect("an id");
        let copy = read_back("copy", &exported);
        for dry_run in [true, false] {
            let report = import_into(&lore, other, &copy, dry_run).await;
            assert_eq!((report.created, report.posts, report.unresolved.len()), (1, 2, 1), "{report:?}");
        }
        let read = json!({"campaign_id": other, "entity_ids": ["Inn"], "include_posts": true});
        let inn = lore.call("get_entities", read.clone()).await["results"][0].clone();
        let here = |name: &str| {
            let posts = inn["posts"].as_array().expect("posts");
            let post = posts.iter().find(|post| post["name"] == name).unwrap_or_else(|| panic!("{inn}"));
            (post["id"].as_u64().expect("an id"), post["entry"].clone(), post["is_private"].clone())
        };
        let ((cellar, below, _), (attic, above, is_private)) = (here("Cellar"), here("Attic"));
        assert_eq!(inn["entry"], text(cellar).replace("[post:99]", "post:99"));
        assert_eq!(
            (below, above),
            (json!(format!("Below [post:{attic}|the attic].")), json!(format!("Above [post:{cellar}].")))
        );
        assert_eq!(is_private, true);
        let again = import_into(&lore, other, &copy, false).await;
        assert_eq!((again.created, again.updated, again.unchanged, again.posts), (0, 0, 1, 0));
        assert_eq!(lore.call("get_entities", read).await["results"][0], inn);
    });
}

#[test]
fn mentions_of_posts_of_kanka_are_taken_over() {
    run(async {
        let lore = LoreCampaign::new().await;
        let entity = |text: &str, post: &str| {
            let posts = json!([{"id": 50, "name": "Past", "entry": post, "visibility_id": 1}]);
            json!({"entity": {"id": 1, "name": "Ann", "entry": text, "posts": posts}})
        };
        let ben = json!({"entity": {"id": 2, "name": "Ben", "entry": "<p>Of [post:50|her past].</p>"}});
        let import = |text: &str, post: &str, ben: &Value| {
            kanka(&[("characters/ann_1.json", entity(text, post)), ("characters/ben_2.json", ben.clone())])
        };
        lore.create_one(json!({"entity_type": "note", "name": "First here"})).await;
        lore.create_post(json!({"entity_id": "First here", "name": "Filler"})).await;
        let first = import("<p>See [post:50].</p>", "<p>Long ago.</p>", &ben);
        let report = import_into(&lore, &lore.campaign_id, &first, false).await;
        assert_eq!((losses(&report), report.posts, report.unresolved.len()), (Vec::new(), 1, 0));
        let post_id = lore.get("Ann").await["posts"][0]["id"].clone();
        let entry = async |name: &str| lore.get(name).await["entry"].as_str().unwrap().trim().to_owned();
        assert_eq!(entry("Ann").await, format!("See [post:{post_id}]."));
        assert_eq!(entry("Ben").await, format!("Of [post:{post_id}|her past]."));
        // Of an entity that has not changed since, too.
        let ben = json!({"entity": {"id": 2, "name": "Ben", "entry": "<p>Of [post:50|her old past].</p>"}});
        let second = import("<p>See [post:50].</p>", "<p>Long ago.</p>", &ben);
        let report = import_into(&lore, &lore.campaign_id, &second, false).await;
        assert_eq!((report.updated, report.unchanged, report.unresolved.len()), (1, 1, 0));
        assert_eq!(entry("Ben").await, format!("Of [post:{post_id}|her old past]."));
        assert_eq!(lore.get("Ann").await["posts"].as_array().map(Vec::len), Some(1));
    });
}
