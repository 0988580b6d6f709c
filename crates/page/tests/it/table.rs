//! The table: what a game master, a player and a guest see of it, and its forms with and without scripts.

use axum::body::Body;
use serde_json::json;
use skald_app::{Caller, CampaignRole, Engine};

use crate::{World, form_request};

#[tokio::test]
async fn each_role_has_a_whole_page_of_its_own() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let path = format!("/c/{campaign}");
    let (player, _) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let (guest, _) = world.holder("Gil", &campaign, CampaignRole::Guest).await;
    let (stranger, _) = world.holder("Sam", "*", CampaignRole::Guest).await;
    let page = world.get(&Caller::owner(), &path).await.body;
    assert!(page.contains("id=\"roll-box\"") && page.contains("End the session"), "{page}");
    let page = world.get(&player, &path).await.body;
    assert!(
        page.contains("id=\"roll-box\"") && !page.contains("End the session") && !page.contains("spotlight-box"),
        "{page}"
    );
    let page = world.get(&guest, &path).await.body;
    assert!(page.contains("Mira") && !page.contains("roll-box") && !page.contains("class=\"step\""), "{page}");
    assert_eq!(world.get(&stranger, &path).await.status, 200, "a guest of every campaign");
    let (nobody, _) = world.holder("Nobody", &world.campaign("Another").await.0, CampaignRole::Player).await;
    let missing = world.get(&nobody, &path).await;
    assert_eq!(missing.status, 404);
    assert!(!missing.body.contains("Drowned"), "{}", missing.body);
    assert_eq!(
        missing.body.replace(&campaign, ""),
        world.get(&nobody, "/c/camp_none").await.body.replace("camp_none", "")
    );
}

#[tokio::test]
async fn forms_work_without_scripts_and_with_them() {
    let world = World::new().await;
    let (campaign, actor, _) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    let table = format!("/c/{campaign}");
    let rolled = world
        .post(Some(&owner), &format!("{table}/roll"), &format!("expression=2d8%2B3&reason=Strikes&actor_id={actor}"))
        .await;
    assert_eq!((rolled.status.as_u16(), rolled.headers["location"].to_str().unwrap()), (303, &*table));
    let page = world.get(&owner, &table).await.body;
    assert!(page.contains("Strikes") && page.contains("d8 shows"), "{page}");

    let mut request = form_request(&format!("{table}/tracker"), &format!("name=Hope&actor_id={actor}&by=1"));
    request.headers_mut().insert("hx-request", "true".parse().unwrap());
    let part = world.answer(request, Some(&owner)).await;
    assert_eq!(part.status, 200);
    // The stream brings what changed, in order.
    assert_eq!(part.body, "");
    let page = world.get(&owner, &table).await.body;
    assert!(page.contains("<span class=\"value\">3<span class=\"muted\">/6"), "{page}");
}

#[tokio::test]
async fn what_was_typed_is_shown_again_when_it_is_refused() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    let path = format!("/c/{campaign}/roll");
    let refused = world.post(Some(&owner), &path, "expression=2dd6&reason=A+long+story").await;
    assert_eq!(refused.status, 400);
    for kept in ["value=\"2dd6\"", "value=\"A long story\"", "class=\"fault\"", "INVALID_PARAMS"] {
        assert!(refused.body.contains(kept), "{kept} is not in {}", refused.body);
    }
    let mut request = form_request(&path, "expression=2dd6");
    request.headers_mut().insert("hx-request", "true".parse().unwrap());
    let part = world.answer(request, Some(&owner)).await;
    // A script marks the field that the error is about.
    let beginning = "<div data-refused-field=\"expression\"><div class=\"fault\"";
    assert!(part.status == 400 && part.body.starts_with(beginning), "{}", part.body);
}

/// The opening tag of the element with an id.
fn tag_of<'a>(page: &'a str, id: &str) -> &'a str {
    let at = page.find(&format!("id=\"{id}\"")).unwrap();
    let start = page[..at].rfind('<').unwrap();
    &page[start..start + page[start..].find('>').unwrap()]
}

