//! Private entities and posts for the operation `visibility`: finds them, and makes them private or public.

use serde_json::{Value, json};
use skald_domain::campaign::SecretSubject;

use super::entity_reference::EntityReference;
use super::get::ReadEntity;
use super::posts::UpdatePosts;
use super::update::UpdateEntities;
use crate::campaign::EnteredCampaign;
use crate::{App, Call, Code, Fault, OperationEntry, RequestControl};

/// An entity or a post that may be private.
pub(crate) struct LoreThing {
    pub of: SecretSubject,
    pub is_private: bool,
    entity_id: u64,
    post_id: Option<u64>,
}

/// The operation that reads one entity.
pub(crate) fn read_entity_entry() -> OperationEntry {
    OperationEntry::from_operation::<ReadEntity>()
}

impl App {
    pub(crate) async fn find_private_entity(
        &self,
        call: &Call<'_>,
        entered_campaign: &EnteredCampaign,
        entity_id: u64,
    ) -> Result<LoreThing, Fault> {
        let lore = self.load_lore(call, entered_campaign.campaign_id.clone()).await?;
        let missing = || lore.missing_entity(&EntityReference::Id(entity_id), "/entity_id");
        let entity = lore.visible_entity(entity_id).ok_or_else(missing)?;
        let (entity_id, created_micros) = (entity.entity_id, entity.created_at.as_microsecond());
        let of = SecretSubject::Entity { entity_id, created_micros };
        Ok(LoreThing { of, is_private: entity.is_private, entity_id, post_id: None })
    }

    pub(crate) async fn find_private_post(
        &self,
        call: &Call<'_>,
        entered_campaign: &EnteredCampaign,
        post_id: u64,
    ) -> Result<LoreThing, Fault> {
        let lore = self.load_lore(call, entered_campaign.campaign_id.clone()).await?;
        let found = lore.state().post(post_id).filter(|_| lore.is_post_visible(post_id));
        let Some((entity, post)) = found else {
            let fault = Fault::new(Code::NotFound, format!("Post {post_id} not found")).with_path("/post_id");
            return Err(fault.value(&post_id.into()).hint("`get_entities` with include_posts lists posts"));
        };
        let of = SecretSubject::Post { post_id, created_micros: post.created_at.as_microsecond() };
        Ok(LoreThing { of, is_private: post.is_private, entity_id: entity.entity_id, post_id: Some(post_id) })
    }

    /// Makes an entity or a post private or public.
    pub(crate) async fn set_lore_privacy(
        &self,
        call: &Call<'_>,
        entered_campaign: &EnteredCampaign,
        thing: &LoreThing,
        is_private: bool,
    ) -> Result<(), Fault> {
        let mut update = json!({"entity_id": thing.entity_id, "is_private": is_private});
        let entry = match thing.post_id {
            Some(post_id) => {
                update["post_id"] = json!(post_id);
                OperationEntry::from_operation::<UpdatePosts>()
            }
            None => OperationEntry::from_operation::<UpdateEntities>(),
        };
        let (work, input) =
            (RequestControl::default(), json!({"updates": [update], "campaign_id": entered_campaign.campaign_id}));
        let answer = entry.call(self, call.caller, &work, input).await?.into_value();
        let result = answer.pointer("/results/0").or_else(|| answer.get(0)).cloned().unwrap_or(Value::Null);
        if result["success"] == json!(true) {
            return Ok(());
        }
        let error = result["error"].as_str().unwrap_or("the lore could not be changed").to_owned();
        Err(Fault::new(Code::Rejected, error).hint("`get_entities` reads it as it is"))
    }
}
