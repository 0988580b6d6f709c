//! Links a campaign to one of a remote place, and unlinks it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use skald_domain::decider::DecisionContext;
use skald_domain::lore::{Entity, EntityChange, ExplicitIds, LoreCommand, LoreRefusal, LoreRefusalKind, PostChange};

use super::merge_versions::current_mentions;
use super::remote::RemoteAddress;
use super::rows::MirrorLink;
use super::sync::remote_fault;
use crate::lore::stream::lore_stream;
use crate::{App, Caller, Code, Fault};
use skald_journal::{JournalFailure, SideRow, Submission, truncate_to_micros};

/// In a linked campaign, Skald gives ids above this number. Remote ids are below it, so that the two never collide.
const OWN_IDS_ABOVE: u64 = 3_000_000_000;
const LEASE_WAIT_MAX: Duration = Duration::from_secs(20);

/// A link to make.
#[derive(Debug, Clone)]
pub struct NewLink {
    pub address: RemoteAddress,
    /// Whether a campaign that has lore already may be linked: entities of the same name and type are then taken for
    /// the same, and all others are created on the other side.
    pub merge: bool,
}

impl App {
    pub(super) async fn link_mirror(
        &self,
        caller: &Caller,
        campaign_id: &str,
        new: &NewLink,
    ) -> Result<MirrorLink, Fault> {
        let lease = self.take_mirror_lease(campaign_id, LEASE_WAIT_MAX).await?;
        let linked = self.link_under_lease(caller, campaign_id, new).await;
        lease.release().await;
        self.mirrors.link_changed.notify_waiters();
        linked
    }

    async fn link_under_lease(&self, caller: &Caller, campaign_id: &str, new: &NewLink) -> Result<MirrorLink, Fault> {
        let before = self.read_link_row(campaign_id).await?;
        let is_same = before.as_ref().is_some_and(|link| link.address() == new.address);
        if let Some(link) = before.as_ref().filter(|link| link.is_linked && !is_same) {
            let message = format!("this campaign is linked to {} of {} already", link.remote_campaign, link.base_url);
            return Err(Fault::new(Code::Rejected, message).hint("unlink it first"));
        }
        self.mirrors.forget_remote(campaign_id);
        let remote = self.connect_remote(campaign_id, &new.address, None)?;
        let profile = remote.profile().await.map_err(|failure| {
            self.mirrors.forget_refused_token(campaign_id, &failure);
            remote_fault(&failure)
        })?;
        if let Some(link) = before.as_ref().filter(|_| is_same) {
            // The rows of the earlier link are still stored, so the merge continues from their merge bases.
            let link = MirrorLink {
                is_linked: true,
                remote_name: profile.campaign_name,
                requests_per_minute: profile.requests_per_minute,
                missing_permissions: profile.missing_permissions,
                failure: None,
                ..link.clone()
            };
            self.store_link(campaign_id, &link).await?;
            return Ok(link);
        }
        let stream = lore_stream(campaign_id);
        let committed = self.lore.read(&stream).await.map_err(|error| self.store_fault(&error))?;
        let count = committed.state.entity_count();
        if count > 0 && !new.merge {
            let message = format!("this campaign has {count} entities already");
            return Err(Fault::new(Code::Rejected, message).with_path("/merge").hint(
                "link an empty campaign, or send merge: entities of the same name and type are then taken for the same, \
                 and all others are created on the other side",
            ));
        }
        self.remove_all_agreed(campaign_id).await?;
        self.run_link_command(caller, campaign_id, LoreCommand::ReserveIds { above: OWN_IDS_ABOVE }, Vec::new())
            .await?;
        self.renumber_own_entities(caller, campaign_id).await?;
        let link = MirrorLink {
            base_url: new.address.base_url.clone(),
            remote_campaign: new.address.campaign_id,
            remote_name: profile.campaign_name,
            is_linked: true,
            linked_at: self.clock.now().to_string(),
            merges_by_name: new.merge,
            is_pulled: false,
            synced_at: None,
            asked_at: None,
            remote_sync: None,
            swept_at: None,
            sent_revision: 0,
            resend: BTreeSet::new(),
            skipped: BTreeMap::new(),
            requests_per_minute: profile.requests_per_minute,
            missing_permissions: profile.missing_permissions,
            failure: None,
        };
        self.store_link(campaign_id, &link).await?;
        Ok(link)
    }