#[tokio::test]
async fn without_scripts_a_refused_form_keeps_its_own_text_and_no_other() {
    let world = World::new().await;
    let (campaign, actor, _) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    let table = format!("/c/{campaign}");
    let page = world.post(Some(&owner), &format!("{table}/roll"), "expression=2dd6&reason=Leaps").await.body;
    let expression = tag_of(&page, "expression");
    for part in ["value=\"2dd6\"", "aria-invalid=\"true\"", "aria-describedby=\"odds expression-fault\""] {
        assert!(expression.contains(part), "{part}: {expression}");
    }
    assert!(page.contains("id=\"expression-fault\"") && tag_of(&page, "roll-box").contains("data-refused"), "{page}");

    let page = world.post(Some(&owner), &format!("{table}/note"), "text=Kept&seen_by=people").await;
    assert!(page.status == 400 && page.body.contains(">Kept</textarea>"), "{}", page.body);
    let expression = tag_of(&page.body, "expression");
    assert!(
        expression.contains("value=\"duality(+0, dc 12)\"") && !expression.contains("aria-invalid"),
        "{expression}"
    );
    // The name of a tracker is not that of a session.
    let form = format!("name=Nothing&actor_id={actor}&by=1");
    let page = world.post(Some(&owner), &format!("{table}/tracker"), &form).await;
    assert!(page.status.is_client_error() && !tag_of(&page.body, "name").contains("Nothing"), "{}", page.body);
    let long = "x".repeat(9_000);
    let page = world.post(Some(&owner), &format!("{table}/spotlight"), &format!("scene={long}&up=GM")).await;
    assert!(page.status.is_client_error() && tag_of(&page.body, "scene").contains(&long), "{}", page.body);
    assert!(page.body.contains("<option value=\"GM\" selected>"), "{}", page.body);
}

#[tokio::test]
async fn a_tracker_at_its_limit_keeps_its_buttons() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    let tracker = json!({"name": "Doom", "value": 0, "min": 0, "max": 4});
    let input = json!({"campaign_id": campaign, "method": "set", "trackers": [tracker]});
    world.call(&owner, "tracker", input).await;
    let page = world.get(&owner, &format!("/c/{campaign}")).await.body;
    let row = page.split_once(">Doom</span>").unwrap().1;
    let row = &row[..row.find("</form>").unwrap()];
    assert!(row.contains("value=\"-1\" aria-disabled=\"true\"") && row.contains("value=\"1\">"), "{row}");
    assert!(!page.contains(" disabled"), "{page}");
}

#[tokio::test]
async fn a_session_is_ended_and_started_without_leaving_the_table() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    let table = format!("/c/{campaign}");
    let page = world.get(&owner, &table).await.body;
    for (id, path) in [("end-session", "end"), ("start-session", "start")] {
        let (tag, path) = (tag_of(&page, id), format!("{table}/session/{path}"));
        for attribute in ["action", "hx-post"] {
            assert!(tag.contains(&format!("{attribute}=\"{path}\"")), "{attribute}: {tag}");
        }
    }
    for (path, form) in [("end", ""), ("start", "name=The+second+bell")] {
        let mut request = form_request(&format!("{table}/session/{path}"), form);
        request.headers_mut().insert("hx-request", "true".parse().unwrap());
        let answer = world.answer(request, Some(&owner)).await;
        assert_eq!((answer.status.as_u16(), answer.body.as_str()), (200, ""), "{path}");
    }
    assert!(world.get(&owner, &table).await.body.contains("The second bell"));
    let ended = world.post(Some(&owner), &format!("{table}/session/end"), "").await;
    assert_eq!((ended.status.as_u16(), ended.headers["location"].to_str().unwrap()), (303, &*table));
}

