//! Universes: the map at a moment, bodies, forms, and who may what.

use serde_json::{Value, json};
use skald_app::{Caller, CampaignRole, Engine, RequestControl};

use crate::{World, assert_harmless, percent_encode};

impl World {
    /// A universe with a star, a planet and its moon.
    async fn lamps(&self, campaign: &str, name: &str) -> String {
        let owner = Caller::owner();
        let input = json!({"method": "create", "name": name, "campaignId": campaign});
        let universe = self.call(&owner, "universe", input).await["universe"]["id"].as_str().unwrap().to_owned();
        let body = |id: &str, name: &str, parent: Value, distance: f64, kind: &str| {
            let payload = json!({
                "name": name, "mass": 1, "radius": 1, "color": "#c8a070", "orbitalDistance": distance,
                "orbitalSpeed": 0.001, "parentId": parent, "bodyType": kind,
            });
            json!({"type": "addStar", "id": id, "payload": payload})
        };
        let commands = json!([
            body("thale", &format!("Thale {name}"), json!("aurel"), 10.0, "planet"),
            body("pale", "Pale", json!("thale"), 1.0, "moon"),
        ]);
        let star = body("aurel", "Aurel", Value::Null, 0.0, "star");
        let input = json!({"universeId": universe, "command": star, "commands": commands, "state": "none"});
        self.call(&owner, "send_universe_command", input).await;
        universe
    }
}

#[tokio::test]
async fn the_map_is_shown_at_any_moment_and_nothing_changes() {
    let world = World::new().await;
    let (campaign, _, _) = world.campaign("Bells").await;
    let universe = world.lamps(&campaign, "Lamps").await;
    let (player, _) = world.holder("Ana", &campaign, CampaignRole::Guest).await;
    let path = format!("/c/{campaign}/sky/{universe}");
    let list = world.get(&player, &format!("/c/{campaign}/sky")).await;
    assert!(list.body.contains(&path) && !list.body.contains("A new universe"), "{}", list.body);
    let now = world.get(&player, &path).await;
    assert_eq!(now.status, 200, "{}", now.body);
    assert!(now.body.contains("data-body=\"thale\"") && !now.body.contains("<style"), "{}", now.body);
    assert!(!now.body.contains("/command\""), "a guest has no forms");
    let later = world.get(&player, &format!("{path}?days=101&body=thale")).await;
    assert!(later.body.contains("Looking changes nothing"), "{}", later.body);
    assert!(later.body.contains("Moves around") && later.body.contains(">Aurel</a>"), "{}", later.body);
    let place = |html: &str| {
        let at = html.find("data-body=\"thale\"").unwrap();
        html[at..at + 120].to_owned()
    };
    assert_ne!(place(&now.body), place(&later.body));
    let read = json!({"view": "summary", "universeId": universe});
    assert_eq!(world.call(&Caller::owner(), "universe_read", read).await["summary"]["time"], json!(0));
    let frames = world.get(&player, &format!("{path}/map?t=0&step=86400&frames=3")).await;
    assert_eq!(frames.body.matches("<div class=\"frame\"").count(), 3);
    for bad in ["?days=soon", "?t=NaN", "?body=nobody", "/map?t=0&frames=99"] {
        let page = world.get(&player, &format!("{path}{bad}")).await;
        assert!(page.status.is_client_error() && page.body.contains("role=\"alert\""), "{bad}: {}", page.body);
    }
}

