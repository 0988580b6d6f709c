//! Runs of a gate: who sees them, who decides, and that what somebody wrote stays text.

use std::collections::BTreeMap;

use serde_json::json;
use skald_app::{Caller, CampaignRole, Engine, NewToken, PrincipalKind, TokenRestrictions};

use crate::{World, assert_harmless, percent_encode};

impl World {
    /// A run of the quest, begun by the owner.
    async fn quest(&self, campaign: &str, stakes: &str) -> String {
        let context = json!({"quest": stakes, "patron": stakes, "stakes": stakes, "reward": stakes});
        let input = json!({"process_id": "quest", "campaign_id": campaign, "context": context});
        self.call(&Caller::owner(), "state_gate.create_run", input).await["run_id"].as_str().unwrap().to_owned()
    }

    /// Somebody who decides at gates.
    async fn decider(&self, campaign: &str) -> Caller {
        let new = NewToken {
            name: "Oane".to_owned(),
            person: None,
            kind: PrincipalKind::Human,
            roles: BTreeMap::from([(campaign.to_owned(), CampaignRole::Gm)]),
            participants: Vec::new(),
            gate_role: Some("human".to_owned()),
            restrictions: TokenRestrictions::default(),
            subject: None,
            program: "a test".to_owned(),
        };
        let (secret, _) = self.engine.app().create_token(new).await.unwrap();
        self.engine.authenticate(&secret).await.unwrap()
    }
}

#[tokio::test]
async fn a_person_decides_with_a_form_and_the_history_says_so() {
    let world = World::new().await;
    let (campaign, _, _) = world.campaign("Bells").await;
    let run = world.quest(&campaign, "the harbour").await;
    let decider = world.decider(&campaign).await;
    let path = format!("/c/{campaign}/runs/{run}");
    let page = world.get(&decider, &path).await;
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(page.body.contains("name=\"event\" value=\"accept_quest\""), "{}", page.body);
    assert!(page.body.contains("name=\"payload.terms\""), "{}", page.body);
    let form = "event=accept_quest&revision=1&payload.terms=Half+now";
    let sent = world.post(Some(&decider), &format!("{path}/emit"), form).await;
    assert_eq!(
        (sent.status.as_u16(), sent.headers["location"].to_str().unwrap()),
        (303, path.as_str()),
        "{}",
        sent.body
    );
    // The same form once more is the same decision.
    assert_eq!(world.post(Some(&decider), &format!("{path}/emit"), form).await.status, 303);
    let page = world.get(&decider, &path).await;
    assert!(page.body.contains("<blockquote class=\"quoted\" dir=\"auto\">Half now</blockquote>"), "{}", page.body);
    assert!(page.body.contains("Oane as human"), "{}", page.body);
    assert!(page.body.contains("Missing: "), "{}", page.body);
}

#[tokio::test]
async fn evidence_ticks_the_checklist_and_can_be_read() {
    let world = World::new().await;
    let (campaign, _, _) = world.campaign("Bells").await;
    let run = world.quest(&campaign, "the harbour").await;
    let decider = world.decider(&campaign).await;
    let path = format!("/c/{campaign}/runs/{run}");
    world.post(Some(&decider), &format!("{path}/emit"), "event=accept_quest&revision=1&payload.terms=Yes").await;
    let text = percent_encode("The fisher heard it ring beneath the hull, three nights in a row.");
    let form = format!(
        "event=submit_clue&revision=2&payload.summary=It+rings&payload.source=witness&evidence_path=clue-tide.md&evidence_text={text}"
    );
    let sent = world.post(Some(&decider), &format!("{path}/emit"), &form).await;
    assert_eq!(sent.status, 303, "{}", sent.body);
    let page = world.get(&decider, &path).await;
    assert!(page.body.contains(&format!("{path}/evidence?path=clue-tide%2Emd")), "{}", page.body);
    let evidence = world.get(&decider, &format!("{path}/evidence?path=clue-tide.md")).await;
    assert!(evidence.body.contains("The fisher heard it ring"), "{}", evidence.body);
    let missing = world.get(&decider, &format!("{path}/evidence?path=clue-none.md")).await;
    assert_eq!(missing.status, 404);
}

