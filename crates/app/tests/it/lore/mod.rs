//! Tests of the lore through the engine: a campaign with a clock that a test sets, and helpers to call its operations.

mod agents;
mod canon;
mod canon_search;
mod completions;
mod entity_relations;
mod history;
mod importing;
mod linked_pages;
mod note_search;
mod privacy;
mod relationships;
mod search;
mod search_dates;
mod search_words;
mod seed_examples;
mod timeline;
mod writing;
mod writing_batches;
mod writing_names;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::{Value, json};
use skald_app::{App, Caller, CampaignRole, Clock, Code, Engine, Entropy, Fault, LocalEngine, RequestControl};
use skald_journal::{Journal, StreamName};

use crate::universe::{call, caller_with_roles};

/// 2026-01-15T12:00:00Z, the time at which every test begins.
const BEGIN_SECOND: i64 = 1_768_478_400;

/// A clock that stands still until a test advances it.
struct SettableClock(AtomicI64);

impl Clock for SettableClock {
    fn now(&self) -> jiff::Timestamp {
        jiff::Timestamp::from_second(self.0.load(Ordering::Relaxed)).expect("a moment")
    }
}

/// Entropy that differs on every call.
#[derive(Default)]
struct CountingEntropy(AtomicI64);

impl Entropy for CountingEntropy {
    fn bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&self.0.fetch_add(1, Ordering::Relaxed).to_le_bytes());
        bytes
    }
}

/// An engine with one campaign, whose lore is empty. Calls without a caller are those of the owner.
struct LoreCampaign {
    engine: Arc<LocalEngine>,
    journal: Arc<dyn Journal>,
    clock: Arc<SettableClock>,
    campaign_id: String,
}

impl LoreCampaign {
    async fn new() -> Self {
        Self::on_journal(Arc::new(skald_store::Memory::new())).await
    }

    async fn on_journal(journal: Arc<dyn Journal>) -> Self {
        let clock = Arc::new(SettableClock(AtomicI64::new(BEGIN_SECOND)));
        let app = App::new(Arc::new(CountingEntropy::default()), clock.clone(), journal.clone());
        let mut campaign = Self { engine: LocalEngine::new(app), journal, clock, campaign_id: String::new() };
        let created = campaign.call("campaign_create", json!({"name": "Bells", "gm_mode": "HUMAN"})).await;
        created["id"].as_str().expect("an id").clone_into(&mut campaign.campaign_id);
        campaign
    }

    fn advance(&self, seconds: i64) {
        self.clock.0.fetch_add(seconds, Ordering::Relaxed);
    }

    fn caller(&self, role: CampaignRole) -> Caller {
        caller_with_roles(&[(&self.campaign_id, role)])
    }

    async fn call_as(&self, caller: &Caller, operation: &str, input: Value) -> Result<Value, Fault> {
        call(&self.engine, caller, operation, input).await
    }

    async fn try_call(&self, operation: &str, input: Value) -> Result<Value, Fault> {
        self.call_as(&Caller::owner(), operation, input).await
    }

    async fn call(&self, operation: &str, input: Value) -> Value {
        let answer = self.try_call(operation, input.clone()).await;
        answer.unwrap_or_else(|fault| panic!("{operation} {input}: {fault}"))
    }

    async fn call_with_key(&self, key: &str, operation: &str, input: Value) -> Value {
        let control = RequestControl { idempotency_key: Some(key.to_owned()), ..RequestControl::default() };
        let answer = self.engine.call(&Caller::owner(), operation, input, &control).await;
        answer.unwrap_or_else(|fault| panic!("{operation}: {fault}"))
    }

    /// The results of a batch operation.
    async fn results(&self, operation: &str, input: Value) -> Vec<Value> {
        rows(&self.call(operation, input).await, "results").to_vec()
    }

    /// Creates entities, which must all succeed, and returns their ids.
    async fn create(&self, entities: Value) -> Vec<u64> {
        let results = self.results("create_entities", json!({"entities": entities})).await;
        results.iter().map(|result| successful_id(result, "entity_id")).collect()
    }

