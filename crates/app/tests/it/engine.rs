//! Tests of operations called through the engine.

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};
use skald_app::{
    App, Caller, Clock, Code, CompletionRequest, CompletionTarget, Conversation, Engine, Entropy, LocalEngine,
    RequestControl, limits,
};

struct ConstantEntropy;

impl Entropy for ConstantEntropy {
    fn bytes(&self) -> [u8; 32] {
        [1; 32]
    }
}

/// A clock with a fixed time.
struct FixedClock;

impl Clock for FixedClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_second(1_768_478_400).expect("a moment")
    }
}

pub(crate) fn engine() -> Arc<LocalEngine> {
    LocalEngine::new(App::new(Arc::new(ConstantEntropy), Arc::new(FixedClock), Arc::new(skald_store::Memory::new())))
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(future)
}

/// A call that stores nothing. All calls share one engine, since creating one describes every operation.
pub(crate) fn call(operation: &str, input: Value) -> Result<Value, skald_app::Fault> {
    static SHARED: LazyLock<Arc<LocalEngine>> = LazyLock::new(engine);
    block_on(SHARED.call(&Caller::owner(), operation, input, &RequestControl::default()))
}

#[test]
fn an_operation_that_is_not_there_is_not_found() {
    let fault = call("rol_dice", json!({})).unwrap_err();
    assert_eq!(fault.code(), Code::NotFound);
    assert!(fault.to_string().contains("roll_dice"), "{fault}");
}

#[test]
fn the_same_entropy_rolls_the_same_dice() {
    let roll = || call("roll_dice", json!({"dice": [{"sides": 20, "count": 5}]})).unwrap();
    assert_eq!(roll(), roll());
    assert_eq!(roll()["rng"]["seed_used"], "01".repeat(32));
}

#[test]
fn a_simulation_says_so_and_can_be_repeated() {
    let simulate = |extra: Value| {
        let mut input = json!({"expression": "30d10! >= 170", "simulate": 2_000, "detail": "table"});
        input.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        call("odds", input)
    };
    let first = simulate(json!({})).unwrap();
    assert_eq!(first["simulated"]["rolls"], 2_000);
    let seed = first["simulated"]["rng"]["seed_used"].clone();
    let again = simulate(json!({"rng": {"seed": seed, "roll_mode": "REPLAY"}})).unwrap();
    assert_eq!(again["values"], first["values"]);
    let exact = call("odds", json!({"expression": "2d20kh1+5 >= 15"})).unwrap();
    let sampled = call("odds", json!({"expression": "2d20kh1+5 >= 15", "simulate": 20_000})).unwrap();
    assert_eq!(exact.get("simulated"), None);
    let decimal = |answer: &Value| answer["success_chance"]["decimal"].as_f64().unwrap();
    assert!((decimal(&exact) - decimal(&sampled)).abs() < 0.02, "{exact} {sampled}");
    let most = call("odds", json!({"expression": "1d6", "simulate": limits::SIMULATED_ROLLS_MAX})).unwrap();
    assert_eq!(most["simulated"]["rolls"], limits::SIMULATED_ROLLS_MAX);
    for (input, path) in [
        (json!({"expression": "1d6", "simulate": 0}), "/simulate"),
        (json!({"expression": "1d6", "simulate": limits::SIMULATED_ROLLS_MAX + 1}), "/simulate"),
        (json!({"expression": "1000d6", "simulate": limits::SIMULATED_ROLLS_MAX}), "/simulate"),
        (json!({"expression": "1d6", "rng": {"seed": 1}}), "/rng"),
    ] {
        let fault = call("odds", input.clone()).unwrap_err();
        assert_eq!(fault.body().path.as_deref(), Some(path), "{input}: {fault}");
        assert!(fault.body().hint.is_some());
    }
}

#[test]
fn odds_that_nobody_waits_for_are_given_up() {
    let control = RequestControl::default();
    control.cancelled.cancel();
    let input = json!({"expression": "500d20 + 500d19 + 500d18 + 500d17"});
    let fault = block_on(engine().call(&Caller::owner(), "odds", input, &control)).unwrap_err();
    assert_eq!(fault.code(), Code::Unavailable);
}