#[tokio::test]
async fn each_roll_is_announced_as_one_of_its_own() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    let table = format!("/c/{campaign}");
    let mut announced = Vec::new();
    for _ in 0..2 {
        // The same words each time.
        let mut request = form_request(&format!("{table}/roll"), "expression=1d1&reason=Knocks");
        request.headers_mut().insert("hx-request", "true".parse().unwrap());
        let answer = world.answer(request, Some(&owner)).await;
        let id = answer.headers["skald-roll"].to_str().unwrap().to_owned();
        let page = world.get(&owner, &table).await.body;
        assert!(tag_of(&page, &format!("announced-{id}")).contains(&format!("data-roll=\"{id}\"")), "{page}");
        announced.push(id);
    }
    assert_ne!(announced[0], announced[1]);
}

#[tokio::test]
async fn a_game_master_rolls_and_writes_for_some_people_only() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    let table = format!("/c/{campaign}");
    let person = json!({"campaign_id": campaign, "display_name": "Ana", "role": "PLAYER"});
    let person = world.call(&owner, "participant_create", person).await["id"].as_str().unwrap().to_owned();
    let (ana, secret) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let (bo, _) = world.holder("Bo", &campaign, CampaignRole::Player).await;
    world.engine.app().bind_participants(ana.id(), std::slice::from_ref(&person), "a test").await.unwrap();
    let ana = world.engine.authenticate(&secret).await.unwrap();

    assert!(world.get(&owner, &table).await.body.contains("id=\"roll-seen-by\""));
    assert!(!world.get(&ana, &table).await.body.contains("seen-by"), "players have no such field");
    for (path, form) in
        [("note", "text=MARKER-GM&seen_by=gm"), ("roll", "expression=2d6&reason=MARKER-ROLL&seen_by=gm")]
    {
        assert_eq!(world.post(Some(&owner), &format!("{table}/{path}"), form).await.status, 303);
    }
    let whisper = format!("text=A+voice+calls&seen_by=people&people={person}");
    assert_eq!(world.post(Some(&owner), &format!("{table}/note"), &whisper).await.status, 303);
    let nobody = world.post(Some(&owner), &format!("{table}/note"), "text=Lost+words&seen_by=people").await;
    assert!(
        nobody.status == 400 && nobody.body.contains("Lost words") && nobody.body.contains("Nobody is chosen"),
        "{}",
        nobody.body
    );

    let page = world.get(&owner, &table).await.body;
    for text in ["MARKER-GM", "MARKER-ROLL", "A voice calls", ">only game masters<", ">for Ana<"] {
        assert!(page.contains(text), "{text}: {page}");
    }
    let page = world.get(&ana, &table).await.body;
    assert!(page.contains("A voice calls") && !page.contains("MARKER"), "{page}");
    let page = world.get(&bo, &table).await.body;
    assert!(!page.contains("A voice calls") && !page.contains("MARKER"), "{page}");
}

#[tokio::test]
async fn a_roll_after_the_session_is_refused_and_kept() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    let table = format!("/c/{campaign}");
    assert_eq!(world.post(Some(&owner), &format!("{table}/session/end"), "").await.status, 303);
    let late = world.post(Some(&owner), &format!("{table}/roll"), "expression=3d6&reason=Too+late").await;
    assert_eq!(late.status, 422);
    for text in ["No session is going on", "value=\"Too late\"", "value=\"3d6\""] {
        assert!(late.body.contains(text), "{text}: {}", late.body);
    }
    // It would have been recorded in the other one, which is that of the owner's context.
    let (other, ..) = world.campaign("Another").await;
    assert_eq!(world.post(Some(&owner), &format!("{table}/roll"), "expression=3d6").await.status, 422);
    assert!(!world.get(&owner, &format!("/c/{other}")).await.body.contains("class=\"entry entry-roll"));
}

