//! The owner's pages: tokens, invitations, audit, verification, backup; nobody else reaches any of them.

use skald_app::{Caller, CampaignRole, Engine};

use crate::{World, assert_harmless, percent_encode};

const PAGES: [&str; 4] = ["/keeping", "/keeping/audit", "/keeping/store", "/keeping/limits"];
const FORMS: [&str; 6] = [
    "/keeping/tokens",
    "/keeping/tokens/revoke",
    "/keeping/invitations",
    "/keeping/invitations/revoke",
    "/keeping/verify",
    "/keeping/backup",
];

#[tokio::test]
async fn the_keeping_is_for_the_owner_alone() {
    let world = World::new().await;
    let (campaign, _, _) = world.campaign("Bells").await;
    for role in [CampaignRole::Guest, CampaignRole::Player, CampaignRole::Gm] {
        for place in [campaign.as_str(), "*"] {
            let (holder, _) = world.holder("Ana", place, role).await;
            for path in PAGES {
                let page = world.get(&holder, path).await;
                assert!(page.status == 403 && !page.body.contains("Revoke"), "{role:?} {path}: {}", page.body);
            }
            for path in FORMS {
                let page = world.post(Some(&holder), path, "name=Eve&role=gm&id=token_x").await;
                assert_eq!(page.status, 403, "{role:?} {path}: {}", page.body);
            }
            assert!(!world.get(&holder, "/").await.body.contains("/keeping"), "{role:?}");
        }
    }
    for path in PAGES {
        assert_eq!(world.get(&Caller::owner(), path).await.status, 200, "{path}");
    }
    assert!(world.get(&Caller::owner(), "/").await.body.contains("href=\"/keeping\""));
}

#[tokio::test]
async fn an_invitation_is_shown_once_with_its_code_and_signs_somebody_in() {
    let world = World::new().await;
    let (campaign, _, _) = world.campaign("Bells").await;
    let owner = Caller::owner();
    let form = format!("name=Ana&role=player&campaign={campaign}&valid_days=");
    let made = world.post(Some(&owner), "/keeping/invitations", &form).await;
    assert_eq!(made.status, 200, "{}", made.body);
    assert_eq!(made.headers["cache-control"], "no-store");
    assert!(made.body.contains("class=\"qr\"") && made.body.contains("An invitation for"), "{}", made.body);
    let link = made.body.split("<code>").find_map(|part| part.strip_prefix("http://table.example/join/")).unwrap();
    let code = link.split('<').next().unwrap().to_owned();
    let again = world.get(&owner, "/keeping").await;
    assert!(!again.body.contains(&code) && again.body.contains("the invitation of Ana"), "{}", again.body);
    let joined = world.post(None, "/join", &format!("code={code}")).await;
    assert_eq!(joined.status, 303, "{}", joined.body);
    let after = world.get(&owner, "/keeping").await;
    assert!(after.body.contains("the token of Ana") && after.body.contains("player in Bells"), "{}", after.body);
    assert!(after.body.contains("1 used, revoked or expired"), "{}", after.body);
    let second = world.post(Some(&owner), "/keeping/invitations", &form).await;
    let id = second.body.split("value=\"invitation_").nth(1).and_then(|part| part.split('"').next()).unwrap();
    let revoke = format!("id=invitation_{id}");
    assert_eq!(world.post(Some(&owner), "/keeping/invitations/revoke", &revoke).await.status, 303);
    assert_eq!(world.post(Some(&owner), "/keeping/invitations/revoke", &revoke).await.status, 404);
}

#[tokio::test]
async fn a_token_is_shown_once_and_ends_when_it_is_revoked() {
    let world = World::new().await;
    let owner = Caller::owner();
    let form = "name=Bot&role=gm&campaign=&kind=agent&scope=read&gate_role=&expires_days=30";
    let made = world.post(Some(&owner), "/keeping/tokens", form).await;
    assert_eq!(made.status, 200, "{}", made.body);
    let secret = made.body.split("<code>").find(|part| part.starts_with("skald_")).unwrap();
    let secret = secret.split('<').next().unwrap();
    let caller = world.engine.authenticate(secret).await.unwrap();
    let list = world.get(&owner, "/keeping").await;
    assert!(!list.body.contains(secret), "{}", list.body);
    for words in ["game master everywhere", "an agent", "scope read", "until "] {
        assert!(list.body.contains(words), "{words}: {}", list.body);
    }
    let revoke = format!("id={}", caller.id());
    assert_eq!(world.post(Some(&owner), "/keeping/tokens/revoke", &revoke).await.status, 303);
    world.engine.authenticate(secret).await.unwrap_err();
    assert_eq!(world.post(Some(&owner), "/keeping/tokens/revoke", &revoke).await.status, 404);
    for (bad, field) in [
        ("name=&role=gm", "name"),
        ("name=Bot&role=king", "king"),
        ("name=Bot&role=gm&expires_days=0", "allowed: 1 to 3650"),
        ("name=Bot&role=gm&scope=all", "is no scope"),
        ("name=Bot&role=gm&campaign=camp_none", "camp_none"),
    ] {
        let page = world.post(Some(&owner), "/keeping/tokens", bad).await;
        assert!(page.status.is_client_error() && page.body.contains(field), "{bad}: {}", page.body);
        assert!(!page.body.contains("shown this once"), "{bad}");
    }
}

