//! The lore on the page: lists, articles, writing, histories, revealing, timeline and canon; for game masters and players.

use std::collections::BTreeMap;

use axum::http::StatusCode;
use serde_json::{Value, json};
use skald_app::{Caller, CampaignRole, Engine, NewToken, PrincipalKind, TokenRestrictions};

use crate::World;
use crate::hostile_text::{HOSTILE, assert_harmless, percent_encode};

pub(crate) async fn create_entity(world: &World, campaign: &str, item: Value) -> u64 {
    let input = json!({"campaign_id": campaign, "entities": [item]});
    let answer = world.call(&Caller::owner(), "create_entities", input).await;
    answer["results"][0]["entity_id"].as_u64().unwrap_or_else(|| panic!("{answer}"))
}

/// The address that a form led to.
pub(crate) fn location(answer: &crate::Answer) -> &str {
    assert_eq!(answer.status, StatusCode::SEE_OTHER, "{}", answer.body);
    answer.headers["location"].to_str().unwrap()
}

/// The value of a field in a form of a page.
fn field_value<'a>(html: &'a str, name: &str) -> &'a str {
    let (_, rest) = html.split_once(&format!("name=\"{name}\" value=\"")).unwrap();
    rest.split_once('"').unwrap().0
}

/// The hidden fields of the form of a page that posts to an address, as a browser sends them back.
pub(crate) fn hidden_fields(html: &str, action: &str) -> String {
    let form = html.split_once(&format!("action=\"{action}\"")).unwrap().1.split("</form>").next().unwrap();
    let inputs = form.split("<input type=\"hidden\" name=\"").skip(1);
    let pairs = inputs.map(|input| {
        let (name, rest) = input.split_once("\" value=\"").unwrap();
        let value = rest.split_once('"').unwrap().0.replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
        format!("{name}={}", percent_encode(&value))
    });
    pairs.collect::<Vec<_>>().join("&")
}

#[tokio::test]
async fn a_save_keeps_what_somebody_else_changed_meanwhile() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let owner = Caller::owner();
    let (player, _) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let entry = "The first.\n\nThe second.\n\nThe third.";
    let entity = json!({"entity_type": "note", "name": "Bell", "entry": entry, "is_private": false});
    let entity = create_entity(&world, &campaign, entity).await;
    let path = format!("/c/{campaign}/lore/{entity}");
    let edit = format!("{path}/edit");
    let update = async |mut fields: Value| {
        fields["entity_id"] = entity.into();
        world.call(&owner, "update_entities", json!({"campaign_id": campaign, "updates": [fields]})).await;
    };

    // Only the other one changed the mark: it stays, and what was typed is saved.
    let base = hidden_fields(&world.get(&owner, &edit).await.body, &edit);
    update(json!({"is_private": true})).await;
    let typed = format!("name=The+Bell&type=&tags=&aliases=&date=&parent=&entry={}", percent_encode(entry));
    let saved = world.post(Some(&owner), &edit, &format!("{typed}&{base}&do=save")).await;
    assert!(location(&saved).contains("done=merged"), "{}", location(&saved));
    assert!(world.get(&owner, &path).await.body.contains("The Bell"));
    assert_eq!(world.get(&player, &path).await.status, StatusCode::NOT_FOUND, "it is public again");

    // Both changed the text: each part is chosen, and what only the other one changed stays.
    update(json!({"is_private": false})).await;
    let base = hidden_fields(&world.get(&owner, &edit).await.body, &edit);
    update(json!({"is_private": true, "tags": ["theirs"], "entry": entry.replace("first", "FIRST")})).await;
    let typed = typed.replace(&percent_encode("third"), &percent_encode("THIRD"));
    let conflict = world.post(Some(&owner), &edit, &format!("{typed}&tags=mine&{base}&do=save")).await;
    assert_eq!(conflict.status, StatusCode::CONFLICT);
    for text in
        ["The FIRST.", "The THIRD.", "Private: only game masters see it", "name=\"pick_tags\"", "name=\"block_0\""]
    {
        assert!(conflict.body.contains(text), "{text}: {}", conflict.body);
    }
    let hidden = hidden_fields(&conflict.body, &edit);
    let chosen = format!("{hidden}&pick_tags=mine&block_0=theirs&block_2=mine");
    let written = world.post(Some(&owner), &edit, &format!("{chosen}&do=edit")).await;
    assert!(written.body.contains("The FIRST.\n\nThe second.\n\nThe THIRD."), "{}", written.body);
    location(&world.post(Some(&owner), &edit, &format!("{chosen}&do=save")).await);
    let page = world.get(&owner, &path).await.body;
    for text in ["The FIRST.", "The second.", "The THIRD.", "?tag=mine", ">private<"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    assert!(!page.contains("?tag=theirs"), "{page}");
}