    /// Gives entities from before the link new ids in our own range, so that remote ids are free. Their old ids still lead
    /// to them, and texts mention them by the new ones.
    async fn renumber_own_entities(&self, caller: &Caller, campaign_id: &str) -> Result<(), Fault> {
        let stream = lore_stream(campaign_id);
        let read = || async { self.lore.read(&stream).await.map_err(|error| self.store_fault(&error)) };
        let state = read().await?.state.clone();
        let low: Vec<u64> = state.entities().chain(state.archived()).map(|entity| entity.entity_id).collect();
        let low = low.into_iter().filter(|entity_id| *entity_id <= OWN_IDS_ABOVE);
        for (place, entity_id) in (1_u64..).zip(low.collect::<Vec<_>>()) {
            let number = state.highest_entity_id() + place;
            let ids = ExplicitIds { id: number, entity_id: number };
            self.run_link_command(caller, campaign_id, LoreCommand::RenumberEntity { entity_id, ids }, Vec::new())
                .await?;
        }
        let committed = read().await?;
        for entity in committed.state.entities() {
            self.write_current_mentions(caller, campaign_id, &committed.state, entity).await?;
        }
        Ok(())
    }

    async fn write_current_mentions(
        &self,
        caller: &Caller,
        campaign_id: &str,
        state: &skald_domain::lore::LoreState,
        entity: &Entity,
    ) -> Result<(), Fault> {
        let posts = entity.live_posts().map(|post| (Some(post.post_id), post.text.as_ref()));
        for (post_id, text) in std::iter::once((None, entity.text.as_ref())).chain(posts) {
            let Some(text) = text.filter(|text| !text.mentions.is_empty()) else { continue };
            let texts = self.load_texts(campaign_id, std::iter::once(text)).await?;
            let Some(entry) = texts.entry(Some(text)) else { continue };
            let current = current_mentions(entry, state);
            if current == *entry {
                continue;
            }
            let text = self.new_text(campaign_id, current)?;
            let (entity_id, reference) = (entity.entity_id, Some(Some(text.reference)));
            let command = match post_id {
                None => LoreCommand::UpdateEntity {
                    entity_id,
                    expected_revision: None,
                    change: Box::new(EntityChange { text: reference, ..EntityChange::default() }),
                },
                Some(post_id) => LoreCommand::UpdatePost {
                    entity_id,
                    post_id,
                    expected_revision: None,
                    change: Box::new(PostChange { text: reference, ..PostChange::default() }),
                },
            };
            let command = LoreCommand::SameValue(Box::new(command));
            self.run_link_command(caller, campaign_id, command, vec![text.row]).await?;
        }
        Ok(())
    }

    async fn run_link_command(
        &self,
        caller: &Caller,
        campaign_id: &str,
        command: LoreCommand,
        side_rows: Vec<SideRow>,
    ) -> Result<(), Fault> {
        let given = DecisionContext { at: truncate_to_micros(self.clock.now()), by: caller.id().to_owned() };
        let mut submission = Submission::new(command, given);
        submission.side_rows = side_rows;
        let is_unchanged = |refusal: &LoreRefusal| refusal.kind() == LoreRefusalKind::Unchanged;
        match self.lore.execute(&lore_stream(campaign_id), submission).await {
            Ok(_) => Ok(()),
            Err(JournalFailure::Refused(refusal)) if is_unchanged(&refusal) => Ok(()),
            Err(failure) => Err(self.lore_fault(failure)),
        }
    }

    /// Ends the link. The lore stays as it is on both sides, and what was agreed on is kept for another link.
    pub(super) async fn unlink_mirror(&self, campaign_id: &str) -> Result<MirrorLink, Fault> {
        let lease = self.take_mirror_lease_from_sync(campaign_id).await?;
        let unlinked = async {
            let link = MirrorLink { is_linked: false, ..self.require_link(campaign_id).await? };
            self.store_link(campaign_id, &link).await?;
            Ok(link)
        };
        let unlinked = unlinked.await;
        lease.release().await;
        self.mirrors.forget_remote(campaign_id);
        self.mirrors.link_changed.notify_waiters();
        unlinked
    }
}
