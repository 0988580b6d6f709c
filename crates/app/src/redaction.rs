//! Redaction: removes from answers what the caller may not see. Every read passes through it.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use skald_domain::campaign::{Actor, Campaign, CampaignCommand, CampaignState, Participant, People, Session, Tracker};
use skald_domain::lore::{Entity, LoreState, LoreSubject, Post};
use skald_domain::universe::Universe;
use skald_domain::visibility::{Viewer, Visibility};

use crate::campaign::CampaignStream;
use crate::lore::{LoreStream, lore_visibility, revealed_lore};
use crate::{Caller, CampaignRole, EVERY_CAMPAIGN};
use skald_journal::CommittedState;

/// What a caller may see in one campaign: by role, and by the participants that they are and the actors that they play.
#[derive(Debug, Clone)]
pub(crate) struct Redaction {
    /// `None` for a caller without a role, who sees nothing.
    viewer: Option<Arc<Viewer>>,
}

/// A type that may be hidden from a viewer, in part or completely.
pub(crate) trait Redact: Clone {
    /// The value as a viewer sees it; `None` if it is hidden. Only a partly hidden value has to be copied.
    fn redact_for<'a>(thing: Cow<'a, Self>, viewer: &Viewer) -> Option<Cow<'a, Self>>;
}

impl Redaction {
    pub(crate) fn for_caller(caller: &Caller, campaign_id: &str, state: &CampaignState) -> Self {
        Self::for_viewer(caller.role_in(campaign_id).map(|_| caller.viewer_in(campaign_id, state)))
    }

    /// For what nobody sees as a named person, such as a row of a list of campaigns: the role alone decides.
    pub(crate) fn by_role(caller: &Caller, campaign_id: &str) -> Self {
        let role = caller.role_in(campaign_id);
        Self::for_viewer(role.map(|role| Viewer { is_game_master: role >= CampaignRole::Gm, ..Viewer::default() }))
    }

    /// What a viewer sees; `None` sees nothing.
    pub(crate) fn for_viewer(viewer: Option<Viewer>) -> Self {
        Self { viewer: viewer.map(Arc::new) }
    }

    /// `None` for a caller without a role.
    pub(crate) fn viewer(&self) -> Option<&Viewer> {
        self.viewer.as_deref()
    }

    /// What the whole table may see, and may therefore be read aloud: nobody's own secrets. Nothing for a caller without a
    /// role.
    pub(crate) fn for_table(&self) -> Self {
        Self { viewer: self.viewer.is_some().then(Arc::default) }
    }

    /// The same, with the private entities and posts that were revealed to the caller. A reveal holds for the thing of that
    /// number and that age: another may get its number.
    pub(crate) fn with_revealed_lore(
        &self,
        campaign: &CommittedState<CampaignStream>,
        lore: &CommittedState<LoreStream>,
    ) -> Self {
        match &self.viewer {
            Some(viewer) if !viewer.is_game_master && !viewer.ids.is_empty() => {
                let reveal = || viewer_with_revealed_lore(viewer, &campaign.state, &lore.state);
                let viewer = lore.read_cache.get_or_insert((campaign.revision(), viewer.ids.clone()), reveal);
                Self { viewer: Some(viewer) }
            }
            _ => self.clone(),
        }
    }

    /// Whether the caller may see something with this visibility.
    pub(crate) fn admits(&self, visibility: &Visibility) -> bool {
        self.viewer().is_some_and(|viewer| visibility.is_visible_to(viewer))
    }

    /// The trackers that the caller may see.
    pub(crate) fn redact_trackers(&self, trackers: &[Tracker]) -> Vec<Tracker> {
        let Some(viewer) = self.viewer() else { return Vec::new() };
        trackers.iter().filter_map(|tracker| redact_tracker(tracker, viewer)).collect()
    }

    /// Wraps the command so that refusals reveal nothing that is hidden from the caller.
    pub(crate) fn command(&self, command: CampaignCommand) -> CampaignCommand {
        match self.viewer() {
            Some(viewer) if viewer.is_game_master => command,
            viewer => {
                CampaignCommand::AsViewer { viewer: viewer.cloned().unwrap_or_default(), command: Box::new(command) }
            }
        }
    }

