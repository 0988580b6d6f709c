//! Decides campaign commands into events or refusals. Checks run in this order: the campaign exists, its status allows
//! the command, what is named exists, what is new fits.

use super::actor_sheet::set_actor_sheet;
use super::command::{BatchPart, CampaignCommand};
use super::entities::{
    Actor, ActorController, ActorKind, Campaign, CampaignStatus, Controller, GmMode, Participant, Role, Session,
    SessionStatus,
};
use super::event::CampaignEvent;
use super::evolve::evolve;
use super::insertion_ordered_map::InsertionOrderedMap;
use super::refusal::{CampaignAction, CampaignRefusal};
use super::roll::RecordedRoll;
use super::secrets::{SecretSubject, change_visibility, check_people, decide_with_visibility, visibility_by_tags};
use super::spotlight::set_spotlight;
use super::state::CampaignState;
use super::tracker_decide::{add_roll_effects, add_session_ticks, decide_tracker};
use crate::deceptive_characters::first_deceptive;
use crate::decider::DecisionContext;
use crate::limits;
use crate::visibility::Visibility;

pub(super) type CampaignDecision = Result<Vec<CampaignEvent>, CampaignRefusal>;
pub(super) type SingleDecision = Result<CampaignEvent, CampaignRefusal>;

/// Decides rolls that belong together. Each is decided on the state that the one before left.
fn decide_rolls(state: &CampaignState, rolls: &[RecordedRoll], given: &DecisionContext) -> CampaignDecision {
    let (mut state, mut events) = (state.clone(), Vec::new());
    for roll in rolls {
        let decided = decide(&state, &CampaignCommand::RecordRoll(Box::new(roll.clone())), given)?;
        state = decided.iter().fold(state, |state, event| evolve(state, event, given));
        events.extend(decided);
    }
    Ok(events)
}

pub(super) fn decide(state: &CampaignState, command: &CampaignCommand, given: &DecisionContext) -> CampaignDecision {
    use CampaignCommand as C;
    let event = match command {
        C::Create { id, name, gm_mode, theme_prompt } => create(state, id, name, *gm_mode, theme_prompt)?,
        C::Update { name, gm_mode, theme_prompt } => update(state, name.as_ref(), *gm_mode, theme_prompt.as_ref())?,
        C::End => {
            state.check_status_between_sessions(CampaignAction::End)?;
            CampaignEvent::CampaignCompleted {}
        }
        C::Archive => {
            state.check_status_between_sessions(CampaignAction::Archive)?;
            CampaignEvent::CampaignArchived {}
        }
        C::Restore => {
            state.check_status(CampaignAction::Restore)?;
            CampaignEvent::CampaignRestored {}
        }
        C::AddParticipant { id, display_name, role, controller } => {
            add_participant(state, id, display_name, *role, *controller)?
        }
        C::UpdateParticipant { participant_id, display_name, role, controller } => {
            update_participant(state, participant_id, display_name.as_ref(), *role, *controller)?
        }
        C::RemoveParticipant { participant_id } => remove_participant(state, participant_id)?,
        C::AddActor { id, name, kind, notes } => add_actor(state, id, name, *kind, notes)?,
        C::UpdateActor { actor_id, name, kind, notes } => {
            update_actor(state, actor_id, name.as_ref(), *kind, notes.as_ref())?
        }
        C::RemoveActor { actor_id } => remove_actor(state, actor_id)?,
        C::SetActorControl { actor_id, controller } => set_actor_control(state, actor_id, controller)?,
        C::StartSession { id, name } => return start_session(state, id, name),
        C::EndSession { session_id } => {
            return Ok(add_session_ticks(state, end_session(state, session_id.as_deref())?));
        }
        C::AddNote { id, session_id, text, tags } => add_note(state, id, session_id.as_deref(), text, tags)?,
        C::ChangeNote { note_id, text, tags } => return change_note(state, note_id, text.as_ref(), tags.as_ref()),
        C::RemoveNote { note_id } => remove_note(state, note_id)?,
        C::RecordRoll(roll) => return Ok(add_roll_effects(state, record_roll(state, roll)?, given)),
        C::RecordRolls(rolls) => return decide_rolls(state, rolls, given),
        C::SetActorSheet { actor_id, sheet } => return set_actor_sheet(state, actor_id, sheet),
        C::Tracker(command) => return decide_tracker(state, command),
        C::SetSpotlight { session_id, scene, up } => {
            set_spotlight(state, session_id.as_deref(), scene.as_ref(), up.as_ref())?
        }
        C::WithVisibility { visible_to, command } => {
            return decide_with_visibility(state, visible_to, command, given);
        }
        C::AsViewer { viewer, command } => {
            decide(&state.known_to(viewer, &given.by), command, given)?;
            return decide(state, command, given);
        }
        C::ChangeVisibility { of, visible_to } => change_visibility(state, of, visible_to)?,
        C::Batch(parts) => return decide_batch(state, parts, given),
    };
    Ok(vec![event])
}