#[tokio::test]
async fn a_post_that_was_made_private_meanwhile_stays_private() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let owner = Caller::owner();
    let (player, _) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let tower = json!({"entity_type": "location", "name": "Tower", "is_private": false});
    let entity = create_entity(&world, &campaign, tower).await;
    let path = format!("/c/{campaign}/lore/{entity}");
    location(&world.post(Some(&owner), &format!("{path}/posts/new"), "name=Cellar&entry=a+trapdoor").await);
    assert!(world.get(&player, &path).await.body.contains("a trapdoor"));
    let page = world.get(&owner, &path).await;
    let post = page.body.split_once("id=\"post-").unwrap().1.split_once('"').unwrap().0.to_owned();
    let edit = format!("{path}/posts/{post}");
    let base = hidden_fields(&world.get(&owner, &edit).await.body, &edit);
    let update = json!({"entity_id": entity, "post_id": post.parse::<u64>().unwrap(), "is_private": true});
    world.call(&owner, "update_posts", json!({"campaign_id": campaign, "updates": [update]})).await;
    // A preview does not move the base of the form.
    let typed = format!("name=Cellar&entry=two+trapdoors&{base}");
    let preview = world.post(Some(&owner), &edit, &format!("{typed}&do=preview")).await;
    assert_eq!(hidden_fields(&preview.body, &edit), base);
    let saved = world.post(Some(&owner), &edit, &format!("{typed}&do=save")).await;
    assert!(location(&saved).contains("done=merged"), "{}", location(&saved));
    assert!(world.get(&owner, &path).await.body.contains("two trapdoors"));
    assert!(!world.get(&player, &path).await.body.contains("trapdoor"), "it is public again");
}