#[tokio::test]
async fn a_handout_is_on_the_table_of_whoever_got_it() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    let person = json!({"campaign_id": campaign, "display_name": "Ana", "role": "PLAYER"});
    let person = world.call(&owner, "participant_create", person).await["id"].as_str().unwrap().to_owned();
    let (ana, secret) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let (bo, _) = world.holder("Bo", &campaign, CampaignRole::Player).await;
    world.engine.app().bind_participants(ana.id(), std::slice::from_ref(&person), "a test").await.unwrap();
    let ana = world.engine.authenticate(&secret).await.unwrap();
    let letter = json!({"entity_type": "document", "name": "The letter", "is_private": true});
    let made = world.call(&owner, "create_entities", json!({"campaign_id": campaign, "entities": [letter]})).await;
    let table = format!("/c/{campaign}");
    assert!(!world.get(&ana, &table).await.body.contains("Revealed to you"));
    let reveal = json!({"method": "reveal", "campaign_id": campaign, "entity_id": made["results"][0]["entity_id"], "who": [person]});
    world.call(&owner, "visibility", reveal).await;
    let page = world.get(&ana, &table).await.body;
    assert!(page.contains("Revealed to you") && page.contains("The letter"), "{page}");
    assert!(!world.get(&bo, &table).await.body.contains("letter"));
}

#[tokio::test]
async fn a_long_log_leads_to_its_older_entries() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    for number in 0..70 {
        world.call(&owner, "session_note", json!({"campaign_id": campaign, "text": format!("Note {number}.")})).await;
    }
    let page = world.get(&owner, &format!("/c/{campaign}")).await.body;
    assert!(page.contains("Note 69.") && !page.contains("Note 3."), "{page}");
    let (before, _) = page.split_once("\">Older entries").unwrap();
    let older = before.rsplit_once("href=\"").unwrap().1.replace("&amp;", "&");
    let page = world.get(&owner, older.split('#').next().unwrap()).await.body;
    // The recap has all of them.
    let log = page.split_once("id=\"evening-log\"").unwrap().1;
    assert!(log.contains("Note 3.") && !log.contains("Note 69.") && log.contains("To the newest"), "{log}");
}

#[tokio::test]
async fn entries_of_one_record_have_ids_of_their_own() {
    let world = World::new().await;
    let (campaign, mira, _) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    let tam = json!({"campaign_id": campaign, "name": "Tam", "kind": "PC", "template": "daggerheart"});
    let tam = world.call(&owner, "actor_create", tam).await["id"].clone();
    let change = |actor: serde_json::Value| json!({"name": "Hope", "actor_id": actor, "by": 1});
    let trackers = json!([change(mira.into()), change(tam)]);
    world.call(&owner, "tracker", json!({"campaign_id": campaign, "method": "change", "trackers": trackers})).await;
    let page = world.get(&owner, &format!("/c/{campaign}")).await.body;
    let mut ids: Vec<&str> = page.split("id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "an id is there twice: {page}");
}

#[tokio::test]
async fn odds_of_half_an_expression_are_no_error() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("The Drowned Bells").await;
    let odds = |expression: &str| format!("/c/{campaign}/odds?expression={expression}");
    let whole = world.get(&Caller::owner(), &odds("2d6%2B3")).await;
    assert!(whole.status == 200 && whole.body.contains("5 to 15") && whole.body.contains("<svg"), "{}", whole.body);
    assert_eq!(world.get(&Caller::owner(), &odds("2d6%2B")).await.status, 200);
}

