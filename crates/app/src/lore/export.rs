//! The lore of a campaign for an export, for the command line: what the caller may see, and nothing else.

use skald_domain::Moment;
use skald_domain::lore::Entity;
use skald_lore_files::{ExportedEntity, ExportedPost};

use super::access::EnteredLore;
use super::texts::Texts;
use crate::{Allowed, App, Call, Caller, CampaignRole, Fault, RequestControl};

/// Entities whose texts are read at once.
const ENTITIES_PER_READ: usize = 200;

impl App {
    /// The entities of a campaign with their posts, by `entity_id`. What is private is there for game masters alone.
    pub async fn export_lore(&self, caller: &Caller, campaign_id: &str) -> Result<Vec<ExportedEntity>, Fault> {
        let allowed = Allowed::InCampaign(CampaignRole::Guest);
        let campaign_id = self.enter_campaign_as(caller, "an export", allowed, campaign_id).await?.campaign_id;
        let control = RequestControl::default();
        let call = Call::internal(caller, &control);
        let lore = self.load_lore(&call, campaign_id).await?;
        let ids: Vec<u64> = lore.state().entities().map(|entity| entity.entity_id).collect();
        let mut exported = Vec::with_capacity(ids.len());
        for part in ids.chunks(ENTITIES_PER_READ) {
            let texts = self.texts_of_entities(&lore, part.iter().copied(), true).await?;
            let entities = part.iter().filter_map(|entity_id| lore.visible_entity(*entity_id));
            exported.extend(entities.map(|entity| lore.exported_entity(entity, &texts)));
        }
        Ok(exported)
    }
}

impl EnteredLore {
    fn exported_entity(&self, entity: &Entity, texts: &Texts) -> ExportedEntity {
        ExportedEntity {
            entity_id: entity.entity_id,
            entity_type: entity.entity_type.as_str().to_owned(),
            name: entity.name.to_string(),
            subtype: entity.subtype.to_string(),
            tags: self.state().tag_names(entity).into_iter().map(ToOwned::to_owned).collect(),
            aliases: entity.details().aliases.iter().map(ToString::to_string).collect(),
            is_private: entity.is_private,
            parent: entity.details().parent.filter(|parent| self.visible_entity(*parent).is_some()),
            image: entity.details().image.as_ref().map(ToString::to_string),
            date: entity.details().date.as_ref().map(ToString::to_string),
            actor_id: entity.details().actor_id.as_ref().map(ToString::to_string),
            text: texts.entry(entity.text.as_ref()).map(|entry| entry.markdown.clone()),
            html: texts.entry(entity.text.as_ref()).and_then(|entry| entry.html.clone()),
            posts: self.exported_posts(entity, texts),
            created_at: Some(Moment::from(entity.created_at).to_string()),
            updated_at: Some(Moment::from(self.updated_at(entity)).to_string()),
        }
    }

    fn exported_posts(&self, entity: &Entity, texts: &Texts) -> Vec<ExportedPost> {
        self.visible_posts(entity)
            .map(|post| ExportedPost {
                post_id: post.post_id,
                name: post.name.to_string(),
                is_private: post.is_private,
                text: texts.entry(post.text.as_ref()).map(|entry| entry.markdown.clone()),
                html: texts.entry(post.text.as_ref()).and_then(|entry| entry.html.clone()),
            })
            .collect()
    }
}