#[tokio::test]
async fn an_entity_is_written_read_changed_and_compared() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let owner = Caller::owner();
    let lore = format!("/c/{campaign}/lore");
    let place = create_entity(&world, &campaign, json!({"entity_type": "location", "name": "The Bell Tower"})).await;

    let form =
        "name=Mira&entity_type=character&type=PC&tags=crew,+brave&entry=She+lives+in+[[The+Bell+Tower]].&do=save";
    let created = world.post(Some(&owner), &format!("{lore}/new"), form).await;
    let path = location(&created).split('?').next().unwrap().to_owned();
    let page = world.get(&owner, &path).await;
    assert!(page.body.contains("<h1 dir=\"auto\">Mira</h1>"), "{}", page.body);
    assert!(page.body.contains(&format!("<a href=\"{lore}/{place}\"")), "{}", page.body);
    assert!(page.body.contains(&format!("{lore}?tag=brave")), "{}", page.body);
    let back = world.get(&owner, &format!("{lore}/{place}")).await;
    assert!(back.body.contains("Mentioned by") && back.body.contains(">Mira</bdi>"), "{}", back.body);

    let edit = world.get(&owner, &format!("{path}/edit")).await;
    let revision = field_value(&edit.body, "revision").to_owned();
    let fields = "name=Mira&type=PC&tags=crew,+brave&entry=";
    let changed = format!("{fields}She+left.&revision={revision}&do=save");
    assert!(location(&world.post(Some(&owner), &format!("{path}/edit"), &changed).await).contains("done=saved"));

    // The same form once more: somebody else saved it, both versions are shown, and nothing typed is lost.
    let late = format!("{fields}She+sings.&revision={revision}&do=save");
    let conflict = world.post(Some(&owner), &format!("{path}/edit"), &late).await;
    assert_eq!(conflict.status, StatusCode::CONFLICT);
    for text in ["Somebody else was faster", "She left.", "She sings."] {
        assert!(conflict.body.contains(text), "{text}: {}", conflict.body);
    }
    let newest = field_value(&conflict.body, "revision");
    let again = format!("{fields}She+sings.&revision={newest}&do=save");
    location(&world.post(Some(&owner), &format!("{path}/edit"), &again).await);

    let history = world.get(&owner, &format!("{path}/history")).await;
    assert!(history.body.contains("Version 3"), "{}", history.body);
    let version = world.get(&owner, &format!("{path}/history/3")).await;
    assert!(version.body.contains("<ins class=\"line\">She sings.</ins>"), "{}", version.body);
    assert!(version.body.contains("<del class=\"line\">She left.</del>"), "{}", version.body);
    location(&world.post(Some(&owner), &format!("{path}/history/1"), "").await);
    assert!(world.get(&owner, &path).await.body.contains("She lives in"));

    assert!(location(&world.post(Some(&owner), &format!("{path}/delete"), "").await).contains("archive"));
    assert_eq!(world.get(&owner, &path).await.status, StatusCode::NOT_FOUND);
    let archive = world.get(&owner, &format!("{lore}/archive")).await;
    let restore = format!("entity_id={}", field_value(&archive.body, "entity_id"));
    location(&world.post(Some(&owner), &format!("{lore}/archive/restore"), &restore).await);
    assert_eq!(world.get(&owner, &path).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_refused_form_keeps_what_was_typed_and_a_preview_stores_nothing() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let owner = Caller::owner();
    let path = format!("/c/{campaign}/lore/new");
    let refused = world.post(Some(&owner), &path, "name=&entity_type=item&entry=A+long+story&do=save").await;
    assert!(refused.status.is_client_error(), "{}", refused.status);
    assert!(refused.body.contains("A long story") && refused.body.contains("class=\"fault\""), "{}", refused.body);
    let preview =
        world.post(Some(&owner), &path, "name=Bell&entity_type=item&entry=**loud**+[[Nobody]]&do=preview").await;
    assert!(preview.body.contains("<strong>loud</strong>") && preview.body.contains("Nobody"), "{}", preview.body);
    let part = world.post(Some(&owner), &format!("/c/{campaign}/lore/preview"), "entry=*x*").await;
    assert!(part.body.contains("<em>x</em>") && !part.body.contains("<html"), "{}", part.body);
    let list = world.get(&owner, &format!("/c/{campaign}/lore")).await;
    assert!(list.body.contains("Nothing is written yet"), "{}", list.body);
}