/// Decides commands one after the other. The first refusal refuses all, and says which part it is about.
fn decide_batch(state: &CampaignState, parts: &[BatchPart], given: &DecisionContext) -> CampaignDecision {
    if parts.is_empty() {
        return Err(CampaignRefusal::NothingToUpdate { fields: &[] });
    }
    let (mut state, mut events) = (state.clone(), Vec::new());
    for BatchPart { pointer, command } in parts {
        let decided = decide(&state, command, given)
            .map_err(|refusal| CampaignRefusal::InPart { pointer: pointer.clone(), refusal: Box::new(refusal) })?;
        state = decided.iter().fold(state, |state, event| evolve(state, event, given));
        events.extend(decided);
    }
    Ok(events)
}

fn create(state: &CampaignState, id: &str, name: &str, gm_mode: GmMode, theme_prompt: &str) -> SingleDecision {
    if let Some(campaign) = state.campaign() {
        return Err(CampaignRefusal::CampaignExists { campaign_id: campaign.id.clone() });
    }
    let (name, theme_prompt) = (check_name("name", name)?, check_text("theme_prompt", theme_prompt)?);
    Ok(CampaignEvent::CampaignCreated { id: id.to_owned(), name, gm_mode, theme_prompt })
}

fn update(
    state: &CampaignState,
    name: Option<&String>,
    gm_mode: Option<GmMode>,
    theme_prompt: Option<&String>,
) -> SingleDecision {
    let campaign = state.check_status(CampaignAction::Change)?;
    if name.is_none() && gm_mode.is_none() && theme_prompt.is_none() {
        return Err(CampaignRefusal::NothingToUpdate { fields: &["name", "gm_mode", "theme_prompt"] });
    }
    let name = name.map(|name| check_name("name", name)).transpose()?;
    let theme_prompt = theme_prompt.map(|theme_prompt| check_text("theme_prompt", theme_prompt)).transpose()?;
    let texts = [(&campaign.name, name.as_ref()), (&campaign.theme_prompt, theme_prompt.as_ref())];
    check_text_limit(state, changed_bytes(&texts))?;
    Ok(CampaignEvent::CampaignUpdated { name, gm_mode, theme_prompt })
}

fn add_participant(
    state: &CampaignState,
    id: &str,
    display_name: &str,
    role: Role,
    controller: Controller,
) -> SingleDecision {
    state.check_status(CampaignAction::Change)?;
    check_room(&state.participants, id, "participants", limits::PARTICIPANTS_MAX)?;
    let display_name = check_name("display_name", display_name)?;
    check_text_limit(state, (0, display_name.len()))?;
    Ok(CampaignEvent::ParticipantAdded { participant_id: id.to_owned(), display_name, role, controller })
}

fn update_participant(
    state: &CampaignState,
    id: &str,
    display_name: Option<&String>,
    role: Option<Role>,
    controller: Option<Controller>,
) -> SingleDecision {
    state.check_status(CampaignAction::Change)?;
    let participant = state.find_participant("participant_id", id)?;
    let participant_id = participant.id.clone();
    if display_name.is_none() && role.is_none() && controller.is_none() {
        return Err(CampaignRefusal::NothingToUpdate { fields: &["display_name", "role", "controller"] });
    }
    let display_name = display_name.map(|name| check_name("display_name", name)).transpose()?;
    check_text_limit(state, changed_bytes(&[(&participant.display_name, display_name.as_ref())]))?;
    Ok(CampaignEvent::ParticipantUpdated { participant_id, display_name, role, controller })
}

/// Releases the actors that the participant played.
fn remove_participant(state: &CampaignState, id: &str) -> SingleDecision {
    state.check_status(CampaignAction::Change)?;
    let participant = state.find_participant("participant_id", id)?;
    Ok(CampaignEvent::ParticipantRemoved {
        participant_id: participant.id.clone(),
        display_name: participant.display_name.clone(),
        released_actor_ids: state.actor_ids_played_by(&participant.id).map(str::to_owned).collect(),
    })
}

