//! Access to the lore of a campaign: finds the campaign of a call, checks the caller's role, and loads the state.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;
use skald_domain::lore::{Entity, EntityFilter, LoreState};
use skald_domain::visibility::Viewer;

use super::stream::{LoreStream, lore_stream};
use crate::campaign::campaign_stream;
use crate::redaction::Redaction;
use crate::{App, Call, Fault, LinkedLore, Operation, OperationKind};
use skald_journal::{CommittedState, StreamName};

/// The lore of a campaign that a caller was let into.
pub(crate) struct EnteredLore {
    pub campaign_id: String,
    pub campaign_name: String,
    pub stream: StreamName,
    pub committed: Arc<CommittedState<LoreStream>>,
    pub redaction: Redaction,
    /// Whether the caller is a game master, who sees what is private.
    pub sees_private: bool,
}

impl EnteredLore {
    pub(super) fn state(&self) -> &LoreState {
        &self.committed.state
    }

    /// An entity that is not archived and that the caller may see. Everything else looks as if it did not exist.
    pub(super) fn visible_entity(&self, entity_id: u64) -> Option<&Arc<Entity>> {
        let entity = self.state().entity(entity_id)?;
        (entity.details().archived_at.is_none() && self.redaction.is_visible(&**entity)).then_some(entity)
    }

    /// The entity that an actor of the table is linked to, unless the caller may not see it.
    pub(crate) fn entity_of_actor(&self, actor_id: &str) -> Option<u64> {
        self.state().entity_of_actor(actor_id).filter(|entity_id| self.visible_entity(*entity_id).is_some())
    }

    /// A filter that finds every entity that the caller may see.
    pub(super) fn entity_filter(&self) -> EntityFilter {
        let revealed_posts = self.redaction.viewer().map(|viewer| viewer.revealed_posts.clone()).unwrap_or_default();
        let (sees_private, revealed) = (self.sees_private, self.revealed_entities());
        EntityFilter { sees_private, revealed, revealed_posts, ..EntityFilter::default() }
    }

    /// When an entity or one of its posts changed last, as far as the caller may know.
    pub(super) fn updated_at(&self, entity: &Entity) -> Timestamp {
        entity.updated_for(|post| self.redaction.is_visible(post))
    }

    /// The private entities that were revealed to the caller.
    pub(super) fn revealed_entities(&self) -> BTreeSet<u64> {
        self.redaction.viewer().map(|viewer| viewer.revealed_entities.clone()).unwrap_or_default()
    }

    /// Whether something private was revealed to the caller.
    pub(super) fn has_revealed_lore(&self) -> bool {
        let has_some = |viewer: &Viewer| !viewer.revealed_entities.is_empty() || !viewer.revealed_posts.is_empty();
        !self.sees_private && self.redaction.viewer().is_some_and(has_some)
    }

    /// The names of the tags that the caller sees. A tag that only private entities have is as private as they are.
    pub(super) fn visible_tags(&self) -> Vec<String> {
        let ids = self.visible_tag_ids();
        self.state().tags().filter(|tag| ids.contains(&tag.id)).map(|tag| tag.name.to_string()).collect()
    }
}

impl App {
    /// Finds the campaign of a call and checks that the caller's role allows the operation; then loads its lore.
    pub(super) async fn enter_lore<O: Operation>(
        &self,
        call: &Call<'_>,
        campaign_id: Option<&str>,
    ) -> Result<EnteredLore, Fault> {
        let campaign_id = match campaign_id {
            Some(given) => self.resolve_campaign_id(call, given).await?,
            None => self.find_default_campaign(call.caller).await?,
        };
        self.enter_campaign_as(call.caller, O::NAME, O::ALLOWED, &campaign_id).await?;
        let entered = self.load_lore(call, campaign_id).await?;
        // The revision counts private changes too, so only game masters are told.
        if O::KIND == OperationKind::Read && entered.sees_private {
            call.control.set_revision(entered.committed.revision());
        }
        if self.mirror_link(&entered.campaign_id).await?.is_some_and(|link| link.is_linked) {
            let lore = LinkedLore::new(&entered.campaign_id, entered.sees_private);
            let _ = call.control.linked_lore.set(lore);
        }
        Ok(entered)
    }

    /// The lore of a campaign that the caller has entered already.
    pub(crate) async fn load_lore(&self, call: &Call<'_>, campaign_id: String) -> Result<EnteredLore, Fault> {
        let campaign = self.campaigns.read(&campaign_stream(&campaign_id)).await;
        let campaign = campaign.map_err(|error| self.store_fault(&error))?;
        let campaign_name = campaign.state.campaign().map(|campaign| campaign.name.clone()).unwrap_or_default();
        let stream = lore_stream(&campaign_id);
        let committed = self.lore.read(&stream).await.map_err(|error| self.store_fault(&error))?;
        let redaction = Redaction::for_caller(call.caller, &campaign_id, &campaign.state);
        let redaction = redaction.with_revealed_lore(&campaign, &committed);
        let sees_private = redaction.is_game_master();
        Ok(EnteredLore { campaign_id, campaign_name, stream, committed, redaction, sees_private })
    }
}