    /// A visibility as the caller may know it.
    pub(crate) fn narrow_visibility(&self, visibility: &Visibility) -> Visibility {
        self.viewer().map_or(Visibility::GameMasters, |viewer| visibility.narrow_for(viewer))
    }

    pub(crate) fn is_game_master(&self) -> bool {
        self.viewer.as_ref().is_some_and(|viewer| viewer.is_game_master)
    }

    /// Redacts a borrowed value.
    pub(crate) fn redact_ref<'a, T: Redact>(&self, thing: &'a T) -> Option<Cow<'a, T>> {
        T::redact_for(Cow::Borrowed(thing), self.viewer.as_deref()?)
    }

    /// Whether the caller may see a value at all.
    pub(crate) fn is_visible<T: Redact>(&self, thing: &T) -> bool {
        self.redact_ref(thing).is_some()
    }

    pub(crate) fn redact<T: Redact>(&self, thing: T) -> Option<T> {
        T::redact_for(Cow::Owned(thing), self.viewer.as_deref()?).map(Cow::into_owned)
    }

    pub(crate) fn redact_all<T: Redact>(&self, things: Vec<T>) -> Vec<T> {
        things.into_iter().filter_map(|thing| self.redact(thing)).collect()
    }

    /// The people of a campaign.
    pub(crate) fn redact_people<'a>(&'a self, state: &'a CampaignState) -> RedactedPeople<'a> {
        RedactedPeople { seen: self, state }
    }
}

fn viewer_with_revealed_lore(viewer: &Viewer, campaign: &CampaignState, lore: &LoreState) -> Viewer {
    let mut viewer = viewer.clone();
    for of in revealed_lore(campaign, lore) {
        let visible_to = lore_visibility(campaign, lore, of);
        // What everybody sees is not private any more.
        let is_revealed = visible_to.is_some_and(|people| !people.is_table() && people.is_visible_to(&viewer));
        match of {
            LoreSubject::Entity { entity_id } if is_revealed => {
                viewer.revealed_entities.insert(lore.current_id(entity_id));
            }
            LoreSubject::Post { post_id } if is_revealed => drop(viewer.revealed_posts.insert(post_id)),
            _ => {}
        }
    }
    viewer
}

/// Viewers that are remembered with one state of the lore before all are forgotten.
const VIEWERS_REMEMBERED: usize = 256;

/// What was revealed to whom in one state of the lore, by the revision of its campaign and the ids of the viewer: every
/// read needs it, and there may be many reveals.
#[derive(Default)]
pub(crate) struct RevealedLoreCache(Mutex<HashMap<ViewerKey, Arc<Viewer>>>);

/// The revision of the campaign, and the ids of the viewer.
type ViewerKey = (u64, BTreeSet<String>);

impl RevealedLoreCache {
    fn get_or_insert(&self, key: ViewerKey, reveal: impl FnOnce() -> Viewer) -> Arc<Viewer> {
        let mut viewers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if viewers.len() >= VIEWERS_REMEMBERED {
            viewers.clear();
        }
        Arc::clone(viewers.entry(key).or_insert_with(|| Arc::new(reveal())))
    }
}

/// Whether a caller may see a run. A run of a campaign is visible to its game masters and to the player who created it. A run
/// without a campaign is visible to its creator, to game masters of all campaigns, and to players of all campaigns whose token
/// has a role at gates: a reviewer, and not everybody at a table.
pub(crate) fn can_see_run(caller: &Caller, campaign_id: Option<&str>, created_by: &str) -> bool {
    caller.role_in(campaign_id.unwrap_or(EVERY_CAMPAIGN)).is_some_and(|role| {
        let is_reviewer = campaign_id.is_none() && caller.has_gate_role();
        role >= CampaignRole::Gm || (role >= CampaignRole::Player && (is_reviewer || created_by == caller.id()))
    })
}

