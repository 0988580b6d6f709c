//! Tests of secrets: a marker in every secret field of a campaign and its lore reaches those who may see it and nobody
//! else, and what is hidden is answered like what is not there.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use skald_app::{
    Caller, CampaignRole, Code, CompletionRequest, CompletionTarget, Conversation, Engine, Fault, Holder, LocalEngine,
    Principal, PrincipalKind, RequestControl,
};

use crate::engine::block_on;
use crate::gate::engine;

/// In secrets of game masters.
const GM_MARKER: &str = "zorgmark";
/// In secrets of Ana, and of Mira, whom she plays.
const ANA_MARKER: &str = "zoramark";

/// A campaign with secrets, and who looks at it.
pub(super) struct Table {
    pub(super) engine: Arc<LocalEngine>,
    pub(super) campaign_id: String,
    pub(super) note_id: String,
    pub(super) roll_id: String,
    pub(super) entity_id: u64,
    pub(super) ana: Caller,
    pub(super) ben: Caller,
    pub(super) unbound: Caller,
    pub(super) guest: Caller,
}

pub(super) fn member(name: &str, campaign_id: &str, role: CampaignRole, participants: &[&str]) -> Caller {
    let roles = BTreeMap::from([(campaign_id.to_owned(), role)]);
    let holder = Holder::new(&format!("token_{name}"), name, PrincipalKind::Human, roles);
    let participants = participants.iter().map(|id| (*id).to_owned()).collect();
    let conversation = Conversation::Session(name.into());
    Caller { principal: Principal::Holder(Arc::new(Holder { participants, ..holder })), conversation }
}

pub(super) fn owner() -> Caller {
    Caller { conversation: Conversation::Session("owner".into()), ..Caller::owner() }
}

impl Table {
    pub(super) async fn new() -> Self {
        let engine = engine();
        let call = async |operation: &str, input: Value| {
            let answer = engine.call(&owner(), operation, input.clone(), &RequestControl::default()).await;
            answer.unwrap_or_else(|fault| panic!("{operation} {input}: {fault}"))
        };
        let id = |answer: &Value| answer["id"].as_str().expect("an id").to_owned();
        let campaign_id = id(&call("campaign_create", json!({"name": "Bells", "gm_mode": "AI"})).await);
        let add =
            async |name: &str| id(&call("participant_create", json!({"display_name": name, "role": "PLAYER"})).await);
        let (ana, ben) = (add("Ana").await, add("Ben").await);
        call("actor_create", json!({"name": "Mira", "kind": "PC", "controller": "Ana", "notes": "A smith."})).await;
        let secret = |who: &str| if who == "gm" { GM_MARKER } else { ANA_MARKER };
        for (who, name) in [("gm", "Duke"), ("Ana", "Wolf")] {
            let notes = format!("{} notes", secret(who));
            let actor = json!({"name": name, "kind": "NPC", "notes": notes, "notes_visible_to": [who]});
            call("actor_create", actor).await;
            let tracker = |owner: (&str, &str)| {
                let name = format!("{} clock", secret(who));
                json!({owner.0: owner.1, "name": name, "max": 6, "meaning": secret(who), "visible_to": [who]})
            };
            let trackers = [("actor_id", "Mira"), ("participant_id", "Ana")].map(tracker);
            let own = json!({"name": format!("{} fear", secret(who)), "max": 6, "visible_to": [who]});
            call("tracker", json!({"method": "set", "trackers": [trackers[0], trackers[1], own]})).await;
        }
        call("session_start", json!({"name": "Low tide"})).await;
        call("session_note", json!({"text": "The bell rang."})).await;
        let note = json!({"text": format!("{GM_MARKER} note"), "tags": ["gm"]});
        let note_id = id(&call("session_note", note).await);
        let corrected = json!({"note_id": note_id, "text": format!("{GM_MARKER} corrected note")});
        call("session_note", corrected).await;
        let note = json!({"text": format!("{ANA_MARKER} note"), "visible_to": ["Mira"]});
        call("session_note", note).await;
        let roll = |who: &str| json!({"expression": "1d20", "reason": format!("{} roll", secret(who)), "visible_to": [who], "actor_id": "Mira"});
        let rolled = call("roll", roll("gm")).await;
        let roll_id = rolled["recorded"]["roll_id"].as_str().expect("a roll").to_owned();
        call("roll", roll("Ana")).await;
        let change = json!({"actor_id": "Mira", "name": format!("{GM_MARKER} clock"), "by": -1, "reason": GM_MARKER});
        call("tracker", json!({"method": "change", "trackers": [change]})).await;
        let entity = |marker: &str| {
            json!({"entity_type": "character", "name": format!("{marker} person"), "entry": format!("{marker} entry"),
                "tags": [format!("{marker} tag")], "is_private": true})
        };
        let public = json!({"entity_type": "location", "name": "Harbour", "entry": "A harbour."});
        let created =
            call("create_entities", json!({"entities": [entity(GM_MARKER), entity(ANA_MARKER), public]})).await;
        let number = |at: usize| created["results"][at]["entity_id"].as_u64().expect("an entity");
        let post = |marker: &str| {
            json!({"entity_id": number(2), "name": format!("{marker} post"), "entry": format!("{marker} text"),
                "is_private": true})
        };
        let posts = call("create_posts", json!({"posts": [post(GM_MARKER), post(ANA_MARKER)]})).await;
        let post_id = posts["results"][1]["post_id"].as_u64().expect("a post");
        call("visibility", json!({"method": "reveal", "entity_id": number(1), "who": ["Ana"]})).await;
        call("visibility", json!({"method": "reveal", "post_id": post_id, "who": ["Mira"]})).await;
        let (entity_id, player) = (number(0), CampaignRole::Player);
        Self {
            ana: member("Ana", &campaign_id, player, &[&ana]),
            ben: member("Ben", &campaign_id, player, &[&ben]),
            unbound: member("Una", &campaign_id, player, &[]),
            guest: member("Gil", &campaign_id, CampaignRole::Guest, &[]),
            engine,
            campaign_id,
            note_id,
            roll_id,
            entity_id,
        }
    }

