//! Redaction: removes from answers what the caller's role may not see. Every read passes through it.

use std::borrow::Cow;

use skald_domain::campaign::{Actor, Campaign, CampaignState, Participant, People, Session};
use skald_domain::universe::Universe;

use crate::{Caller, CampaignRole, EVERY_CAMPAIGN};

/// What a caller may see in one campaign, by role.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Redaction {
    role: Option<CampaignRole>,
}

/// A type that may be hidden from a role, in part or completely.
pub(crate) trait Redact: Clone {
    /// The value as a role sees it; `None` if it is hidden. Only a partly hidden value has to be copied.
    fn redact_for(thing: Cow<'_, Self>, role: CampaignRole) -> Option<Cow<'_, Self>>;
}

impl Redaction {
    pub(crate) fn for_caller(caller: &Caller, campaign_id: &str) -> Self {
        Self { role: caller.role_in(campaign_id) }
    }

    /// Redacts a borrowed value.
    pub(crate) fn redact_ref<T: Redact>(self, thing: &T) -> Option<Cow<'_, T>> {
        T::redact_for(Cow::Borrowed(thing), self.role?)
    }

    /// Whether the caller may see a value at all.
    pub(crate) fn is_visible<T: Redact>(self, thing: &T) -> bool {
        self.redact_ref(thing).is_some()
    }

    pub(crate) fn redact<T: Redact>(self, thing: T) -> Option<T> {
        T::redact_for(Cow::Owned(thing), self.role?).map(Cow::into_owned)
    }

    pub(crate) fn redact_all<T: Redact>(self, things: Vec<T>) -> Vec<T> {
        things.into_iter().filter_map(|thing| self.redact(thing)).collect()
    }

    /// The people of a campaign.
    pub(crate) fn redact_people(self, state: &CampaignState) -> RedactedPeople<'_> {
        RedactedPeople { seen: self, state }
    }
}

/// Whether a caller may see a run. A run of a campaign is visible to its game masters and to the player who created it;
/// a run without a campaign needs the role of player in every campaign.
pub(crate) fn can_see_run(caller: &Caller, campaign_id: Option<&str>, created_by: &str) -> bool {
    caller.role_in(campaign_id.unwrap_or(EVERY_CAMPAIGN)).is_some_and(|role| {
        let is_own = campaign_id.is_none() || created_by == caller.id();
        role >= CampaignRole::Gm || (role >= CampaignRole::Player && is_own)
    })
}

/// Types that every role sees completely.
macro_rules! redact_nothing {
    ($($type:ty),+) => {
        $(impl Redact for $type {
            fn redact_for(thing: Cow<'_, Self>, _: CampaignRole) -> Option<Cow<'_, Self>> {
                Some(thing)
            }
        })+
    };
}

redact_nothing!(
    Campaign,
    Participant,
    Actor,
    Session,
    crate::campaign::LoggedEvent,
    Universe,
    crate::universe::ListedUniverse
);

/// Types that are private as a whole: only game masters see a private one.
macro_rules! hide_private {
    ($($type:ty),+) => {
        $(impl Redact for $type {
            fn redact_for(thing: Cow<'_, Self>, role: CampaignRole) -> Option<Cow<'_, Self>> {
                (!thing.is_private || role >= CampaignRole::Gm).then_some(thing)
            }
        })+
    };
}

hide_private!(skald_domain::lore::Entity, skald_domain::lore::Post);

/// The people of a campaign, as a caller may see them.
pub(crate) struct RedactedPeople<'a> {
    seen: Redaction,
    state: &'a CampaignState,
}

impl People for RedactedPeople<'_> {
    fn campaign(&self) -> Option<Cow<'_, Campaign>> {
        self.seen.redact_ref(self.state.campaign()?)
    }

    fn participant(&self, id: &str) -> Option<Cow<'_, Participant>> {
        self.seen.redact_ref(self.state.participants().get(id)?)
    }

    fn actor(&self, id: &str) -> Option<Cow<'_, Actor>> {
        self.seen.redact_ref(self.state.actors().get(id)?)
    }

    fn participants(&self) -> Box<dyn Iterator<Item = Cow<'_, Participant>> + '_> {
        Box::new(self.state.participants().oldest_first().filter_map(|participant| self.seen.redact_ref(participant)))
    }

    fn actors(&self) -> Box<dyn Iterator<Item = Cow<'_, Actor>> + '_> {
        Box::new(self.state.actors().oldest_first().filter_map(|actor| self.seen.redact_ref(actor)))
    }
}

#[cfg(test)]
mod tests {
    use skald_domain::campaign::{
        ActorKind, CampaignCommand, CampaignEvent, CampaignRules, Controller, GmMode, Role, recap,
    };
    use skald_domain::decider::{Decider, DecisionContext};

    use super::*;

    /// A campaign with an active session, a participant and an actor.
    fn played_campaign() -> CampaignState {
        let given = DecisionContext { at: jiff::Timestamp::UNIX_EPOCH, by: "owner".to_owned() };
        let text = |text: &str| text.to_owned();
        let commands = [
            CampaignCommand::Create {
                id: text("camp_1"),
                name: text("Bells"),
                gm_mode: GmMode::Ai,
                theme_prompt: text(""),
            },
            CampaignCommand::AddParticipant {
                id: text("part_1"),
                display_name: text("Mara"),
                role: Role::Player,
                controller: Controller::Human,
            },
            CampaignCommand::AddActor { id: text("actor_1"), name: text("Ilse"), kind: ActorKind::Pc, notes: text("") },
            CampaignCommand::SetActorControl { actor_id: text("actor_1"), controller: text("part_1") },
            CampaignCommand::StartSession { id: text("sess_1"), name: text("Low tide") },
        ];
        commands.iter().fold(CampaignState::default(), |state, command| {
            let events = CampaignRules::decide(&state, command, &given).unwrap();
            events.iter().fold(state, |state, event| CampaignRules::evolve(state, event, &given))
        })
    }

    /// Guards against a recap that takes names from the unredacted state.
    #[test]
    fn a_recap_names_only_whom_the_caller_sees() {
        let state = played_campaign();
        let session = state.active_session().unwrap();
        let events: [(jiff::Timestamp, &str, CampaignEvent); 0] = [];
        let told = |role| recap(session, &Redaction { role }.redact_people(&state), events.clone());
        for role in [CampaignRole::Guest, CampaignRole::Player, CampaignRole::Gm] {
            let told = told(Some(role));
            assert!(["*Bells*", "table:** Mara", "Ilse (Mara)"].iter().all(|name| told.contains(name)), "{told}");
        }
        let told = told(None);
        assert!(!["Bells", "Mara", "Ilse"].iter().any(|name| told.contains(name)), "{told}");
    }
}