fn add_actor(state: &CampaignState, id: &str, name: &str, kind: ActorKind, notes: &str) -> SingleDecision {
    state.check_status(CampaignAction::Change)?;
    check_room(&state.actors, id, "actors", limits::ACTORS_MAX)?;
    let (name, notes) = (check_name("name", name)?, check_text("notes", notes.trim())?);
    check_text_limit(state, (0, name.len() + notes.len()))?;
    let notes_visible_to = Visibility::Table;
    Ok(CampaignEvent::ActorAdded { actor_id: id.to_owned(), name, kind, notes, notes_visible_to })
}

fn update_actor(
    state: &CampaignState,
    id: &str,
    name: Option<&String>,
    kind: Option<ActorKind>,
    notes: Option<&String>,
) -> SingleDecision {
    state.check_status(CampaignAction::Change)?;
    let actor = state.find_actor(id)?;
    let actor_id = actor.id.clone();
    if name.is_none() && kind.is_none() && notes.is_none() {
        return Err(CampaignRefusal::NothingToUpdate {
            fields: &["name", "kind", "notes", "controller", "template", "traits", "trackers"],
        });
    }
    let name = name.map(|name| check_name("name", name)).transpose()?;
    let notes = notes.map(|notes| check_text("notes", notes.trim())).transpose()?;
    check_text_limit(state, changed_bytes(&[(&actor.name, name.as_ref()), (&actor.notes, notes.as_ref())]))?;
    let notes_visible_to = actor.notes_visible_to.clone();
    Ok(CampaignEvent::ActorUpdated { actor_id, name, kind, notes, notes_visible_to })
}

fn remove_actor(state: &CampaignState, id: &str) -> SingleDecision {
    state.check_status(CampaignAction::Change)?;
    let actor = state.find_actor(id)?;
    Ok(CampaignEvent::ActorRemoved { actor_id: actor.id.clone(), name: actor.name.clone() })
}

fn set_actor_control(state: &CampaignState, id: &str, controller: &str) -> SingleDecision {
    state.check_status(CampaignAction::Change)?;
    let actor_id = state.find_actor(id)?.id.clone();
    let controller = ActorController::read(controller);
    if let Some(participant_id) = controller.participant_id() {
        state.find_participant("controller", participant_id)?;
    }
    Ok(CampaignEvent::ActorControlSet { actor_id, controller })
}

/// The first session activates a draft.
fn start_session(state: &CampaignState, id: &str, name: &str) -> CampaignDecision {
    let status = state.check_status(CampaignAction::StartSession)?.status;
    if let Some(session) = state.active_session() {
        return Err(CampaignRefusal::ActiveSessionExists { session_id: session.id.clone() });
    }
    check_room(&state.sessions, id, "sessions", limits::PLAY_SESSIONS_MAX)?;
    let name = check_plain("name", check_length("name", name.trim(), limits::NAME_CHARS_MAX)?)?;
    check_text_limit(state, (0, name.len()))?;
    let activated = (status == CampaignStatus::Draft).then_some(CampaignEvent::CampaignActivated {});
    Ok(activated.into_iter().chain([CampaignEvent::SessionStarted { session_id: id.to_owned(), name }]).collect())
}

fn end_session(state: &CampaignState, session_id: Option<&str>) -> SingleDecision {
    state.require_campaign()?;
    let session = state.find_session(session_id)?;
    check_session_active(session)?;
    Ok(CampaignEvent::SessionEnded { session_id: session.id.clone() })
}

/// A note without an active session belongs to none: much is noted between the evenings.
fn add_note(state: &CampaignState, id: &str, session_id: Option<&str>, text: &str, tags: &[String]) -> SingleDecision {
    let session_id = match (session_id, state.active_session()) {
        (None, None) => {
            state.check_status(CampaignAction::Change)?;
            None
        }
        (given, _) => {
            state.check_status(CampaignAction::Play)?;
            Some(state.find_session(given)?.id.clone())
        }
    };
    if state.notes.contains_key(id) {
        return Err(CampaignRefusal::IdTaken { id: id.to_owned() });
    }
    if state.notes.len() >= limits::NOTES_MAX {
        return Err(CampaignRefusal::TooMany { things: "notes", count_max: limits::NOTES_MAX });
    }
    let text = check_text("text", check_not_empty("text", text)?)?;
    let tags = check_tags(tags)?;
    let visible_to = visibility_by_tags(&tags);
    Ok(CampaignEvent::NoteAdded { note_id: id.to_owned(), session_id, text, tags, visible_to })
}