#[tokio::test]
async fn the_store_is_verified_and_a_backup_says_why_there_is_none() {
    let world = World::new().await;
    world.campaign("Bells").await;
    let owner = Caller::owner();
    let page = world.post(Some(&owner), "/keeping/verify", "").await;
    assert!(page.status == 200 && page.body.contains("<h2>Sound</h2>"), "{}", page.body);
    let page = world.post(Some(&owner), "/keeping/backup", "").await;
    assert_eq!(page.status, 422, "{}", page.body);
    assert!(page.body.contains("A store in memory cannot be backed up."), "{}", page.body);
    assert_eq!(world.get(&owner, "/keeping/audit?since=yesterday").await.status, 400);
}

#[tokio::test]
async fn names_of_people_stay_text() {
    let world = World::new().await;
    let owner = Caller::owner();
    for hostile in crate::hostile_text::HOSTILE {
        let (campaign, _, _) = world.campaign(hostile).await;
        let text = percent_encode(hostile);
        for path in ["/keeping/tokens", "/keeping/invitations"] {
            let form = format!("name={text}&role=player&campaign={campaign}&gate_role={text}");
            let page = world.post(Some(&owner), path, &form).await;
            assert_eq!(page.status, 200, "{}", page.body);
            assert_harmless(&page.body, path);
            let page = world.post(Some(&owner), path, &format!("name={text}&role={text}&campaign={text}")).await;
            assert!(page.status.is_client_error(), "{}", page.body);
            assert_harmless(&page.body, path);
        }
        assert_harmless(&world.get(&owner, "/keeping").await.body, "/keeping");
        let audit = format!("/keeping/audit?user={text}&operation={text}&outcome={text}&campaign={text}");
        assert_harmless(&world.get(&owner, &audit).await.body, "/keeping/audit");
    }
}

/// The link of the invitation that a page shows, if it shows one.
fn shown_link(body: &str) -> Option<&str> {
    let text = body.split("<code>").find(|part| part.contains("/join/"))?;
    text.split('<').next()
}

const LOOPBACK_WARNING: &str = "Only the machine that Skald runs on can open this address.";

#[tokio::test]
async fn the_link_of_an_invitation_begins_with_the_address_that_others_open() {
    let owner = Caller::owner();
    let public = "https://table.example:8443".parse().unwrap();
    let world = World::with_public_url(Some(public)).await;
    let form = world.get(&owner, "/keeping").await.body;
    assert!(form.contains("name=\"address\" value=\"https://table.example:8443\""), "{form}");
    assert!(!form.contains(LOOPBACK_WARNING), "{form}");
    for (address, start) in [
        ("", "https://table.example:8443/join/skaldinvite_"),
        ("http://192.168.1.7:8091/", "http://192.168.1.7:8091/join/skaldinvite_"),
        ("http://127.example.org", "http://127.example.org/join/skaldinvite_"),
    ] {
        let body = format!("name=Ana&role=player&campaign=&address={}", percent_encode(address));
        let made = world.post(Some(&owner), "/keeping/invitations", &body).await;
        let link = shown_link(&made.body).unwrap();
        assert!(link.starts_with(start), "{address}: {link}");
        assert!(!made.body.contains(LOOPBACK_WARNING), "{address}: {}", made.body);
    }
    for local in ["http://127.0.0.1:8081", "http://localhost", "http://[::1]:8081"] {
        let body = format!("name=Ana&role=player&campaign=&address={}", percent_encode(local));
        let made = world.post(Some(&owner), "/keeping/invitations", &body).await;
        assert!(shown_link(&made.body).is_some() && made.body.contains(LOOPBACK_WARNING), "{local}: {}", made.body);
    }
}

#[tokio::test]
async fn without_a_public_address_the_form_offers_the_one_of_the_request() {
    let world = World::new().await;
    let keeping = async |host: &str| {
        let request = axum::extract::Request::builder().uri("/keeping").header("host", host);
        world.answer(request.body(axum::body::Body::empty()).unwrap(), Some(&Caller::owner())).await.body
    };
    for (host, is_warned) in [
        ("127.0.0.1:8081", true),
        ("localhost", true),
        ("[::1]:8081", true),
        ("localhost.example:8081", false),
        ("127.example.org", false),
        ("192.168.1.7:8081", false),
    ] {
        let page = keeping(host).await;
        assert!(page.contains(&format!("name=\"address\" value=\"http://{host}\"")), "{host}: {page}");
        assert_eq!(page.contains(LOOPBACK_WARNING), is_warned, "{host}: {page}");
    }
}

/// No invitation is made whose link could not be shown.
#[tokio::test]
async fn a_wrong_address_makes_no_invitation_and_says_what_fits() {
    let world = World::new().await;
    let owner = Caller::owner();
    for wrong in [
        "table.example",
        "http://table.example/skald",
        "http://ana:x@table.example",
        "javascript://x",
        "http://0.0.0.0",
    ] {
        let body = format!("name=Ana&role=player&campaign=&address={}", percent_encode(wrong));
        let page = world.post(Some(&owner), "/keeping/invitations", &body).await;
        assert_eq!(page.status, 400, "{wrong}: {}", page.body);
        assert!(
            page.body.contains("id=\"address-fault\"") && page.body.contains("http://192.168.1.7:8081"),
            "{}",
            page.body
        );
        assert!(page.body.contains(&format!("value=\"{wrong}\"")), "what was typed stays: {}", page.body);
        assert!(page.body.contains("No invitation is open"), "{wrong}: {}", page.body);
    }
}