#[tokio::test]
async fn a_player_sees_a_whole_page_without_what_is_private() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let owner = Caller::owner();
    let secret = json!({"entity_type": "note", "name": "MARKER-ENTITY", "entry": "MARKER-ENTRY", "tags": ["MARKER-TAG"], "is_private": true});
    let secret = create_entity(&world, &campaign, secret).await;
    let tower = json!({"entity_type": "location", "name": "Tower", "entry": format!("Old. [entity:{secret}] rings."), "is_private": false});
    let tower = create_entity(&world, &campaign, tower).await;
    let post = json!({"entity_id": tower, "name": "MARKER-POST", "entry": "MARKER-TEXT", "is_private": true});
    world.call(&owner, "create_posts", json!({"campaign_id": campaign, "posts": [post]})).await;
    let (player, _) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let base = format!("/c/{campaign}");
    let open = [
        "/lore",
        "/lore?q=MARKER",
        "/lore?tag=MARKER-TAG",
        "/lore?type=note",
        "/lore/search?q=MARKER",
        "/graph",
        "/graph.svg",
        "/graph.json",
        "/timeline",
    ];
    for path in open.map(|path| format!("{base}{path}")).iter().chain([&format!("{base}/lore/{tower}")]) {
        let page = world.get(&player, path).await;
        assert_eq!(page.status, StatusCode::OK, "{path}: {}", page.body);
        // What was asked for is in the box of the search and among the chosen tags; nothing else is.
        let told =
            page.body.replace("value=\"MARKER\"", "").replace("q=MARKER", "").replace("value=\"MARKER-TAG\"", "");
        let told = told.replace("<bdi>MARKER-TAG</bdi>", "");
        let has_marker = told.contains("MARKER") && !path.contains("tag=");
        assert!(!has_marker && !told.contains("MARKER-E") && !told.contains("MARKER-P"), "{path}: {told}");
        for word in
            ["/edit\"", ">History<", "New entry", "Archive", ">private<", "Canon", "Kanka", "Reveal", "Add a post"]
        {
            assert!(!page.body.contains(word), "{word} on {path}: {}", page.body);
        }
    }
    assert_eq!(world.get(&player, &format!("{base}/lore/{secret}")).await.status, StatusCode::NOT_FOUND);
    let closed = [
        format!("{base}/lore/new"),
        format!("{base}/lore/archive"),
        format!("{base}/lore/{tower}/edit"),
        format!("{base}/lore/{tower}/history"),
        format!("{base}/lore/{tower}/history/1"),
        format!("{base}/lore/{tower}/posts/new"),
        format!("{base}/canon"),
        format!("{base}/kanka"),
    ];
    for path in &closed {
        let page = world.get(&player, path).await;
        assert_eq!(page.status, StatusCode::FORBIDDEN, "{path}");
        assert!(!page.body.contains("MARKER"), "{path}: {}", page.body);
    }
    let sent = [
        (format!("{base}/lore/new"), "name=x&entity_type=item&do=save"),
        (format!("{base}/lore/preview"), "entry=x"),
        (format!("{base}/lore/{tower}/edit"), "name=x&do=save"),
        (format!("{base}/lore/{tower}/delete"), ""),
        (format!("{base}/lore/{tower}/reveal"), "to=table"),
        (format!("{base}/lore/{tower}/history/1"), ""),
        (format!("{base}/lore/{tower}/posts/new"), "name=x"),
        (format!("{base}/lore/archive/restore"), "entity_id=1"),
        (format!("{base}/timeline"), "description=x"),
        (format!("{base}/timeline/1"), "description=x"),
        (format!("{base}/canon/c1"), "do=current&reason=x"),
        (format!("{base}/kanka"), "do=pull"),
    ];
    for (path, form) in &sent {
        assert_eq!(world.post(Some(&player), path, form).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    // Somebody of another campaign is told that there is nothing.
    let (other, ..) = world.campaign("Other").await;
    let (stranger, _) = world.holder("Bo", &other, CampaignRole::Gm).await;
    for path in open.map(|path| format!("{base}{path}")).iter().chain([&format!("{base}/lore/{tower}")]) {
        assert_eq!(world.get(&stranger, path).await.status, StatusCode::NOT_FOUND, "{path}");
    }
}

#[tokio::test]
async fn a_handout_appears_to_the_player_to_whom_it_is_revealed() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let owner = Caller::owner();
    let person = json!({"campaign_id": campaign, "display_name": "Ana", "role": "PLAYER"});
    let person = world.call(&owner, "participant_create", person).await["id"].as_str().unwrap().to_owned();
    let letter = json!({"entity_type": "document", "name": "The letter", "entry": "Come alone.", "is_private": true});
    let letter = create_entity(&world, &campaign, letter).await;
    let (ana, secret) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let (bo, _) = world.holder("Bo", &campaign, CampaignRole::Player).await;
    world.engine.app().bind_participants(ana.id(), std::slice::from_ref(&person), "a test").await.unwrap();
    let ana = world.engine.authenticate(&secret).await.unwrap();
    let (list, path) = (format!("/c/{campaign}/lore"), format!("/c/{campaign}/lore/{letter}"));
    assert_eq!(world.get(&ana, &path).await.status, StatusCode::NOT_FOUND);

    let article = world.get(&owner, &path).await;
    assert!(
        article.body.contains("Only game masters know it.") && article.body.contains("Reveal to Ana"),
        "{}",
        article.body
    );
    let reveal = format!("to=people&who={person}");
    assert!(location(&world.post(Some(&owner), &format!("{path}/reveal"), &reveal).await).contains("done=revealed"));
    assert!(world.get(&owner, &path).await.body.contains("Known by"));
    assert!(world.get(&ana, &list).await.body.contains("Revealed to you"));
    let seen = world.get(&ana, &path).await;
    assert!(seen.body.contains("Come alone.") && seen.body.contains("revealed to you"), "{}", seen.body);
    assert!(world.get(&ana, &format!("{list}?q=letter")).await.body.contains("The letter"));
    assert_eq!(world.get(&bo, &path).await.status, StatusCode::NOT_FOUND);
    assert!(!world.get(&bo, &list).await.body.contains("letter"));

    location(&world.post(Some(&owner), &format!("{path}/reveal"), "to=table").await);
    assert_eq!(world.get(&bo, &path).await.status, StatusCode::OK);
    location(&world.post(Some(&owner), &format!("{path}/reveal"), "to=gm").await);
    assert_eq!(world.get(&bo, &path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn posts_are_written_and_edited() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let owner = Caller::owner();
    let entity = create_entity(&world, &campaign, json!({"entity_type": "location", "name": "Tower"})).await;
    let path = format!("/c/{campaign}/lore/{entity}");
    location(
        &world.post(Some(&owner), &format!("{path}/posts/new"), "name=Secret&entry=a+trapdoor&is_private=yes").await,
    );
    let page = world.get(&owner, &path).await;
    let post = page.body.split_once("id=\"post-").unwrap().1.split_once('"').unwrap().0.to_owned();
    let edit = world.get(&owner, &format!("{path}/posts/{post}")).await;
    let revision = field_value(&edit.body, "revision").to_owned();
    let save = format!("name=Secret&entry=two+trapdoors&revision={revision}");
    location(&world.post(Some(&owner), &format!("{path}/posts/{post}"), &save).await);
    let late = world.post(Some(&owner), &format!("{path}/posts/{post}"), &save.replace("two", "three")).await;
    assert_eq!(late.status, StatusCode::CONFLICT);
    assert!(late.body.contains("two trapdoors") && late.body.contains("three trapdoors"), "{}", late.body);
    location(&world.post(Some(&owner), &format!("{path}/posts/{post}/delete"), "").await);
    assert!(!world.get(&owner, &path).await.body.contains("trapdoors"));
}

#[tokio::test]
async fn the_timeline_is_written_filtered_and_removed() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let owner = Caller::owner();
    let (player, _) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    create_entity(&world, &campaign, json!({"entity_type": "location", "name": "Tower"})).await;
    let path = format!("/c/{campaign}/timeline");
    let known = "description=The+bell+fell&date=3rd+of+Rain,+1204&sort=1204-03-03&entities=Tower&is_player_known=yes";
    location(&world.post(Some(&owner), &path, known).await);
    location(&world.post(Some(&owner), &path, "description=MARKER+plot&sort=1205").await);
    let page = world.get(&owner, &path).await;
    for text in ["The bell fell", "3rd of Rain, 1204", ">Tower</bdi>", "MARKER plot", "session started"] {
        assert!(page.body.contains(text), "{text}: {}", page.body);
    }
    let page = world.get(&player, &path).await;
    assert!(page.body.contains("The bell fell") && !page.body.contains("MARKER"), "{}", page.body);
    assert!(!page.body.contains("Write what happened"), "{}", page.body);
    let late = world.get(&owner, &format!("{path}?include=written&from=1205")).await;
    assert!(late.body.contains("MARKER plot") && !late.body.contains("The bell fell"), "{}", late.body);
    let wrong = world.get(&owner, &format!("{path}?from=yesterday")).await;
    assert!(wrong.body.contains("class=\"fault\"") && wrong.body.contains("value=\"yesterday\""), "{}", wrong.body);
    let refused = world.post(Some(&owner), &path, "description=A+long+story&sort=soon").await;
    assert!(refused.status.is_client_error() && refused.body.contains("A long story"), "{}", refused.body);
    let event = page_event(&world.get(&owner, &path).await.body, &path);
    let event_path = format!("{path}/{event}");
    let base = hidden_fields(&world.get(&owner, &event_path).await.body, &event_path);
    let change = format!("{base}&{}&do=save", known.replace("fell", "sank"));
    location(&world.post(Some(&owner), &event_path, &change).await);
    assert!(world.get(&player, &path).await.body.contains("The bell sank"));
    location(&world.post(Some(&owner), &format!("{path}/{event}"), "do=remove").await);
    assert!(!world.get(&owner, &path).await.body.contains("The bell sank"));
}

/// The first event of a timeline that can be edited.
fn page_event(html: &str, path: &str) -> String {
    let (_, rest) = html.split_once(&format!("href=\"{path}/")).unwrap();
    rest.split_once('"').unwrap().0.to_owned()
}

/// A game master whose token says that a person holds it who decides.
async fn person_who_decides(world: &World, campaign: &str) -> Caller {
    let new = NewToken {
        name: "Ada".to_owned(),
        person: None,
        kind: PrincipalKind::Human,
        roles: BTreeMap::from([(campaign.to_owned(), CampaignRole::Gm)]),
        participants: Vec::new(),
        gate_role: Some("reviewer".to_owned()),
        restrictions: TokenRestrictions::default(),
        subject: None,
        program: "a test".to_owned(),
    };
    let (secret, _) = world.engine.app().create_token(new).await.unwrap();
    world.engine.authenticate(&secret).await.unwrap()
}

#[tokio::test]
async fn a_held_change_is_decided_on_the_page() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let owner = Caller::owner();
    let entity = json!({"entity_type": "character", "name": "Mira", "type": "PC", "entry": "Alive."});
    let entity = create_entity(&world, &campaign, entity).await;
    let mark = json!({"campaign_id": campaign, "method": "mark", "entity_id": entity, "confidence": "AUTHORITATIVE"});
    world.call(&owner, "canon", mark).await;
    let update = json!({"entity_id": entity, "entry": "Dead."});
    world.call(&owner, "update_entities", json!({"campaign_id": campaign, "updates": [update]})).await;
    let path = format!("/c/{campaign}/canon");
    let list = world.get(&owner, &path).await;
    assert!(list.body.contains("Mira"), "{}", list.body);
    let conflict = page_event(&list.body, &path);
    let page = world.get(&owner, &format!("{path}/{conflict}")).await;
    assert!(page.body.contains("Alive.") && page.body.contains("Dead."), "{}", page.body);
    let person = person_who_decides(&world, &campaign).await;
    let refused = world.post(Some(&person), &format!("{path}/{conflict}"), "do=proposed").await;
    assert!(refused.status.is_client_error() && refused.body.contains("class=\"fault\""), "{}", refused.body);
    let decided = world.post(Some(&person), &format!("{path}/{conflict}"), "do=proposed&reason=She+fell").await;
    assert!(location(&decided).contains("done=resolved"));
    assert!(world.get(&owner, &path).await.body.contains("Nothing waits"));
    assert!(world.get(&owner, &format!("/c/{campaign}/lore/{entity}")).await.body.contains("Dead."));
}