    pub(super) async fn try_call(&self, caller: &Caller, operation: &str, input: Value) -> Result<Value, Fault> {
        self.engine.call(caller, operation, input, &RequestControl::default()).await
    }

    pub(super) async fn call(&self, caller: &Caller, operation: &str, input: Value) -> Value {
        let answer = self.try_call(caller, operation, input.clone()).await;
        answer.unwrap_or_else(|fault| panic!("{operation} {input}: {fault}"))
    }

    /// Everything that a caller is answered by all reads, resources, prompts and completions of a campaign.
    async fn all_answers(&self, caller: &Caller) -> Vec<(String, String)> {
        let id = &self.campaign_id;
        let mut answers = Vec::new();
        let mut reads: Vec<(&str, Value)> = vec![
            ("campaign_read", json!({"campaign_id": id, "view": "roll", "roll_id": self.roll_id})),
            ("events_list", json!({"campaign_id": id, "compact": true, "limit": 100})),
            ("events_list", json!({"campaign_id": id, "limit": 100})),
            ("session_recap", json!({"campaign_id": id, "audience": "mine", "picture": true})),
            ("luck", json!({"campaign_id": id, "picture": true})),
            ("tracker", json!({"campaign_id": id, "method": "read"})),
            ("get_entities", json!({"campaign_id": id, "entity_ids": [1, 2, 3], "include_posts": true})),
            ("find_entities", json!({"campaign_id": id, "include_full": true})),
            ("list_entities", json!({"campaign_id": id, "parts": {"posts": true}})),
        ];
        for marker in [GM_MARKER, ANA_MARKER] {
            reads.push(("find_entities", json!({"campaign_id": id, "query": marker})));
            reads.push(("find_entities", json!({"campaign_id": id, "name": marker, "name_fuzzy": true})));
        }
        for view in ["campaign", "participants", "actors", "sessions", "campaigns", "context"] {
            reads.push(("campaign_read", json!({"campaign_id": id, "view": view})));
        }
        for (operation, input) in reads {
            let what = format!("{operation} {input}");
            let answer = self.try_call(caller, operation, input).await;
            answers.push((what, answer.map_or_else(|fault| format!("{:?}", fault.body()), |value| value.to_string())));
        }
        for resource in self.engine.catalogue().resources() {
            for entity_id in 1..=3 {
                let uri = resource.uri.split("{?").next().unwrap_or_default();
                let uri = uri.replace("{campaign_id}", id).replace("{entity_id}", &entity_id.to_string());
                if uri.contains('{') || !uri.contains(id.as_str()) {
                    continue;
                }
                let read = self.engine.read(caller, &uri, &RequestControl::default()).await;
                answers.push((uri, format!("{read:?}")));
            }
        }
        let named = [("campaign_id".to_owned(), id.clone())];
        let own = [named[0].clone(), ("audience".to_owned(), "mine".to_owned())];
        for (prompt, arguments) in
            [("prepare_session", &named[..]), ("run_scene", &named), ("write_recap", &named), ("write_recap", &own)]
        {
            let rendered = self.engine.render(caller, prompt, arguments, &RequestControl::default()).await;
            answers.push((format!("{prompt} {arguments:?}"), format!("{rendered:?}")));
        }
        for argument in ["entity_id", "entity_ids", "tags", "name", "actor_id", "session_id"] {
            let target = CompletionTarget::Resource("lore://{campaign_id}/entity/{entity_id}".to_owned());
            let given = vec![("campaign_id".to_owned(), id.clone())];
            let request = CompletionRequest { target, argument: argument.to_owned(), typed: "zo".to_owned(), given };
            answers.push((
                format!("complete {argument}"),
                format!("{:?}", self.engine.complete(caller, &request, &RequestControl::default()).await),
            ));
        }
        answers
    }
}