#[test]
fn an_expression_is_completed_while_it_is_typed() {
    let complete = |uri: &str, typed: &str| {
        let target = CompletionTarget::Resource(uri.to_owned());
        let request =
            CompletionRequest { target, argument: "expression".to_owned(), typed: typed.to_owned(), given: Vec::new() };
        block_on(engine().complete(&Caller::owner(), &request, &RequestControl::default())).unwrap().values
    };
    assert_eq!(complete("dice://odds/{expression}", "2d20k"), ["2d20kh1", "2d20kh3", "2d20kl1"]);
    assert!(complete("dice://odds/{expression}/picture.svg", "").contains(&"4d6kh3".to_owned()));
}

#[test]
fn a_resource_reads_what_its_operation_answers() {
    let read = |uri: &str| block_on(engine().read(&Caller::owner(), uri, &RequestControl::default()));
    let text = |uri: &str| read(uri).unwrap().into_text();
    let odds = text("dice://duality/odds/2/15");
    let answer = call("duality_probability", json!({"modifier": 2, "difficulty": 15})).unwrap();
    assert_eq!(serde_json::from_str::<Value>(&odds).unwrap(), answer);
    let rules = read("dice://rules/duality").unwrap();
    assert_eq!(rules.mime_type, "text/markdown");
    assert_eq!(call("duality_rules", json!({})).unwrap()["text"], rules.into_text());
    assert_eq!(text("dice://duality/odds/%32/15"), odds, "percent-encoding is undone");
    for broken in ["%3", "%", "%+3", "%zz", "%ff"] {
        let fault = read(&format!("dice://duality/odds/{broken}/15")).unwrap_err();
        assert_eq!(fault.code(), Code::InvalidParams, "{broken}");
    }
}

#[test]
fn a_list_is_read_to_its_end_as_a_resource() {
    block_on(async {
        let engine = engine();
        // Ids are made from entropy, which is constant here, so each call needs an idempotency key of its own.
        let create = async |operation: &str, name: &str, input: Value| {
            let control =
                RequestControl { idempotency_key: Some(format!("{operation} {name}")), ..RequestControl::default() };
            let answer = engine.call(&Caller::owner(), operation, input, &control).await;
            answer.unwrap_or_else(|fault| panic!("{operation}: {fault}"))["id"].clone()
        };
        let read = async |uri: &str| {
            let contents = engine.read(&Caller::owner(), uri, &RequestControl::default()).await;
            serde_json::from_str::<Value>(&contents.unwrap_or_else(|fault| panic!("{uri}: {fault}")).into_text())
                .unwrap()
        };
        let mut campaign = Value::Null;
        for name in ["A", "B", "C", "D", "E"] {
            campaign = create("campaign_create", name, json!({"name": name, "gm_mode": "HUMAN"})).await;
        }
        for name in ["A", "B", "C", "D", "E"] {
            let participant = json!({"campaign_id": campaign, "display_name": name, "role": "PLAYER"});
            create("participant_create", name, participant).await;
            create("actor_create", name, json!({"campaign_id": campaign, "name": name, "kind": "PC"})).await;
            let session = create("session_start", name, json!({"campaign_id": campaign, "name": name})).await;
            create("session_end", name, json!({"campaign_id": campaign, "session_id": session})).await;
        }
        let campaign = campaign.as_str().unwrap();
        let lists = [
            ("campaigns", "campaigns://list".to_owned()),
            ("participants", format!("campaign://{campaign}/participants")),
            ("actors", format!("campaign://{campaign}/actors")),
            ("sessions", format!("campaign://{campaign}/sessions")),
            ("events", format!("campaign://{campaign}/events")),
        ];
        for (field, uri) in lists {
            let whole = read(&uri).await[field].as_array().unwrap().clone();
            assert!(whole.len() >= 5, "{uri}");
            let mut page = read(&format!("{uri}?limit=2")).await;
            let mut rows = page[field].as_array().unwrap().clone();
            while let Some(cursor) = page["next_cursor"].as_str() {
                page = read(&format!("{uri}?cursor={cursor}&limit=2")).await;
                rows.extend(page[field].as_array().unwrap().iter().cloned());
            }
            assert_eq!(rows, whole, "{uri}");
        }
    });
}