#[tokio::test]
async fn a_campaign_without_kanka_says_what_to_do() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let page = world.get(&Caller::owner(), &format!("/c/{campaign}/kanka")).await;
    assert!(page.status == StatusCode::OK && page.body.contains("Not linked to Kanka"), "{}", page.body);
}

#[tokio::test]
async fn hostile_lore_is_harmless_on_every_page() {
    let world = World::new().await;
    let owner = Caller::owner();
    for hostile in HOSTILE {
        let (campaign, ..) = world.campaign(hostile).await;
        let entity = json!({"entity_type": "character", "name": hostile, "type": hostile, "entry": hostile,
            "tags": [hostile.replace(',', "").chars().take(50).collect::<String>()], "aliases": [hostile]});
        let entity = create_entity(&world, &campaign, entity).await;
        let other = format!("[entity:{entity}] and [entity:{entity}|{hostile}] {hostile}");
        let other = create_entity(
            &world,
            &campaign,
            json!({"entity_type": "note", "name": "Other", "entry": other, "parent": entity}),
        )
        .await;
        let post = json!({"entity_id": entity, "name": hostile, "entry": hostile});
        world.call(&owner, "create_posts", json!({"campaign_id": campaign, "posts": [post]})).await;
        let event = json!({"method": "add", "campaign_id": campaign, "description": hostile, "date": hostile, "entity_ids": [entity]});
        world.call(&owner, "timeline", event).await;
        let related = json!({"method": "add", "campaign_id": campaign, "entity_id": entity, "target_id": other,
            "type": "knows", "description": hostile});
        world.call(&owner, "relationships", related).await;
        let typed = percent_encode(hostile);
        let base = format!("/c/{campaign}");
        let pages = [
            format!("{base}/lore"),
            format!("{base}/lore?q={typed}&tag={typed}"),
            format!("{base}/lore/search?q={typed}"),
            format!("{base}/lore/{entity}"),
            format!("{base}/lore/{other}"),
            format!("{base}/lore/{other}?done={typed}&unresolved={typed}"),
            format!("{base}/lore/{entity}/edit"),
            format!("{base}/lore/{entity}/history"),
            format!("{base}/lore/{entity}/history/1"),
            format!("{base}/lore/new?name={typed}"),
            format!("{base}/graph"),
            format!("{base}/timeline?entity={entity}"),
            format!("{base}/timeline?from={typed}"),
            format!("{base}/timeline/1"),
            format!("{base}/canon"),
        ];
        for path in &pages {
            let page = world.get(&owner, path).await;
            assert_eq!(page.status, StatusCode::OK, "{path}: {}", page.body);
            assert_harmless(&page.body, path);
        }
        let preview = world.post(Some(&owner), &format!("{base}/lore/preview"), &format!("entry={typed}")).await;
        assert_harmless(&preview.body, "preview");
        let edited = format!("name={typed}&entry={typed}&revision=0&do=save");
        assert_harmless(
            &world.post(Some(&owner), &format!("{base}/lore/{entity}/edit"), &edited).await.body,
            "conflict",
        );
    }
}

