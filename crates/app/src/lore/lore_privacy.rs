//! Secrets of the lore for the operation `visibility`: finds entities, posts, timeline events and relationships, says who
//! may see them, and reveals or hides them.

use serde::Serialize;
use skald_domain::Moment;
use skald_domain::campaign::{CampaignSecret, CampaignState, SecretSubject};
use skald_domain::lore::{LoreCommand, LoreState, LoreSubject, VisibilityCommand};
use skald_domain::visibility::{Visibility, VisibilityStep};

use super::access::EnteredLore;
use super::batch::is_unchanged;
use super::entity_reference::EntityReference;
use super::get::ReadEntity;
use super::stream::lore_stream;
use crate::campaign::EnteredCampaign;
use crate::{App, Call, Code, CommandAnswer, Fault, Operation, OperationEntry};

/// Something of the lore as a caller names it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LoreReference<'a> {
    Entity(&'a EntityReference),
    /// A post, of this entity if one is named.
    Post {
        entity: Option<&'a EntityReference>,
        post_id: u64,
    },
    TimelineEvent(u64),
    Relationship(u64),
}

/// Something of the lore, with who may see it since when.
pub(crate) struct LoreSecret {
    pub of: LoreSubject,
    pub visible_to: Visibility,
    /// The oldest first; empty if it is as it was written.
    pub steps: Vec<VisibilityStep>,
    pub created_at: Moment,
}

impl LoreSecret {
    /// Whether not everybody sees it, or once did not.
    pub(crate) fn is_or_was_secret(&self) -> bool {
        !self.visible_to.is_table() || !self.steps.is_empty()
    }

    /// `None` if it is not there.
    fn new(campaign: &CampaignState, lore: &LoreState, of: LoreSubject) -> Option<Self> {
        let created_at = match of {
            LoreSubject::Entity { entity_id } => lore.entity(entity_id)?.created_at,
            LoreSubject::Post { post_id } => lore.post(post_id)?.1.created_at,
            LoreSubject::TimelineEvent { event_id } => lore.timeline().get(event_id)?.created_at,
            LoreSubject::Relationship { relationship_id } => lore.relationships().get(relationship_id)?.created_at,
        };
        let earlier = campaign_secret(campaign, lore, of).map_or(&[][..], |secret| &secret.steps);
        let steps = earlier.iter().chain(lore.visibility_steps(of)).cloned().collect();
        let visible_to = lore_visibility(campaign, lore, of)?;
        Some(Self { of, visible_to, steps, created_at: created_at.into() })
    }
}

/// Who may see something of the lore now. `None` if it is not there.
pub(crate) fn lore_visibility(campaign: &CampaignState, lore: &LoreState, of: LoreSubject) -> Option<Visibility> {
    let exists = match of {
        LoreSubject::Entity { entity_id } => lore.entity(entity_id).is_some(),
        LoreSubject::Post { post_id } => lore.post(post_id).is_some(),
        LoreSubject::TimelineEvent { .. } | LoreSubject::Relationship { .. } => true,
    };
    let recorded = lore.visibility_of(of).or_else(|| {
        // If the campaign says that all see it, it was made private again since.
        let visible_to = campaign_secret(campaign, lore, of)?.visible_to();
        (!visible_to.is_table()).then(|| visible_to.clone())
    });
    recorded.or_else(|| exists.then_some(Visibility::GameMasters))
}

/// What the stream of the campaign says of an entity or a post: earlier versions recorded reveals there.
fn campaign_secret<'a>(campaign: &'a CampaignState, lore: &LoreState, of: LoreSubject) -> Option<&'a CampaignSecret> {
    match of {
        LoreSubject::Entity { entity_id } => {
            let created_micros = lore.entity(entity_id)?.created_at.as_microsecond();
            campaign.secret(&SecretSubject::Entity { entity_id, created_micros })
        }
        LoreSubject::Post { post_id } => {
            let created_micros = lore.post(post_id)?.1.created_at.as_microsecond();
            campaign.secret(&SecretSubject::Post { post_id, created_micros })
        }
        LoreSubject::TimelineEvent { .. } | LoreSubject::Relationship { .. } => None,
    }
}

/// The private entities and posts that may have been revealed to somebody, wherever that is recorded.
pub(crate) fn revealed_lore(campaign: &CampaignState, lore: &LoreState) -> impl Iterator<Item = LoreSubject> {
    let earlier = campaign.secrets().filter_map(|secret| match secret.of {
        SecretSubject::Entity { entity_id, .. } => Some(LoreSubject::Entity { entity_id }),
        SecretSubject::Post { post_id, .. } => Some(LoreSubject::Post { post_id }),
        _ => None,
    });
    lore.revealed_subjects().chain(earlier.filter(|of| lore.visibility_steps(*of).is_empty()))
}