#[test]
fn a_malformed_uri_is_no_unknown_resource() {
    let engine = engine();
    let read = |uri: &str| block_on(engine.read(&Caller::owner(), uri, &RequestControl::default())).unwrap_err();
    let malformed = [
        "campaign://",
        "campaign://_",
        "campaign://x?y=1",
        "campaign://x/bogus",
        "campaign://x/",
        "campaign://x#y",
        "campaign://%zz",
        "campaign://x/actors/y",
        "campaigns://all",
        "universe://",
        "universe://u/bogus",
        "stategate://runs//summary",
        "dice://odds/",
    ];
    for uri in malformed {
        let fault = read(uri);
        assert_eq!((fault.code(), fault.body().status), (Code::InvalidParams, "InvalidArgument"), "{uri}: {fault}");
        let same_scheme = |known: &String| known.split_once("://").unwrap().0 == uri.split_once("://").unwrap().0;
        assert!(fault.body().allowed.iter().all(same_scheme), "{uri}: {:?}", fault.body().allowed);
        assert!(fault.to_string().len() < 200, "{uri}: {fault}");
    }
    for uri in ["campaign://camp_abc123", "campaign://x/actors", "context://x", "universe://u", "nothing://x", "x", ""]
    {
        let fault = read(uri);
        assert_eq!((fault.code(), fault.body().status), (Code::NotFound, "NotFound"), "{uri}: {fault}");
    }
}

#[test]
fn the_rules_tell_the_odds_that_are_counted() {
    let rules = call("duality_rules", json!({})).unwrap();
    let rules = rules["text"].as_str().unwrap();
    for difficulty in [10, 15, 20] {
        let odds = call("duality_probability", json!({"difficulty": difficulty})).unwrap();
        let counts: Vec<String> =
            odds["outcome_counts"].as_array().unwrap().iter().map(|row| row["count"].to_string()).collect();
        let row = format!("| {difficulty} | {} | {} of 144 |", counts.join(" | "), odds["success_count"]);
        assert!(rules.contains(&row), "the rules do not say {row}");
    }
}

#[test]
fn completions_are_cut_to_what_was_typed() {
    let complete = |typed: &str| {
        let request = CompletionRequest {
            target: CompletionTarget::Prompt("explain_odds".to_owned()),
            argument: "outcome".to_owned(),
            typed: typed.to_owned(),
            given: Vec::new(),
        };
        block_on(engine().complete(&Caller::owner(), &request, &RequestControl::default())).unwrap().values
    };
    assert_eq!(complete("Success"), ["SUCCESS_WITH_HOPE", "SUCCESS_WITH_FEAR"]);
    assert_eq!(complete("x"), [""; 0]);
}

#[test]
fn of_too_many_contexts_of_one_principal_the_oldest_goes() {
    block_on(async {
        let engine = LocalEngine::new(App::new(
            Arc::new(ConstantEntropy),
            Arc::new(TickingClock::default()),
            Arc::new(skald_store::Memory::new()),
        ));
        let created = engine
            .call(
                &Caller::owner(),
                "campaign_create",
                json!({"name": "A", "gm_mode": "HUMAN"}),
                &RequestControl::default(),
            )
            .await;
        let campaign = created.unwrap()["id"].clone();
        let client =
            |number: usize| Caller::owner().with_conversation(Conversation::Client(format!("client {number}").into()));
        let context = async |number: usize| {
            let input = json!({"view": "context"});
            let answer = engine.call(&client(number), "campaign_read", input, &RequestControl::default()).await;
            answer.unwrap()["context"]["campaign_id"].clone()
        };
        let set = async |number: usize| {
            let input = json!({"campaign_id": campaign});
            engine.call(&client(number), "set_context", input, &RequestControl::default()).await.unwrap();
        };
        for number in 0..limits::CONTEXTS_MAX {
            set(number).await;
        }
        assert_eq!(context(0).await, campaign, "as many as are kept");
        set(limits::CONTEXTS_MAX).await;
        assert_eq!((context(0).await, context(1).await), (Value::Null, campaign.clone()), "the oldest made room");
        assert_eq!(context(limits::CONTEXTS_MAX).await, campaign);
    });
}

/// A clock that advances by one second on every call.
#[derive(Default)]
struct TickingClock(std::sync::atomic::AtomicI64);

impl Clock for TickingClock {
    fn now(&self) -> jiff::Timestamp {
        let seconds = self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        jiff::Timestamp::from_second(1_768_478_400 + seconds).expect("a moment")
    }
}