#[tokio::test]
async fn the_graph_has_a_picture_and_data_for_whoever_looks() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let owner = Caller::owner();
    let tower = create_entity(&world, &campaign, json!({"entity_type": "location", "name": "Tower"})).await;
    let mira = json!({"entity_type": "character", "name": "Mira", "entry": "In [[Tower]]."});
    let mira = create_entity(&world, &campaign, mira).await;
    let picture = world.get(&owner, &format!("/c/{campaign}/graph.svg")).await;
    assert!(picture.headers["content-type"] == "image/svg+xml" && picture.body.starts_with("<svg"), "{}", picture.body);
    let data: Value =
        serde_json::from_str(&world.get(&owner, &format!("/c/{campaign}/graph.json")).await.body).unwrap();
    assert_eq!(data["mentions"], json!([{"from": mira, "to": tower}]));
    assert_eq!(data["nodes"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn something_is_revealed_to_several_players_at_once() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let owner = Caller::owner();
    let mut people = Vec::new();
    for number in 0..60 {
        let person = json!({"campaign_id": campaign, "display_name": format!("Player {number}"), "role": "PLAYER"});
        people.push(world.call(&owner, "participant_create", person).await["id"].as_str().unwrap().to_owned());
    }
    let letter = json!({"entity_type": "document", "name": "The letter", "entry": "Come alone.", "is_private": true});
    let letter = create_entity(&world, &campaign, letter).await;
    let path = format!("/c/{campaign}/lore/{letter}");
    let page = world.get(&owner, &path).await.body;
    assert_eq!(page.matches("type=\"checkbox\" name=\"who\"").count(), 60, "each player has a box");
    let reveal = format!("to=people&who={}&who={}&who={}", people[0], people[1], people[59]);
    location(&world.post(Some(&owner), &format!("{path}/reveal"), &reveal).await);
    let known = json!({"campaign_id": campaign, "method": "who_knows", "entity_id": letter});
    let known = world.call(&owner, "visibility", known).await;
    let mut ids: Vec<&str> = known["visible_to"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    ids.sort_unstable();
    let mut expected = vec![people[0].as_str(), &people[1], &people[59]];
    expected.sort_unstable();
    assert_eq!(ids, expected, "{known}");
    let page = world.get(&owner, &path).await.body;
    assert_eq!(page.matches("type=\"checkbox\" name=\"who\"").count(), 57, "those who know it have none");
    // Nobody chosen must not mean everybody.
    for form in ["to=people", "to=people&who=", "to=people&who=nobody"] {
        let refused = world.post(Some(&owner), &format!("{path}/reveal"), form).await;
        assert!(
            refused.status.is_client_error() && refused.body.contains("class=\"fault\""),
            "{form}: {}",
            refused.body
        );
    }
    let (bo, _) = world.holder("Bo", &campaign, CampaignRole::Player).await;
    assert_eq!(world.get(&bo, &path).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn lists_that_are_cut_lead_to_the_rest() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let owner = Caller::owner();
    let king = create_entity(&world, &campaign, json!({"entity_type": "character", "name": "King"})).await;
    for batch in 0..7 {
        let name = |number: usize| format!("Vassal {batch} {number}");
        let items: Vec<Value> =
            (0..10).map(|number| json!({"entity_type": "character", "name": name(number)})).collect();
        let made = world.call(&owner, "create_entities", json!({"campaign_id": campaign, "entities": items})).await;
        for row in made["results"].as_array().unwrap() {
            let add = json!({"campaign_id": campaign, "method": "add", "entity_id": king, "target_id": row["entity_id"], "type": "rules"});
            world.call(&owner, "relationships", add).await;
        }
    }
    let path = format!("/c/{campaign}/lore/{king}");
    let first = world.get(&owner, &path).await.body;
    let lines = |page: &str| page.matches("class=\"relation\"").count();
    assert_eq!(lines(&first), 50, "{first}");
    let more = first.split_once("?relationships=").unwrap().1.split('"').next().unwrap();
    assert!(first.contains(">More relationships</a>"), "{first}");
    let rest = world.get(&owner, &format!("{path}?relationships={more}")).await.body;
    assert!(lines(&rest) == 20 && !rest.contains("More relationships"), "{rest}");
    let graph = world.get(&owner, &format!("/c/{campaign}/graph")).await.body;
    assert!(graph.contains("Only the 60 entries with the most connections are drawn; 11 more are not."), "{graph}");
    assert!(graph.contains("The list has every entry</a>"), "{graph}");
    let (small, ..) = world.campaign("Small").await;
    assert!(!world.get(&owner, &format!("/c/{small}/graph")).await.body.contains("Only the"));
    assert_eq!(world.get(&owner, &format!("{path}?relationships=x")).await.status, 400);
}

/// Errors on a page speak of pages and buttons, not of operations and fields.
#[tokio::test]
async fn no_page_names_an_operation_to_people() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let (owner, base) = (Caller::owner(), format!("/c/{campaign}"));
    world.call(&owner, "session_end", json!({"campaign_id": campaign})).await;
    let mut pages = Vec::new();
    for path in ["/c/camp_none", "/c/camp_none/lore", "/c/x/runs", "/c/x/sky"] {
        pages.push((path.to_owned(), world.get(&owner, path).await));
    }
    for path in [
        "",
        "/lore",
        "/lore/99",
        "/lore/1/history",
        "/lore?cursor=x",
        "/lore/1/history/7",
        "/runs/none",
        "/sky/none",
        "/sessions/7",
        "/timeline?cursor=x",
    ] {
        pages.push((path.to_owned(), world.get(&owner, &format!("{base}{path}")).await));
    }
    for (path, form) in [
        ("/note", "text="),
        ("/roll", "expression=2d6&actor_id=actor_none"),
        ("/tracker", "name=Luck&by=1&actor_id=actor_none"),
        ("/spotlight", "up=actor_none"),
        ("/session/end", ""),
        ("/lore/99/reveal", "to=table"),
        ("/lore/archive/restore", "entity_id=99"),
        ("/canon/c99", "do=current&reason=x"),
        ("/runs/none/emit", "event=x"),
        ("/sky/none/command", "do=tick"),
        ("/timeline/99", "description=x"),
    ] {
        pages.push((path.to_owned(), world.post(Some(&owner), &format!("{base}{path}"), form).await));
    }
    let catalogue = world.engine.catalogue();
    let names = catalogue.operations().iter().map(|entry| entry.name).filter(|name| name.contains(['_', '.']));
    let names: Vec<&str> = names.collect();
    for (path, page) in &pages {
        let hints = page.body.split("class=\"fault-hint\">").skip(1).filter_map(|rest| rest.split("</p>").next());
        for hint in hints {
            let operation = names.iter().find(|name| hint.contains(**name));
            assert!(operation.is_none() && !hint.contains("_id") && !hint.contains("universes://"), "{path}: {hint}");
        }
    }
    assert!(pages.iter().filter(|(_, page)| page.body.contains("fault-hint")).count() > 5, "few pages have hints");
}