/// A tag that makes a note secret hides one that never was a secret. One that was revealed stays revealed.
fn change_note(state: &CampaignState, id: &str, text: Option<&String>, tags: Option<&Vec<String>>) -> CampaignDecision {
    state.require_campaign()?;
    let note_id = state.find_note(id)?;
    if text.is_none() && tags.is_none() {
        return Err(CampaignRefusal::NothingToUpdate { fields: &["text", "tags"] });
    }
    let text = text.map(|text| check_text("text", check_not_empty("text", text)?)).transpose()?;
    let tags = tags.map(|tags| check_tags(tags)).transpose()?;
    let of = SecretSubject::note(&note_id);
    let by_tags = tags.as_deref().map(visibility_by_tags).filter(|by_tags| !by_tags.is_table());
    let hidden = match by_tags.filter(|_| state.secret(&of).is_none()) {
        Some(by_tags) => Some(change_visibility(state, &of, &by_tags)?),
        None => None,
    };
    let visible_to = match &hidden {
        Some(CampaignEvent::VisibilityChanged { visible_to, .. }) => visible_to.clone(),
        _ => state.visibility_of(&of),
    };
    let changed = CampaignEvent::NoteChanged { note_id, text, tags, visible_to };
    Ok(hidden.into_iter().chain([changed]).collect())
}

fn remove_note(state: &CampaignState, id: &str) -> SingleDecision {
    state.require_campaign()?;
    let note_id = state.find_note(id)?;
    let visible_to = state.visibility_of(&SecretSubject::note(&note_id));
    Ok(CampaignEvent::NoteRemoved { note_id, visible_to })
}

/// Trims tags and drops repeated ones, which may differ in case.
fn check_tags(tags: &[String]) -> Result<Vec<String>, CampaignRefusal> {
    let mut checked: Vec<String> = Vec::new();
    for tag in tags {
        let tag = check_not_empty("tags", tag)?;
        let tag = check_plain("tags", check_length("tags", tag, limits::TAG_CHARS_MAX)?)?;
        if !checked.iter().any(|known| known.to_lowercase() == tag.to_lowercase()) {
            checked.push(tag);
        }
    }
    if checked.len() > limits::NOTE_TAGS_MAX {
        return Err(CampaignRefusal::TooMany { things: "tags on one note", count_max: limits::NOTE_TAGS_MAX });
    }
    Ok(checked)
}

/// A roll without an active session belongs to none: characters are rolled before the first session.
fn record_roll(state: &CampaignState, roll: &RecordedRoll) -> SingleDecision {
    let session_id = match (&roll.session_id, state.active_session()) {
        (Some(session_id), _) => {
            state.check_status(CampaignAction::Play)?;
            let session = state.find_session(Some(session_id))?;
            check_session_active(session)?;
            Some(session.id.clone())
        }
        (None, active) => {
            state.check_status(CampaignAction::Change)?;
            active.map(|session| session.id.clone())
        }
    };
    let participant_id = match &roll.participant_id {
        Some(id) => Some(state.find_participant("participant_id", id)?.id.clone()),
        None => None,
    };
    let actor_id = match &roll.actor_id {
        Some(id) => Some(state.find_actor(id)?.id.clone()),
        None => None,
    };
    check_people(state, &roll.visible_to)?;
    let reason = roll.reason.as_ref().map(|reason| check_name("reason", reason)).transpose()?;
    let roll = RecordedRoll { session_id, participant_id, actor_id, reason, ..roll.clone() };
    Ok(CampaignEvent::RollRecorded(Box::new(roll)))
}

pub(super) fn check_session_active(session: &Session) -> Result<(), CampaignRefusal> {
    match session.status {
        SessionStatus::Active => Ok(()),
        SessionStatus::Ended => Err(CampaignRefusal::SessionEnded { session_id: session.id.clone() }),
    }
}

impl CampaignState {
    fn require_campaign(&self) -> Result<&Campaign, CampaignRefusal> {
        self.campaign().ok_or(CampaignRefusal::CampaignNotFound)
    }

    pub(super) fn check_status(&self, action: CampaignAction) -> Result<&Campaign, CampaignRefusal> {
        let campaign = self.require_campaign()?;
        if action.allowed_statuses().contains(&campaign.status) {
            Ok(campaign)
        } else {
            Err(CampaignRefusal::StatusForbids { status: campaign.status, action })
        }
    }