fn leaks(answers: &[(String, String)], marker: &str) -> Vec<String> {
    let found = answers.iter().filter(|(_, text)| text.contains(marker));
    found.map(|(what, text)| format!("{what}: {}", text.chars().take(3_000).collect::<String>())).collect()
}

#[test]
fn a_secret_reaches_those_who_may_see_it_and_nobody_else() {
    block_on(async {
        let table = Table::new().await;
        for (name, caller) in [("ben", &table.ben), ("unbound", &table.unbound), ("guest", &table.guest)] {
            let answers = table.all_answers(caller).await;
            assert!(answers.len() > 30, "{}", answers.len());
            assert_eq!(leaks(&answers, GM_MARKER), [""; 0], "{name}");
            assert_eq!(leaks(&answers, ANA_MARKER), [""; 0], "{name}");
        }
        let answers = table.all_answers(&table.ana).await;
        assert_eq!(leaks(&answers, GM_MARKER), [""; 0], "ana");
        let seen = |part: &str| answers.iter().any(|(_, text)| text.contains(&format!("{ANA_MARKER} {part}")));
        for part in ["notes", "clock", "fear", "note", "roll", "person", "entry", "tag", "post", "text"] {
            assert!(seen(part), "Ana sees {part}");
        }
        let answers = table.all_answers(&owner()).await;
        let seen = |part: &str| answers.iter().any(|(_, text)| text.contains(&format!("{GM_MARKER} {part}")));
        for part in ["notes", "clock", "fear", "corrected note", "roll", "person", "entry", "tag", "post", "text"] {
            assert!(seen(part), "the owner sees {part}");
        }
    });
}

#[test]
fn what_is_read_aloud_holds_no_secret_unless_the_game_master_asks() {
    block_on(async {
        let table = Table::new().await;
        let named = vec![("campaign_id".to_owned(), table.campaign_id.clone())];
        let aloud =
            table.engine.render(&owner(), "write_recap", &named, &RequestControl::default()).await.expect("a prompt");
        assert!(
            !aloud.contains(GM_MARKER) && !aloud.contains(ANA_MARKER) && aloud.contains("The bell rang."),
            "{aloud}"
        );
        let own = [named, vec![("audience".to_owned(), "mine".to_owned())]].concat();
        let own =
            table.engine.render(&owner(), "write_recap", &own, &RequestControl::default()).await.expect("a prompt");
        assert!(
            own.contains(&format!("(secret): {GM_MARKER} corrected note")) && own.contains("not to be read aloud"),
            "{own}"
        );
        let recap = table.call(&owner(), "session_recap", json!({})).await;
        assert!(!recap.to_string().contains(GM_MARKER), "{recap}");
        assert_eq!((&recap["session"]["note_count"], &recap["session"]["roll_count"]), (&json!(1), &json!(0)));
        let recap = table.call(&owner(), "session_recap", json!({"audience": "mine"})).await;
        assert_eq!((&recap["session"]["note_count"], &recap["session"]["roll_count"]), (&json!(3), &json!(2)));
    });
}