#[tokio::test]
async fn an_override_takes_a_person_and_a_reason() {
    let world = World::new().await;
    let (campaign, _, _) = world.campaign("Bells").await;
    let run = world.quest(&campaign, "the harbour").await;
    let decider = world.decider(&campaign).await;
    let path = format!("/c/{campaign}/runs/{run}");
    world.post(Some(&decider), &format!("{path}/emit"), "event=accept_quest&revision=1&payload.terms=Yes").await;
    let page = world.get(&decider, &path).await;
    let action = format!("{path}/override");
    assert!(page.body.contains(&format!("action=\"{action}\"")), "{}", page.body);
    // The owner of this process acts as an agent, and an agent overrides nothing.
    let as_agent = world.get(&Caller::owner(), &path).await;
    assert!(!as_agent.body.contains(&action) && as_agent.body.contains("You act here as"), "{}", as_agent.body);
    let form = "event=submit_clue&to_state=confrontation&revision=2";
    let agent = world.post(Some(&Caller::owner()), &action, &format!("{form}&reason=because")).await;
    assert!(agent.status.is_client_error() && agent.body.contains("role=\"alert\""), "{}", agent.body);
    let bare = world.post(Some(&decider), &action, form).await;
    assert_eq!(bare.status, 400, "{}", bare.body);
    assert!(bare.body.contains("An override needs a reason."), "{}", bare.body);
    let done = world.post(Some(&decider), &action, &format!("{form}&reason=They+saw+it+themselves")).await;
    assert_eq!(done.status, 303, "{}", done.body);
    let page = world.get(&decider, &path).await;
    assert!(page.body.contains("Guard overridden") && page.body.contains("They saw it themselves"), "{}", page.body);
    // What was decided on an older revision is refused, and what was typed stays.
    let late = world.post(Some(&decider), &action, &format!("{form}&reason=Too+late")).await;
    assert!(late.status.is_client_error() && late.body.contains("role=\"alert\""), "{}", late.body);
    // The run has no such form any more, so the text stands beside the others.
    assert!(late.body.contains("id=\"run-typed\"") && late.body.contains(">Too late</pre>"), "{}", late.body);
}

#[tokio::test]
async fn a_refused_form_says_so_to_scripts_and_at_its_field() {
    let world = World::new().await;
    let (campaign, _, _) = world.campaign("Bells").await;
    let run = world.quest(&campaign, "the harbour").await;
    let decider = world.decider(&campaign).await;
    let path = format!("/c/{campaign}/runs/{run}");
    let emit = format!("{path}/emit");
    world.post(Some(&decider), &emit, "event=accept_quest&revision=1&payload.terms=Yes").await;
    assert!(!world.get(&decider, &path).await.body.contains("data-refused"));
    let form = "event=submit_clue&revision=2&payload.summary=It+rings&payload.source=witness&evidence_text=Heard";
    let refused = world.post(Some(&decider), &emit, form).await.body;
    for part in
        ["data-refused", "aria-describedby=\"evidence_path-fault\" aria-invalid=\"true\"", "id=\"evidence_path-fault\""]
    {
        assert_eq!(refused.matches(part).count(), 1, "{part}: {refused}");
    }
    assert!(refused.contains("value=\"It rings\"") || refused.contains(">It rings</textarea>"), "{refused}");
    assert!(refused.contains("<option value=\"witness\" selected>"), "{refused}");
    assert!(!refused.contains("run-typed"), "{refused}");
}

#[tokio::test]
async fn runs_are_for_whom_the_gate_says() {
    let world = World::new().await;
    let (campaign, _, _) = world.campaign("Bells").await;
    let (elsewhere, _, _) = world.campaign("Elsewhere").await;
    let run = world.quest(&campaign, "a secret of the game master").await;
    let (player, _) = world.holder("Ana", &campaign, CampaignRole::Player).await;
    let (guest, _) = world.holder("Gus", &campaign, CampaignRole::Guest).await;
    let (stranger, _) = world.holder("Eve", &elsewhere, CampaignRole::Gm).await;
    let (list, path) = (format!("/c/{campaign}/runs"), format!("/c/{campaign}/runs/{run}"));
    // Players see their own runs, and of others neither a row nor a count.
    let page = world.get(&player, &list).await;
    assert!(page.status == 200 && page.body.contains("No run here yet") && !page.body.contains(&run), "{}", page.body);
    for sub in ["", "/evidence?path=x", "/events"] {
        let page = world.get(&player, &format!("{path}{sub}")).await;
        assert!(page.status == 404 && !page.body.contains("secret of the game"), "{sub}: {}", page.body);
    }
    for sub in ["/emit", "/override", "/cancel"] {
        let page = world.post(Some(&player), &format!("{path}{sub}"), "event=accept_quest&revision=1&reason=x").await;
        assert_eq!(page.status, 404, "{sub}: {}", page.body);
    }
    assert_eq!(world.get(&guest, &list).await.status, 403);
    let table = world.get(&guest, &format!("/c/{campaign}")).await;
    assert!(!table.body.contains(&format!("href=\"{list}\"")), "a guest has no link to the runs");
    assert_eq!(world.get(&stranger, &list).await.status, 404);
    // A run has one campaign: under another it is not there.
    assert_eq!(world.get(&Caller::owner(), &format!("/c/{elsewhere}/runs/{run}")).await.status, 404);
}

