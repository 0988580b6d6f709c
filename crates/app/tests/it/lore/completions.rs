//! Tests of completions: entities by name and by number, in the campaign that is given, and reading them by name.

use serde_json::{Value, json};
use skald_app::{Caller, Code, Completion, CompletionRequest, CompletionTarget, Engine, RequestControl};

use super::LoreCampaign;
use crate::universe::run;

const ENTITY: &str = "lore://{campaign_id}/entity/{entity_id}";
const ENTITIES: &str = "lore://{campaign_id}/entities{?entity_type,query,cursor,limit}";

async fn complete(lore: &LoreCampaign, uri: &str, argument: &str, typed: &str) -> Completion {
    let request = CompletionRequest {
        target: CompletionTarget::Resource(uri.to_owned()),
        argument: argument.to_owned(),
        typed: typed.to_owned(),
        given: vec![("campaign_id".to_owned(), lore.campaign_id.clone())],
    };
    lore.engine.complete(&Caller::owner(), &request, &RequestControl::default()).await.expect("values")
}

async fn read(lore: &LoreCampaign, uri: String) -> Result<Value, Code> {
    let contents = lore.engine.read(&Caller::owner(), &uri, &RequestControl::default()).await;
    contents.map(|contents| serde_json::from_str(&contents.into_text()).expect("JSON")).map_err(|fault| fault.code())
}

async fn named_lore() -> LoreCampaign {
    let lore = LoreCampaign::new().await;
    lore.create(json!([
        {"entity_type": "location", "name": "Old Harbour", "tags": ["haven"]},
        {"entity_type": "character", "name": "Ælfric"},
        {"entity_type": "character", "name": "Mira"},
        {"entity_type": "location", "name": "Mira"},
        {"entity_type": "note", "name": "2"}
    ]))
    .await;
    lore
}

#[test]
fn entities_are_completed_by_name_and_by_number() {
    run(async {
        let lore = named_lore().await;
        let values = async |typed: &str| complete(&lore, ENTITY, "entity_id", typed).await.values;
        assert_eq!(values("har").await, ["Old Harbour"], "by a word of the name");
        assert_eq!(values("AEL").await, ["Ælfric"], "however it is written");
        assert_eq!(values("mira").await, ["3", "4"], "a name of two is none");
        assert_eq!(values("2").await, ["2", "5"], "by number, and by name; a number as a name stands for its number");
        assert_eq!(values("").await, ["Old Harbour", "Ælfric", "3", "4", "5"]);
        assert_eq!(values("bour").await, [""; 0]);
        let relationships = "lore://{campaign_id}/relationships/{entity_id}{?depth,limit}";
        assert_eq!(complete(&lore, relationships, "entity_id", "old").await.values, ["Old Harbour"]);
        let query = complete(&lore, ENTITIES, "query", "ha").await;
        assert_eq!(query, Completion { values: vec!["Old Harbour".to_owned(), "haven".to_owned()], total: 2 });
    });
}

#[test]
fn a_completion_is_about_the_campaign_that_is_given() {
    run(async {
        let lore = named_lore().await;
        lore.call("campaign_create", json!({"name": "Another", "gm_mode": "HUMAN"})).await;
        lore.call(
            "create_entities",
            json!({"campaign_id": "Another", "entities": [{"entity_type": "note", "name": "Harp"}]}),
        )
        .await;
        assert_eq!(complete(&lore, ENTITY, "entity_id", "har").await.values, ["Old Harbour"]);
        let elsewhere = CompletionRequest {
            target: CompletionTarget::Resource(ENTITY.to_owned()),
            argument: "entity_id".to_owned(),
            typed: String::new(),
            given: vec![("campaign_id".to_owned(), "camp_unknown".to_owned())],
        };
        let completion =
            lore.engine.complete(&Caller::owner(), &elsewhere, &RequestControl::default()).await.expect("values");
        assert_eq!(completion, Completion::default());
    });
}

#[test]
fn an_entity_is_read_and_checked_by_its_name() {
    run(async {
        let lore = named_lore().await;
        let campaign_id = &lore.campaign_id;
        let by_name = read(&lore, format!("lore://{campaign_id}/entity/Old%20Harbour")).await;
        assert_eq!(by_name, read(&lore, format!("lore://{campaign_id}/entity/1")).await);
        assert_eq!(by_name.expect("an entity")["entity"]["name"], "Old Harbour");
        assert_eq!(read(&lore, format!("lore://{campaign_id}/entity/Nowhere")).await, Err(Code::NotFound));
        assert_eq!(read(&lore, format!("lore://{campaign_id}/entity/Mira")).await, Err(Code::InvalidParams));
        let check = |ids: Value| json!({"entity_ids": ids, "last_synced": "2020-01-01"});
        let checked = lore.call("check_entity_updates", check(json!(["old harbour", 2, 99]))).await;
        assert_eq!((&checked["modified_entity_ids"], &checked["deleted_entity_ids"]), (&json!([1, 2]), &json!([99])));
        let fault = lore.refusal("check_entity_updates", check(json!([1, "Nowhere"]))).await;
        assert_eq!((fault.code(), fault.body().path.as_deref()), (Code::NotFound, Some("/entity_ids/1")));
    });
}