#[test]
fn hidden_and_missing_are_answered_in_the_same_bytes() {
    block_on(async {
        let table = Table::new().await;
        let id = &table.campaign_id;
        let compare = async |caller: &Caller, operation: &str, hidden: Value, missing: Value, names: (&str, &str)| {
            let text = async |input: Value| {
                let answer = table.try_call(caller, operation, input).await;
                answer.map_or_else(|fault| format!("{:?}", fault.body()), |value| value.to_string())
            };
            let (hidden, missing) = (text(hidden).await, text(missing).await);
            assert_eq!(hidden.replace(names.0, names.1), missing, "{operation}");
        };
        let other_note = "note_00000000000000000000000000";
        for caller in [&table.ben, &table.unbound] {
            let note = |note_id: &str| json!({"campaign_id": id, "note_id": note_id, "text": "x"});
            let names = (table.note_id.as_str(), other_note);
            compare(caller, "session_note", note(&table.note_id), note(other_note), names).await;
            let roll = |roll_id: &str| json!({"campaign_id": id, "view": "roll", "roll_id": roll_id});
            let names = (table.roll_id.as_str(), "roll_none");
            compare(caller, "campaign_read", roll(&table.roll_id), roll("roll_none"), names).await;
            let change = |name: &str| json!({"campaign_id": id, "method": "change", "trackers": [{"actor_id": "Mira", "name": name, "by": 1}]});
            let hidden = format!("{GM_MARKER} clock");
            compare(caller, "tracker", change(&hidden), change("nothing"), (&hidden, "nothing")).await;
            let entity = |entity_id: u64| json!({"campaign_id": id, "entity_ids": [entity_id]});
            let number = table.entity_id.to_string();
            compare(caller, "get_entities", entity(table.entity_id), entity(77), (&number, "77")).await;
        }
    });
}

#[test]
fn a_reveal_is_recorded_and_seen_as_somebody_else() {
    block_on(async {
        let table = Table::new().await;
        let reveal = |who: Value| json!({"method": "reveal", "note_id": table.note_id, "who": who});
        let revealed = table.call(&owner(), "visibility", reveal(json!(["Ben"]))).await;
        assert_eq!(revealed["visible_to"].as_array().map(Vec::len), Some(1), "{revealed}");
        let asked = json!({"method": "who_knows", "note_id": table.note_id});
        let known = table.call(&owner(), "visibility", asked).await;
        let ben = &known["secrets"][0]["known_by"][0];
        assert_eq!(ben["who"], json!("Ben"), "{known}");
        assert!(ben["session_id"].is_string() && ben["since"].is_string(), "{known}");
        let recap = |who: &str| json!({"method": "view_as", "who": [who], "recap": true});
        for (who, is_seen) in [("Ben", true), ("Ana", false), ("player", false), ("guest", false)] {
            let view = table.call(&owner(), "visibility", recap(who)).await;
            assert_eq!(view.to_string().contains("corrected note"), is_seen, "{who}: {view}");
        }
        let as_ben = table.call(&owner(), "visibility", recap("Ben")).await["view"].clone();
        let by_ben = json!({"campaign_id": table.campaign_id, "audience": "mine"});
        assert_eq!(as_ben, table.call(&table.ben, "session_recap", by_ben).await, "the same redaction");
        let entity = json!({"method": "view_as", "who": ["Ben"], "entity_id": table.entity_id});
        let fault = table.try_call(&owner(), "visibility", entity).await.expect_err("hidden from Ben");
        assert_eq!(fault.code(), Code::NotFound);
        table.call(&owner(), "visibility", reveal(json!([]))).await;
        assert!(!leaks(&table.all_answers(&table.guest).await, "corrected note").is_empty(), "everybody knows now");
        let hide = json!({"method": "hide", "note_id": table.note_id, "who": ["Ben"]});
        table.call(&owner(), "visibility", hide).await;
        assert_eq!(leaks(&table.all_answers(&table.ben).await, "corrected note"), [""; 0]);
        assert!(!leaks(&table.all_answers(&table.ana).await, "corrected note").is_empty(), "hidden from Ben alone");
        let entity = |method: &str| json!({"method": method, "entity_id": table.entity_id});
        table.call(&owner(), "visibility", entity("reveal")).await;
        let person = format!("{GM_MARKER} person");
        assert!(!leaks(&table.all_answers(&table.guest).await, &person).is_empty());
        table.call(&owner(), "visibility", entity("hide")).await;
        assert_eq!(leaks(&table.all_answers(&table.guest).await, &person), [""; 0]);
    });
}