    fn check_status_between_sessions(&self, action: CampaignAction) -> Result<(), CampaignRefusal> {
        self.check_status(action)?;
        match self.active_session() {
            Some(session) => Err(CampaignRefusal::SessionGoesOn { session_id: session.id.clone(), action }),
            None => Ok(()),
        }
    }

    pub(super) fn find_participant(&self, field: &'static str, id: &str) -> Result<&Participant, CampaignRefusal> {
        let id = check_not_empty(field, id)?;
        let missing = || CampaignRefusal::ParticipantNotFound { field, participant_id: id.to_owned() };
        self.participants.get(id).ok_or_else(missing)
    }

    pub(super) fn find_actor(&self, id: &str) -> Result<&Actor, CampaignRefusal> {
        let id = check_not_empty("actor_id", id)?;
        self.actors.get(id).ok_or_else(|| CampaignRefusal::ActorNotFound { actor_id: id.to_owned() })
    }

    fn find_note(&self, id: &str) -> Result<String, CampaignRefusal> {
        let id = check_not_empty("note_id", id)?;
        let missing = || CampaignRefusal::NoteNotFound { note_id: id.to_owned() };
        self.notes.get_key_value(id).map(|(id, _)| id.to_string()).ok_or_else(missing)
    }

    /// The session of this id, or the active one.
    pub(super) fn find_session(&self, id: Option<&str>) -> Result<&Session, CampaignRefusal> {
        let Some(id) = id else { return self.active_session().ok_or(CampaignRefusal::NoActiveSession) };
        let id = check_not_empty("session_id", id)?;
        self.sessions.get(id).ok_or_else(|| CampaignRefusal::SessionNotFound { session_id: id.to_owned() })
    }
}

/// Refuses an id that is taken, and an entry past the limit.
fn check_room<T>(
    map: &InsertionOrderedMap<T>,
    id: &str,
    things: &'static str,
    count_max: usize,
) -> Result<(), CampaignRefusal> {
    if map.contains(id) {
        return Err(CampaignRefusal::IdTaken { id: id.to_owned() });
    }
    if map.len() >= count_max {
        return Err(CampaignRefusal::TooMany { things, count_max });
    }
    Ok(())
}

/// Bytes removed and bytes added when texts are replaced.
fn changed_bytes(texts: &[(&String, Option<&String>)]) -> (usize, usize) {
    let changed = texts.iter().filter_map(|(before, after)| Some((before.len(), (*after)?.len())));
    changed.fold((0, 0), |(gone, come), (before, after)| (gone + before, come + after))
}

/// Refuses texts past the limit of a campaign. A campaign that is already past it may shrink but not grow.
pub(super) fn check_text_limit(state: &CampaignState, (gone, come): (usize, usize)) -> Result<(), CampaignRefusal> {
    let (bytes, bytes_max) = (state.text_bytes(), limits::CAMPAIGN_TEXT_BYTES_MAX);
    let bytes_after = (bytes + come).saturating_sub(gone);
    if bytes_after <= bytes_max || bytes_after <= bytes {
        return Ok(());
    }
    Err(CampaignRefusal::TooMuchText { bytes, bytes_after, bytes_max })
}

fn check_not_empty<'a>(field: &'static str, text: &'a str) -> Result<&'a str, CampaignRefusal> {
    let text = text.trim();
    if text.is_empty() { Err(CampaignRefusal::Empty { field }) } else { Ok(text) }
}

pub(super) fn check_name(field: &'static str, name: &str) -> Result<String, CampaignRefusal> {
    check_plain(field, check_length(field, check_not_empty(field, name)?, limits::NAME_CHARS_MAX)?)
}

fn check_plain(field: &'static str, name: String) -> Result<String, CampaignRefusal> {
    match first_deceptive(&name) {
        Some(character) => Err(CampaignRefusal::Deceptive { field, character }),
        None => Ok(name),
    }
}

fn check_text(field: &'static str, text: &str) -> Result<String, CampaignRefusal> {
    check_length(field, text, limits::TEXT_CHARS_MAX)
}

pub(super) fn check_length(field: &'static str, text: &str, chars_max: usize) -> Result<String, CampaignRefusal> {
    let chars = text.chars().count();
    if chars > chars_max { Err(CampaignRefusal::TooLong { field, chars, chars_max }) } else { Ok(text.to_owned()) }
}