#[tokio::test]
async fn an_evening_is_told_and_a_picture_has_its_own_policy() {
    let world = World::new().await;
    let (campaign, actor, session) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    let roll = json!({"session_id": session, "actor_id": actor, "expression": "duality(+2, dc 14)", "reason": "Leaps"});
    world.call(&owner, "roll", roll).await;
    let page = world.get(&owner, &format!("/c/{campaign}/sessions/1")).await;
    assert!(page.status == 200 && page.body.contains("The first bell") && page.body.contains("Leaps"), "{}", page.body);
    for path in ["0", "2", "99"] {
        assert_eq!(world.get(&owner, &format!("/c/{campaign}/sessions/{path}")).await.status, 404, "{path}");
    }
    let request = axum::extract::Request::builder().uri(format!("/c/{campaign}/luck.svg?session={session}"));
    let dark = request.header("cookie", "skald-theme=dark").body(Body::empty()).unwrap();
    let dark = world.answer(dark, Some(&owner)).await.body;
    assert!(dark.contains("#151a23") && !dark.contains("prefers-color-scheme"), "{dark}");
    let picture = world.get(&owner, &format!("/c/{campaign}/luck.svg?session={session}")).await;
    assert!(picture.body.starts_with("<svg"), "{}", picture.body);
    assert!(picture.headers["content-security-policy"].to_str().unwrap().starts_with("default-src 'none'"));
    let explored = world.get(&owner, "/dice?e=2d6%2B3&e2=1d12&mode=at_least").await.body;
    assert!(explored.contains("/dice/odds.svg?e=2d6%2B3&amp;e2=1d12&amp;mode=at_least"), "{explored}");
    let request = axum::extract::Request::builder().uri("/assets/nothing.js").body(Body::empty()).unwrap();
    assert_eq!(world.answer(request, None).await.status, 404);
}

#[tokio::test]
async fn the_table_leads_to_recaps_and_shows_the_luck_of_the_session() {
    let world = World::new().await;
    let (campaign, actor, first) = world.campaign("The Drowned Bells").await;
    let (owner, table) = (Caller::owner(), format!("/c/{campaign}"));
    let page = world.get(&owner, &table).await.body;
    assert!(page.contains(&format!("href=\"{table}/sessions/1\">Recap so far")), "{page}");
    assert!(!page.contains("Previously") && !page.contains("luck.svg"), "{page}");
    let roll = async |session: &str| {
        let roll = json!({"session_id": session, "actor_id": actor, "expression": "2d6"});
        world.call(&owner, "roll", roll).await;
    };
    roll(&first).await;
    let picture = format!("{table}/luck.svg?session={first}&amp;rolls=1");
    let page = world.get(&owner, &table).await.body;
    assert!(
        page.contains(&format!("<div id=\"luck\"><figure class=\"card luck\"><img data-themed src=\"{picture}\"")),
        "{page}"
    );
    assert_eq!(world.get(&owner, &picture.replace("&amp;", "&")).await.status, 200);
    let evening = async || world.get(&owner, &format!("{table}/sessions/1")).await.body;
    assert!(evening().await.contains(&picture));
    roll(&first).await;
    let body = evening().await;
    let part = body.split_once("<div id=\"evening-luck\" data-live-part>").unwrap().1;
    assert!(
        part.split("</div>").next().unwrap().contains("rolls=2"),
        "another address, so that it is drawn again: {body}"
    );
    world.call(&owner, "session_end", json!({"campaign_id": campaign})).await;
    world.call(&owner, "session_start", json!({"campaign_id": campaign})).await;
    let page = world.get(&owner, &table).await.body;
    assert!(page.contains(&format!("href=\"{table}/sessions/1\">Previously: session 1")), "{page}");
    assert!(!page.contains("luck.svg"), "nobody has rolled in this session: {page}");
}

/// A campaign of more sessions than an answer has rows: each keeps its number.
#[tokio::test]
async fn sessions_keep_their_numbers_in_a_long_campaign() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Long").await;
    let owner = Caller::owner();
    for number in 2..=203 {
        world.call(&owner, "session_end", json!({"campaign_id": campaign})).await;
        let name = format!("Evening {number}");
        world.call(&owner, "session_start", json!({"campaign_id": campaign, "name": name})).await;
    }
    let page = world.get(&owner, &format!("/c/{campaign}")).await.body;
    assert!(page.contains("Session 203 · <bdi>Evening 203</bdi>"), "{page}");
    let page = world.get(&owner, &format!("/c/{campaign}/sessions")).await.body;
    assert!(page.contains("Session 1 · <bdi>The first bell</bdi>") && page.contains("Session 203 ·"), "{page}");
    let page = world.get(&owner, &format!("/c/{campaign}/sessions/2")).await.body;
    assert!(page.contains("Evening 2</h1>"), "{page}");
}