/// A game master corrects a text before they reveal the thing.
#[test]
fn a_reveal_does_not_show_what_was_replaced_before() {
    block_on(async {
        let table = Table::new().await;
        let call = async |operation: &str, input: Value| table.call(&owner(), operation, input).await;
        let note = json!({"text": "quondam note", "tags": ["quondam tag"], "visible_to": ["gm"]});
        let note_id = call("session_note", note).await["id"].clone();
        call("session_note", json!({"note_id": note_id, "text": "hodie note", "tags": ["hodie tag"]})).await;
        call("visibility", json!({"method": "reveal", "note_id": note_id})).await;
        // The visibility and the text change in one command.
        let widow = json!({"name": "Widow", "kind": "NPC", "notes": "quondam notes", "notes_visible_to": ["gm"]});
        let widow = call("actor_create", widow).await["id"].clone();
        call("actor_update", json!({"actor_id": widow, "notes": "quondam more notes"})).await;
        let shown = json!({"actor_id": widow, "notes": "hodie notes", "notes_visible_to": ["table"]});
        call("actor_update", shown).await;
        let set = async |meaning: &str, reason: &str| {
            let tracker = json!({"name": "Doom", "max": 6, "meaning": meaning, "reason": reason, "visible_to": ["gm"]});
            call("tracker", json!({"method": "set", "trackers": [tracker]})).await;
        };
        set("quondam meaning", "quondam reason").await;
        let change = json!([{"name": "Doom", "by": 1, "reason": "quondam change"}]);
        call("tracker", json!({"method": "change", "trackers": change})).await;
        set("hodie meaning", "quondam other reason").await;
        call("visibility", json!({"method": "reveal", "tracker": "Doom"})).await;
        for (name, caller) in [("ana", &table.ana), ("ben", &table.ben), ("guest", &table.guest)] {
            let answers = table.all_answers(caller).await;
            assert_eq!(leaks(&answers, "quondam"), [""; 0], "{name}");
            for now in ["hodie note", "hodie tag", "hodie notes", "hodie meaning", "Doom"] {
                assert!(!leaks(&answers, now).is_empty(), "{name} sees {now}");
            }
        }
        let answers = table.all_answers(&owner()).await;
        for before in ["note", "notes", "more notes", "meaning", "reason", "change", "other reason"] {
            assert!(!leaks(&answers, &format!("quondam {before}")).is_empty(), "game masters see {before}");
        }
    });
}