    async fn create_one(&self, entity: Value) -> u64 {
        self.create(json!([entity])).await[0]
    }

    /// The result of one update.
    async fn update(&self, update: Value) -> Value {
        self.results("update_entities", json!({"updates": [update]})).await.remove(0)
    }

    async fn create_post(&self, post: Value) -> u64 {
        successful_id(&self.results("create_posts", json!({"posts": [post]})).await[0], "post_id")
    }

    async fn delete(&self, entity_id: u64) {
        let results = self.results("delete_entities", json!({"entity_ids": [entity_id]})).await;
        assert_eq!(results, [json!({"entity_id": entity_id, "success": true})]);
    }

    /// The result for one entity, by id or name, with its posts.
    async fn get(&self, reference: impl Into<Value>) -> Value {
        let input = json!({"entity_ids": [reference.into()], "include_posts": true});
        self.results("get_entities", input).await.remove(0)
    }

    async fn find(&self, filter: Value) -> Value {
        self.call("find_entities", filter).await
    }

    /// The names of the entities that are found, in order.
    async fn find_names(&self, filter: Value) -> Vec<String> {
        names(&self.find(filter).await)
    }

    /// The refusal of a call.
    async fn refusal(&self, operation: &str, input: Value) -> Fault {
        let Err(fault) = self.try_call(operation, input.clone()).await else { panic!("{operation} takes {input}") };
        assert!(fault.body().hint.is_some(), "{operation} {input}: {fault}");
        fault
    }

    async fn history(&self, input: Value) -> Value {
        self.call("lore_history", input).await
    }

    fn stream(&self) -> StreamName {
        StreamName::new("lore", &self.campaign_id)
    }

    /// The number of records of the lore.
    async fn stream_revision(&self) -> u64 {
        self.journal.head(&self.stream()).await.expect("a head").revision
    }
}

fn character(name: &str) -> Value {
    json!({"entity_type": "character", "name": name})
}

/// An entity as lists of parents, children and mentions have it.
fn named(entity_id: u64, name: &str) -> Value {
    json!({"entity_id": entity_id, "name": name})
}

fn rows<'a>(answer: &'a Value, field: &str) -> &'a [Value] {
    answer[field].as_array().unwrap_or_else(|| panic!("no list {field} in {answer}"))
}

fn names(found: &Value) -> Vec<String> {
    rows(found, "entities").iter().map(|row| row["name"].as_str().expect("a name").to_owned()).collect()
}

fn ids(found: &Value) -> Vec<u64> {
    rows(found, "entities").iter().map(|row| row["entity_id"].as_u64().expect("an id")).collect()
}

fn keys(row: &Value) -> BTreeSet<&str> {
    row.as_object().unwrap_or_else(|| panic!("{row} is an object")).keys().map(String::as_str).collect()
}

/// An object with some of the fields of another.
fn fields(row: &Value, names: &[&str]) -> Value {
    names.iter().map(|name| ((*name).to_owned(), row[*name].clone())).collect::<serde_json::Map<_, _>>().into()
}

fn successful_id(result: &Value, field: &str) -> u64 {
    assert_eq!(result["success"], true, "{result}");
    result[field].as_u64().unwrap_or_else(|| panic!("no {field} in {result}"))
}

/// Checks that an item failed with a code, and returns its sentence.
fn failure(result: &Value, code: Code) -> String {
    assert_eq!((&result["success"], &result["code"]), (&json!(false), &json!(code.name())), "{result}");
    let sentence = result["error"].as_str().unwrap_or_else(|| panic!("no error in {result}"));
    assert!(sentence.starts_with(code.name()), "{sentence}");
    sentence.to_owned()
}

/// Entities with names that differ, for lists: `Place 0001` and so on.
fn numbered_places(numbers: std::ops::Range<usize>, entry: Option<&str>) -> Value {
    let place = |number: usize| {
        let mut place = json!({"entity_type": "location", "name": format!("Place {number:05}")});
        if let Some(entry) = entry {
            place["entry"] = entry.into();
        }
        place
    };
    numbers.map(place).collect()
}