#[tokio::test]
async fn a_game_master_changes_the_sky_with_forms() {
    let world = World::new().await;
    let (campaign, _, _) = world.campaign("Bells").await;
    let (master, _) = world.holder("Gil", &campaign, CampaignRole::Gm).await;
    let (player, _) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let made = world.post(Some(&master), &format!("/c/{campaign}/sky"), "name=Lamps").await;
    assert_eq!(made.status, 303, "{}", made.body);
    let path = made.headers["location"].to_str().unwrap().to_owned();
    let command = format!("{path}/command");
    let star = "command=add&name=Aurel&kind=star&around=&radius=2&mass=300&color=%23ffd700";
    assert_eq!(world.post(Some(&master), &command, star).await.status, 303);
    let planet =
        "command=add&name=Thale&kind=planet&around=aurel&distance=10&period=365&radius=1&mass=1&color=%232e86de";
    let sent = world.post(Some(&master), &command, planet).await;
    assert_eq!(sent.headers["location"].to_str().unwrap(), format!("{path}?body=thale#sky-body"), "{}", sent.body);
    let page = world.get(&master, &format!("{path}?body=thale")).await;
    assert!(page.body.contains("365 days"), "{}", page.body);
    assert_eq!(world.post(Some(&master), &command, "command=update&id=thale&name=Thalassa").await.status, 303);
    assert_eq!(world.post(Some(&master), &command, "command=tick&by_days=2").await.status, 303);
    let page = world.get(&master, &path).await;
    assert!(page.body.contains("Thalassa") && page.body.contains("Now, day 2."), "{}", page.body);
    // A refusal keeps what was typed.
    let twice = world.post(Some(&master), &command, planet).await;
    assert!(twice.status.is_client_error() && twice.body.contains("value=\"Thale\""), "{}", twice.body);
    assert!(twice.body.contains("id=\"name-fault\""), "{}", twice.body);
    let odd = world.post(Some(&master), &command, "command=update&id=thale&mass=heavy").await;
    assert!(odd.status == 400 && odd.body.contains("&quot;heavy&quot; is no number"), "{}", odd.body);
    // Its error is at its field, and a script does not replace a form that was refused.
    assert!(odd.body.contains("aria-invalid=\"true\" aria-describedby=\"mass-fault\""), "{}", odd.body);
    assert!(odd.body.contains("id=\"mass-fault\"") && odd.body.matches("data-refused").count() == 1, "{}", odd.body);
    let kind = "command=add&name=Vex&kind=teapot&around=&radius=1&mass=1";
    let odd = world.post(Some(&master), &command, kind).await;
    assert!(odd.status.is_client_error() && odd.body.contains("id=\"kind-fault\""), "{}", odd.body);
    assert!(!world.get(&master, &path).await.body.contains("data-refused"));
    for form in [star, "command=tick&by_days=1", "command=remove&id=thale"] {
        assert_eq!(world.post(Some(&player), &command, form).await.status, 403, "{form}");
    }
    assert_eq!(world.post(Some(&player), &format!("/c/{campaign}/sky"), "name=Mine").await.status, 403);
    assert_eq!(world.post(Some(&master), &command, "command=remove&id=aurel").await.status, 303);
    assert!(world.get(&master, &path).await.body.contains("An empty sky"));
}

#[tokio::test]
async fn a_universe_of_another_campaign_is_not_there() {
    let world = World::new().await;
    let (campaign, _, _) = world.campaign("Bells").await;
    let (elsewhere, _, _) = world.campaign("Elsewhere").await;
    let universe = world.lamps(&campaign, "A hidden sky").await;
    let (stranger, _) = world.holder("Eve", &elsewhere, CampaignRole::Gm).await;
    for path in [
        format!("/c/{campaign}/sky"),
        format!("/c/{elsewhere}/sky/{universe}"),
        format!("/c/{campaign}/sky/{universe}"),
    ] {
        for sub in ["", "/map?t=0", "/events"] {
            let page = world.get(&stranger, &format!("{path}{sub}")).await;
            assert!(page.status == 404 && !page.body.contains("hidden sky"), "{path}{sub}: {}", page.body);
        }
    }
    let list = world.get(&stranger, &format!("/c/{elsewhere}/sky")).await;
    assert!(list.body.contains("No universe here yet"), "{}", list.body);
}

#[tokio::test]
async fn names_of_the_sky_stay_text() {
    let world = World::new().await;
    let (campaign, _, _) = world.campaign("Bells").await;
    for hostile in crate::hostile_text::HOSTILE {
        let universe = world.lamps(&campaign, hostile).await;
        let path = format!("/c/{campaign}/sky/{universe}");
        for sub in ["", "?body=thale", "/map?t=5&frames=2"] {
            let page = world.get(&Caller::owner(), &format!("{path}{sub}")).await;
            assert_eq!(page.status, 200, "{}", page.body);
            assert_harmless(&page.body, sub);
        }
        let text = percent_encode(hostile);
        let form = format!("command=add&name={text}&kind={text}&around={text}&color={text}&radius={text}");
        let refused = world.post(Some(&Caller::owner()), &format!("{path}/command"), &form).await;
        assert!(refused.status.is_client_error(), "{}", refused.body);
        assert_harmless(&refused.body, "a refused command");
    }
    assert_harmless(&world.get(&Caller::owner(), &format!("/c/{campaign}/sky")).await.body, "the list");
}