#[test]
fn who_could_see_a_text_before_it_was_replaced_sees_it_in_the_history() {
    block_on(async {
        let table = Table::new().await;
        let call = async |operation: &str, input: Value| table.call(&owner(), operation, input).await;
        let note_id = call("session_note", json!({"text": "prima", "visible_to": ["gm"]})).await["id"].clone();
        let reveal = |who: Value| json!({"method": "reveal", "note_id": note_id, "who": who});
        let change = |text: &str| json!({"note_id": note_id, "text": text});
        // Ana reads the second text and Ben the third one; the first two were replaced before it was his.
        call("session_note", change("secunda")).await;
        call("visibility", reveal(json!(["Ana"]))).await;
        call("session_note", change("tertia")).await;
        call("visibility", reveal(json!(["Ben"]))).await;
        call("session_note", change("quarta")).await;
        call("visibility", reveal(json!([]))).await;
        let texts = async |caller: &Caller| {
            let asked = json!({"campaign_id": table.campaign_id, "types": ["note"], "order": "oldest", "limit": 100});
            let answer = table.call(caller, "events_list", asked).await;
            let events = answer["events"].as_array().expect("events").clone();
            let own = events.into_iter().filter(|logged| logged["event"]["note_id"] == note_id);
            own.map(|logged| logged["event"]["text"].as_str().expect("a text").to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(texts(&owner()).await, ["prima", "secunda", "tertia", "quarta"]);
        assert_eq!(texts(&table.ana).await, ["", "secunda", "tertia", "quarta"]);
        assert_eq!(texts(&table.ben).await, ["", "tertia", "quarta"]);
        assert_eq!(texts(&table.guest).await, ["", "quarta"]);
        let asked = json!({"campaign_id": table.campaign_id, "types": ["note.added"], "compact": true, "limit": 1});
        let lines = table.call(&table.guest, "events_list", asked).await["lines"].to_string();
        assert!(lines.contains("note, corrected since"), "{lines}");
    });
}

#[test]
fn a_revealed_roll_does_not_name_the_other_rolls_of_its_group() {
    block_on(async {
        let table = Table::new().await;
        let rolls = json!([{"actor_id": "Mira"}, {"actor_id": "Duke", "modifier": 9}]);
        let input = json!({"rolls": rolls, "visible_to": ["gm"]});
        let rolled = table.call(&owner(), "group_roll", input).await;
        let (revealed, hidden) = (&rolled["recorded"]["roll_ids"][0], &rolled["recorded"]["roll_ids"][1]);
        table.call(&owner(), "visibility", json!({"method": "reveal", "roll_id": revealed})).await;
        let rolls_of = async |caller: &Caller| {
            let asked = json!({"campaign_id": table.campaign_id, "types": ["roll"], "limit": 100});
            let answer = table.call(caller, "events_list", asked).await;
            assert!(answer.to_string().contains(hidden.as_str().expect("an id")) == (caller == &owner()), "{answer}");
            let events = answer["events"].as_array().expect("events");
            let own = events.iter().find(|logged| logged["event"]["id"] == *revealed).expect("the roll");
            own["event"]["input"]["rolls"].clone()
        };
        assert_eq!(rolls_of(&owner()).await, rolls, "game masters see what was asked for");
        for caller in [&table.ana, &table.ben, &table.guest] {
            assert_eq!(rolls_of(caller).await, json!([{"actor_id": "Mira"}]));
        }
    });
}

#[test]
fn wrong_fields_and_other_roles_are_refused() {
    block_on(async {
        let table = Table::new().await;
        for (input, path) in [
            (json!({"method": "view_as", "who": ["Ben"], "note_id": "note_1"}), "/note_id"),
            (json!({"method": "reveal", "note_id": table.note_id, "recap": true}), "/recap"),
            (json!({"method": "reveal", "note_id": table.note_id, "who": ["Cleo"]}), "/who/0"),
            (json!({"method": "view_as"}), "/who"),
            (json!({"method": "hide", "note_id": table.note_id}), "/who"),
        ] {
            let fault = table.try_call(&owner(), "visibility", input.clone()).await.expect_err("a refusal");
            assert_eq!(fault.body().path.as_deref(), Some(path), "{input}: {fault}");
        }
        let both = json!({"method": "reveal", "note_id": table.note_id, "roll_id": table.roll_id});
        assert_eq!(table.try_call(&owner(), "visibility", both).await.expect_err("one").code(), Code::InvalidParams);
        let asked = json!({"campaign_id": table.campaign_id, "method": "who_knows"});
        let fault = table.try_call(&table.ana, "visibility", asked).await.expect_err("for game masters");
        assert_eq!(fault.code(), Code::Forbidden);
        let empty = json!({"text": "x", "visible_to": []});
        let fault = table.try_call(&owner(), "session_note", empty).await.expect_err("nobody");
        assert_eq!(fault.body().path.as_deref(), Some("/visible_to"));
    });
}

/// Subscribers who may not see a note are not told that something changed.
#[test]
fn a_secret_is_announced_to_game_masters_alone() {
    let run =
        |test| tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(test);
    run(async {
        let table = Table::new().await;
        let following = Arc::clone(&table.engine);
        let followed = tokio::spawn(async move { following.follow(None).await });
        let mut changes = table.engine.changes(&owner(), None).await;
        table.call(&owner(), "session_note", json!({"text": "Hush.", "visible_to": ["gm"]})).await;
        let events = format!("campaign://{}/events", table.campaign_id);
        let mut is_told = false;
        while !is_told {
            let waited = tokio::time::timeout(std::time::Duration::from_secs(10), changes.next()).await;
            let news = waited.expect("news in time").expect("news");
            assert!(!news.concerns(&table.ben, &events), "{news:?}");
            is_told = news.concerns(&owner(), &events);
        }
        table.call(&owner(), "session_note", json!({"text": "Loud."})).await;
        let waited = tokio::time::timeout(std::time::Duration::from_secs(10), changes.next()).await;
        assert!(waited.expect("news in time").expect("news").concerns(&table.ben, &events));
        followed.abort();
    });
}