/// The operation that reads one entity.
pub(crate) fn read_entity_entry() -> OperationEntry {
    OperationEntry::from_operation::<ReadEntity>()
}

impl App {
    /// Something of the lore that the caller may see.
    pub(crate) async fn find_lore_secret(
        &self,
        call: &Call<'_>,
        entered_campaign: &EnteredCampaign,
        reference: LoreReference<'_>,
    ) -> Result<LoreSecret, Fault> {
        let lore = self.load_lore(call, entered_campaign.campaign_id.clone()).await?;
        let of = lore.resolve_subject(reference)?;
        LoreSecret::new(entered_campaign.state(), lore.state(), of).ok_or_else(|| missing_subject_fault(of))
    }

    /// The id of an entity that the caller may see.
    pub(crate) async fn find_entity_id(
        &self,
        call: &Call<'_>,
        entered_campaign: &EnteredCampaign,
        reference: &EntityReference,
    ) -> Result<u64, Fault> {
        let lore = self.load_lore(call, entered_campaign.campaign_id.clone()).await?;
        lore.resolve_entity(reference, "/entity_id")
    }

    /// Everything of the lore that was revealed or hidden and is there still.
    pub(crate) async fn list_lore_secrets(
        &self,
        call: &Call<'_>,
        entered_campaign: &EnteredCampaign,
    ) -> Result<Vec<LoreSecret>, Fault> {
        let lore = self.load_lore(call, entered_campaign.campaign_id.clone()).await?;
        let (campaign, state) = (entered_campaign.state(), lore.state());
        Ok(revealed_lore(campaign, state).filter_map(|of| LoreSecret::new(campaign, state, of)).collect())
    }

    /// Reveals or hides something with one command, which also makes an entity or a post private or public. `None` if
    /// everybody who is to see it sees it already.
    pub(crate) async fn change_lore_visibility<O: Operation, T: Serialize + Send + Sync + Clone + 'static>(
        &self,
        call: &Call<'_>,
        entered_campaign: &EnteredCampaign,
        secret: &LoreSecret,
        visible_to: Visibility,
        output: T,
    ) -> Result<Option<CommandAnswer<T>>, Fault> {
        let session_id = entered_campaign.state().active_session().map(|session| session.id.clone());
        let was = secret.visible_to.clone();
        let command = LoreCommand::Visibility(VisibilityCommand { of: secret.of, visible_to, was, session_id });
        let stream = lore_stream(&entered_campaign.campaign_id);
        let done = self.execute::<O, _, T>(&self.lore, call, &stream, command, move |_| output.clone()).await;
        match done {
            Ok((answer, _)) => Ok(Some(answer)),
            Err(failure) if is_unchanged(&failure) => Ok(None),
            Err(failure) => Err(self.lore_fault(failure)),
        }
    }
}

impl EnteredLore {
    /// Entities and posts that the caller may not see are not found.
    fn resolve_subject(&self, reference: LoreReference<'_>) -> Result<LoreSubject, Fault> {
        let of = match reference {
            LoreReference::Entity(entity) => {
                LoreSubject::Entity { entity_id: self.resolve_entity(entity, "/entity_id")? }
            }
            LoreReference::Post { entity: Some(entity), post_id } => {
                self.find_post(entity, post_id, "")?;
                LoreSubject::Post { post_id }
            }
            LoreReference::Post { entity: None, post_id } => LoreSubject::Post { post_id },
            LoreReference::TimelineEvent(event_id) => LoreSubject::TimelineEvent { event_id },
            LoreReference::Relationship(relationship_id) => LoreSubject::Relationship { relationship_id },
        };
        match of {
            LoreSubject::Post { post_id } if !self.is_post_visible(post_id) => Err(missing_subject_fault(of)),
            of => Ok(of),
        }
    }
}

fn missing_subject_fault(of: LoreSubject) -> Fault {
    let (field, id, message, hint) = match of {
        LoreSubject::Entity { entity_id: id } => {
            ("entity_id", id, format!("Entity {id} not found"), "`find_entities` finds entities by name")
        }
        LoreSubject::Post { post_id: id } => {
            ("post_id", id, format!("Post {id} not found"), "`get_entities` with include_posts lists posts")
        }
        LoreSubject::TimelineEvent { event_id: id } => {
            let message = format!("there is no event {id} on this campaign's timeline");
            ("event_id", id, message, "query the timeline for its ids")
        }
        LoreSubject::Relationship { relationship_id: id } => {
            let message = format!("there is no relationship {id} in this campaign");
            ("relationship_id", id, message, "list the relationships of an entity for their ids")
        }
    };
    Fault::new(Code::NotFound, message).with_path(format!("/{field}")).value(&id.into()).hint(hint)
}