#[tokio::test]
async fn whoever_looks_is_told_of_a_change() {
    use futures::StreamExt;
    let world = World::new().await;
    let (campaign, _, _) = world.campaign("Bells").await;
    let universe = world.lamps(&campaign, "Lamps").await;
    let (player, _) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let request = axum::extract::Request::builder().uri(format!("/c/{campaign}/sky/{universe}/events"));
    let response = world.send(request.body(axum::body::Body::empty()).unwrap(), Some(&player)).await;
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let mut stream = response.into_body().into_data_stream();
    let tick = json!({"universeId": universe, "command": {"type": "tick", "dt": 60}, "state": "none"});
    world.call(&Caller::owner(), "send_universe_command", tick).await;
    let told = tokio::time::timeout(std::time::Duration::from_secs(5), stream.next()).await.unwrap().unwrap().unwrap();
    let told = String::from_utf8(told.to_vec()).unwrap();
    assert!(told.contains("event: changed") && told.contains("data: 1") && told.contains("id: "), "{told}");
}

#[tokio::test]
async fn the_universes_of_a_campaign_are_found_beside_many_of_others() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let (other, ..) = world.campaign("Others").await;
    let owner = Caller::owner();
    let create = async |campaign: &str, name: &str| {
        let input = json!({"method": "create", "name": name, "campaignId": campaign});
        world.call(&owner, "universe", input).await["universe"]["id"].as_str().unwrap().to_owned()
    };
    let universe = create(&campaign, "Lamps").await;
    let foreign = create(&other, "Elsewhere").await;
    // More than a page of the list holds, all of them newer.
    for _ in 0..250 {
        create(&other, "Elsewhere").await;
    }
    let path = format!("/c/{campaign}/sky");
    let list = world.get(&owner, &path).await.body;
    assert!(list.contains(&format!("{path}/{universe}")) && !list.contains("Elsewhere"), "{list}");
    assert!(!list.contains("?cursor="), "there is no other page: {list}");
    let read = json!({"campaignId": campaign, "limit": 1});
    let read = world.call(&owner, "universe_read", read).await;
    assert_eq!((&read["universes"][0]["id"], read.get("nextCursor")), (&json!(universe), None), "{read}");
    assert_eq!(world.get(&owner, &format!("{path}/{universe}")).await.status, 200);
    let (here, missing) =
        (world.get(&owner, &format!("{path}/{foreign}")).await, world.get(&owner, &format!("{path}/uni_none")).await);
    assert_eq!((here.status.as_u16(), missing.status.as_u16()), (404, 404));
    assert_eq!(here.body.replace(&foreign, ""), missing.body.replace("uni_none", ""));
}

#[tokio::test]
async fn a_list_of_universes_of_a_campaign_is_for_its_members() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let universe = world.lamps(&campaign, "Lamps").await;
    let (other, ..) = world.campaign("Others").await;
    let (stranger, _) = world.holder("Sam", &other, CampaignRole::Gm).await;
    let refused = async |caller: &Caller, input: Value| {
        let answer = world.engine.call(caller, "universe_read", input, &RequestControl::default()).await;
        answer.unwrap_err().body().path.clone()
    };
    assert_eq!(refused(&stranger, json!({"campaignId": campaign})).await.as_deref(), Some("/campaignId"));
    let misplaced = json!({"view": "summary", "universeId": universe, "campaignId": campaign});
    assert_eq!(refused(&Caller::owner(), misplaced).await.as_deref(), Some("/campaignId"));
    let elsewhere = json!({"universeId": universe, "campaignId": other});
    assert_eq!(world.call(&Caller::owner(), "universe_read", elsewhere).await["universes"], json!([]));
}