#[tokio::test]
async fn what_an_agent_writes_stays_text() {
    let world = World::new().await;
    let decider_reason = "'\"><svg onload=alert(1)>";
    for hostile in crate::hostile_text::HOSTILE {
        let (campaign, _, _) = world.campaign(hostile).await;
        let run = world.quest(&campaign, hostile).await;
        let decider = world.decider(&campaign).await;
        let path = format!("/c/{campaign}/runs/{run}");
        let text = percent_encode(hostile);
        let emit = format!("{path}/emit");
        world.post(Some(&decider), &emit, &format!("event=accept_quest&revision=1&payload.terms={text}")).await;
        let evidence = percent_encode(&hostile.repeat(4));
        let form = format!(
            "event=submit_clue&revision=2&payload.summary={text}&payload.source=magic&payload.found_by={text}&evidence_path=clue-1.md&evidence_text={evidence}"
        );
        let sent = world.post(Some(&decider), &emit, &form).await;
        assert_eq!(sent.status, 303, "{}", sent.body);
        let refused =
            format!("event=submit_clue&revision=1&payload.summary={text}&payload.source={text}&evidence_text={text}");
        let refused = world.post(Some(&decider), &emit, &refused).await;
        assert!(refused.status.is_client_error(), "{}", refused.body);
        assert_harmless(&refused.body, "a refused form");
        let reason = percent_encode(decider_reason);
        world.post(Some(&decider), &format!("{path}/cancel"), &format!("revision=3&reason={reason}")).await;
        for sub in ["", "/evidence?path=clue-1.md"] {
            let page = world.get(&decider, &format!("{path}{sub}")).await;
            assert_eq!(page.status, 200, "{}", page.body);
            assert_harmless(&page.body, sub);
        }
        assert_harmless(&world.get(&decider, &format!("/c/{campaign}/runs")).await.body, "the list");
    }
}

#[tokio::test]
async fn a_run_without_a_campaign_is_decided_on_its_page() {
    let world = World::new().await;
    let (campaign, ..) = world.campaign("Bells").await;
    let inside = world.quest(&campaign, "the harbour").await;
    let owner = Caller::owner();
    let decider = world.decider("*").await;
    assert!(!world.get(&owner, "/").await.body.contains("href=\"/runs\""), "there is none yet");
    let empty = world.get(&owner, "/runs").await;
    assert!(empty.status == 200 && empty.body.contains("No run here yet"), "{}", empty.body);
    let context = json!({"quest": "x", "patron": "x", "stakes": "x", "reward": "x"});
    let input = json!({"process_id": "quest", "context": context});
    let run = world.call(&owner, "state_gate.create_run", input).await["run_id"].as_str().unwrap().to_owned();

    let path = format!("/runs/{run}");
    assert!(world.get(&decider, "/").await.body.contains("href=\"/runs\""));
    let list = world.get(&decider, "/runs").await.body;
    assert!(list.contains(&format!("href=\"{path}\"")) && !list.contains(&inside), "{list}");
    let page = world.get(&decider, &path).await;
    assert!(page.status == 200 && page.body.contains(&format!("action=\"{path}/emit\"")), "{}", page.body);
    assert!(page.body.contains(&format!("data-live-parts=\"{path}/events\"")), "{}", page.body);
    let form = "event=accept_quest&revision=1&payload.terms=Half+now";
    let sent = world.post(Some(&decider), &format!("{path}/emit"), form).await;
    assert_eq!((sent.status.as_u16(), sent.headers["location"].to_str().unwrap()), (303, &*path), "{}", sent.body);
    assert!(world.get(&decider, &path).await.body.contains("Oane as human"));
    let bare = world.post(Some(&decider), &format!("{path}/override"), "event=submit_clue&to_state=x&revision=2").await;
    assert!(bare.status == 400 && bare.body.contains("An override needs a reason."), "{}", bare.body);

    // Each run has one address.
    assert_eq!(world.get(&owner, &format!("/c/{campaign}/runs/{run}")).await.status, 404);
    assert_eq!(world.get(&owner, &format!("/runs/{inside}")).await.status, 404);
    assert!(!world.get(&owner, &format!("/c/{campaign}/runs")).await.body.contains(&run));
    // It is for those who play in every campaign.
    let (player, _) = world.holder("Ana", &campaign, CampaignRole::Gm).await;
    for path in [path.clone(), format!("{path}/evidence?path=x"), format!("{path}/events")] {
        assert_eq!(world.get(&player, &path).await.status, 404, "{path}");
    }
    assert_eq!(world.post(Some(&player), &format!("{path}/cancel"), "revision=2&reason=x").await.status, 404);
    for path in ["/", "/runs"] {
        let page = world.get(&player, path).await.body;
        assert!(!page.contains(&run) && !page.contains("href=\"/runs\""), "{path}: {page}");
    }
    world.post(Some(&decider), &format!("{path}/cancel"), "revision=2&reason=Over").await;
    assert!(world.get(&decider, &path).await.body.contains("given up"));
}