/// What the last roll of a table shows, with the faces of dice in brackets.
async fn last_roll(world: &World, campaign: &str) -> String {
    let page = world.get(&Caller::owner(), &format!("/c/{campaign}")).await.body;
    let dice = page.split_once("class=\"dice dice-large\">").unwrap().1.split_once("<p class").unwrap().0;
    let dice = dice.replace("text-anchor=\"middle\">", ">[").replace("</text>", "] ").replace("</span>", " ");
    let text: String = dice.split('<').map(|part| part.rsplit_once('>').map_or(part, |(_, text)| text)).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn each_kind_of_roll_shows_its_dice_and_a_sum_that_is_true() {
    let world = World::new().await;
    let (campaign, actor, session) = world.campaign("The Drowned Bells").await;
    let owner = Caller::owner();
    // Dice with one side show the same each time.
    for (expression, shown) in [
        ("2d1+3", "[1] [1] +3 = 5"),
        ("1d1+2d1+5", "[1] + [1] [1] +5 = 8"),
        ("2d1+3 vs 1d1", "[1] [1] +3 = 5 vs [1]"),
        ("2d1 >= 1d1+4", "[1] [1] = 2 vs [1] +4 = 5"),
        ("3x(2d1+1)", "[1] [1] +1 = 3 [1] [1] +1 = 3 [1] [1] +1 = 3"),
    ] {
        let roll = json!({"session_id": session, "expression": expression, "reason": "Stats"});
        world.call(&owner, "roll", roll).await;
        assert_eq!(last_roll(&world, &campaign).await, shown, "{expression}");
    }
    let page = world.get(&owner, &format!("/c/{campaign}")).await.body;
    assert!(page.contains(">Somebody rolled for Stats: 3, 3, 3</p>"), "{page}");

    let dice = json!([{"sides": 4, "count": 2}, {"sides": 20, "count": 1}]);
    let rolled = world.call(&owner, "roll_dice", json!({"session_id": session, "dice": dice})).await;
    let face = |pool: usize, at: usize| rolled["rolls"][pool]["results"][at].clone();
    let shown = format!("[{}] [{}] [{}] = {}", face(0, 0), face(0, 1), face(1, 0), rolled["total"]);
    assert_eq!(last_roll(&world, &campaign).await, shown);

    let roll = json!({"session_id": session, "modifier": 2, "disadvantage": true, "bonus_die": "d8", "detail": "full"});
    let rolled = world.call(&owner, "duality_action_roll", roll).await;
    let number = |field: &str| rolled[field].as_i64().unwrap_or_else(|| panic!("{field}: {rolled}"));
    let (edge, bonus) = (-number("edge"), number("bonus"));
    let shown = format!("[{}] [{}] - [{edge}] + [{bonus}] +2 = {}", number("hope"), number("fear"), number("total"));
    assert_eq!(last_roll(&world, &campaign).await, shown);
    let page = world.get(&owner, &format!("/c/{campaign}")).await.body;
    assert!(page.contains(&format!("aria-label=\"d8 shows {bonus}\"")), "{page}");

    let real = json!({"session_id": session, "hope": 9, "fear": 4, "modifier": 1, "difficulty": 12, "record": true});
    world.call(&owner, "duality_outcome", real).await;
    assert_eq!(last_roll(&world, &campaign).await, "[9] [4] +1 = 14 vs 12");

    let other = json!({"campaign_id": campaign, "name": "Tam", "kind": "PC"});
    let other = world.call(&owner, "actor_create", other).await["id"].clone();
    let rolls = json!([{"actor_id": actor, "modifier": 2}, {"actor_id": other, "modifier": 1}]);
    let group = json!({"session_id": session, "expression": "1d1", "difficulty": 1, "rolls": rolls});
    world.call(&owner, "group_roll", group).await;
    assert_eq!(last_roll(&world, &campaign).await, "[1] +2 = 3 vs 1");
}