#[tokio::test]
async fn the_distance_of_a_body_on_an_ellipse_is_what_it_moves_by() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let universe = world.lamps(&campaign, "Lamps").await;
    let owner = Caller::owner();
    let send = async |command: Value| {
        let input = json!({"universeId": universe, "command": command, "state": "none"});
        world.call(&owner, "send_universe_command", input).await
    };
    let stored = async || {
        let input = json!({"view": "body", "universeId": universe, "bodyId": "thale"});
        world.call(&owner, "universe_read", input).await["body"].clone()
    };
    send(json!({"type": "updateStar", "id": "thale", "payload": {"semiMajorAxis": 20, "eccentricity": 0.5}})).await;
    let path = format!("/c/{campaign}/sky/{universe}");
    let page = world.get(&owner, &format!("{path}?body=thale")).await.body;
    assert!(page.contains("name=\"base_distance\" value=\"20\"") && page.contains("<dd>20</dd>"), "{page}");
    let form = page.split_once("name=\"command\" value=\"update\"").unwrap().1.split("</form>").next().unwrap();
    let fields = form.split("<input").filter_map(|tag| {
        let attribute = |name: &str| Some(tag.split_once(&format!(" {name}=\""))?.1.split_once('"')?.0);
        Some((attribute("name")?, attribute("value")?))
    });
    let fields: Vec<(&str, &str)> = fields.collect();
    let typed = |changed: &[(&str, &str)]| {
        let value = |name: &str, was: &str| {
            let changed = changed.iter().find(|(field, _)| *field == name);
            percent_encode(changed.map_or(was, |(_, value)| value))
        };
        let fields = fields.iter().map(|(name, was)| format!("{name}={}", value(name, was)));
        format!("command=update&{}", fields.collect::<Vec<_>>().join("&"))
    };
    let before = stored().await;
    send(json!({"type": "updateStar", "id": "thale", "payload": {"mass": 7}})).await;
    let command = format!("{path}/command");
    assert_eq!(world.post(Some(&owner), &command, &typed(&[("distance", "40")])).await.status, 303);
    let after = stored().await;
    assert_eq!(after["body"]["semiMajorAxis"].as_f64(), Some(40.0), "{after}");
    assert_ne!(after["worldPosition"], before["worldPosition"]);
    // What was not touched is not sent: neither what somebody else changed, nor what is shown with other digits.
    assert_eq!(after["body"]["mass"].as_f64(), Some(7.0));
    for field in ["orbitalSpeed", "orbitalDistance", "color", "name"] {
        assert_eq!(after["body"][field], before["body"][field], "{field}");
    }
    let refused = world.post(Some(&owner), &command, &typed(&[("distance", "far")])).await;
    assert!(refused.status == 400 && refused.body.contains("id=\"distance-fault\""), "{}", refused.body);
    // Nothing changed is no error.
    assert_eq!(world.post(Some(&owner), &command, &typed(&[])).await.status, 303);
}

#[tokio::test]
async fn a_universe_without_a_campaign_has_a_page() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let inside = world.lamps(&campaign, "Inside").await;
    let owner = Caller::owner();
    assert!(!world.get(&owner, "/").await.body.contains("href=\"/skies\""), "there is none yet");
    let input = json!({"method": "create", "name": "Far away"});
    let universe = world.call(&owner, "universe", input).await["universe"]["id"].as_str().unwrap().to_owned();
    let path = format!("/skies/{universe}");
    assert!(world.get(&owner, "/").await.body.contains("href=\"/skies\""));
    let list = world.get(&owner, "/skies").await.body;
    assert!(list.contains(&path) && !list.contains("Inside") && !list.contains("A new universe"), "{list}");
    let star = "command=add&name=Aurel&kind=star&around=&radius=2&mass=300&color=%23ffd700";
    let sent = world.post(Some(&owner), &format!("{path}/command"), star).await;
    assert_eq!(sent.headers["location"].to_str().unwrap(), format!("{path}?body=aurel#sky-body"), "{}", sent.body);
    let page = world.get(&owner, &path).await.body;
    assert!(page.contains(&format!("data-live=\"{path}/events\"")) && page.contains("Aurel"), "{page}");
    assert_eq!(world.get(&owner, &format!("{path}/map?t=0")).await.status, 200);
    // Each universe has one address.
    assert_eq!(world.get(&owner, &format!("/c/{campaign}/sky/{universe}")).await.status, 404);
    assert_eq!(world.get(&owner, &format!("/skies/{inside}")).await.status, 404);
    // It is for those who have a role in every campaign.
    let (guest, _) = world.holder("Gil", "*", CampaignRole::Guest).await;
    let page = world.get(&guest, &path).await;
    assert!(page.status == 200 && !page.body.contains("/command\""), "{}", page.body);
    let (stranger, _) = world.holder("Sam", &campaign, CampaignRole::Gm).await;
    assert_eq!(world.get(&stranger, &path).await.status, 404);
    for path in ["/", "/skies"] {
        let page = world.get(&stranger, path).await.body;
        assert!(!page.contains("Far away") && !page.contains("href=\"/skies\""), "{path}: {page}");
    }
}