/// Types that every member sees completely.
macro_rules! redact_nothing {
    ($($type:ty),+) => {
        $(impl Redact for $type {
            fn redact_for<'a>(thing: Cow<'a, Self>, _: &Viewer) -> Option<Cow<'a, Self>> {
                Some(thing)
            }
        })+
    };
}

redact_nothing!(Campaign, Session, Universe, crate::universe::ListedUniverse);

fn redact_tracker(tracker: &Tracker, viewer: &Viewer) -> Option<Tracker> {
    let is_visible = tracker.visible_to.is_visible_to(viewer);
    is_visible.then(|| Tracker { visible_to: tracker.visible_to.narrow_for(viewer), ..tracker.clone() })
}

fn has_secret_trackers(trackers: &[Tracker]) -> bool {
    trackers.iter().any(|tracker| !tracker.visible_to.is_table())
}

impl Redact for Participant {
    fn redact_for<'a>(thing: Cow<'a, Self>, viewer: &Viewer) -> Option<Cow<'a, Self>> {
        if viewer.is_game_master || !has_secret_trackers(&thing.trackers) {
            return Some(thing);
        }
        let mut participant = thing.into_owned();
        participant.trackers = participant.trackers.iter().filter_map(|each| redact_tracker(each, viewer)).collect();
        Some(Cow::Owned(participant))
    }
}

impl Redact for Actor {
    fn redact_for<'a>(thing: Cow<'a, Self>, viewer: &Viewer) -> Option<Cow<'a, Self>> {
        if viewer.is_game_master || (thing.notes_visible_to.is_table() && !has_secret_trackers(&thing.trackers)) {
            return Some(thing);
        }
        let mut actor = thing.into_owned();
        if !actor.notes_visible_to.is_visible_to(viewer) {
            (actor.notes, actor.notes_visible_to) = (String::new(), Visibility::Table);
        }
        actor.notes_visible_to = actor.notes_visible_to.narrow_for(viewer);
        actor.trackers = actor.trackers.iter().filter_map(|tracker| redact_tracker(tracker, viewer)).collect();
        Some(Cow::Owned(actor))
    }
}

/// A private entity is there for game masters, and for those to whom it was revealed.
impl Redact for Entity {
    fn redact_for<'a>(thing: Cow<'a, Self>, viewer: &Viewer) -> Option<Cow<'a, Self>> {
        let is_revealed = viewer.revealed_entities.contains(&thing.entity_id);
        (!thing.is_private || viewer.is_game_master || is_revealed).then_some(thing)
    }
}

impl Redact for Post {
    fn redact_for<'a>(thing: Cow<'a, Self>, viewer: &Viewer) -> Option<Cow<'a, Self>> {
        let is_revealed = viewer.revealed_posts.contains(&thing.post_id);
        (!thing.is_private || viewer.is_game_master || is_revealed).then_some(thing)
    }
}

/// Types that say who may see them: a whole value, or nothing.
macro_rules! hide_by_visibility {
    ($($type:ty),+) => {
        $(impl Redact for $type {
            fn redact_for<'a>(thing: Cow<'a, Self>, viewer: &Viewer) -> Option<Cow<'a, Self>> {
                thing.visible_to.is_visible_to(viewer).then_some(thing)
            }
        })+
    };
}

hide_by_visibility!(skald_domain::lore::Relationship, skald_domain::lore::TimelineEvent);

/// The people of a campaign, as a caller may see them.
pub(crate) struct RedactedPeople<'a> {
    seen: &'a Redaction,
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
        let told = |viewer| recap(session, &Redaction::for_viewer(viewer).redact_people(&state), events.clone());
        for viewer in [Viewer::default(), Viewer::game_master()] {
            let told = told(Some(viewer));
            assert!(["*Bells*", "table:** Mara", "Ilse (Mara)"].iter().all(|name| told.contains(name)), "{told}");
        }
        let told = told(None);
        assert!(!["Bells", "Mara", "Ilse"].iter().any(|name| told.contains(name)), "{told}");
    }
}
