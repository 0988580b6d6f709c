//! Decides campaign commands into events or refusals. Checks run in this order: the campaign exists, its status allows
//! the command, what is named exists, what is new fits.

use super::command::CampaignCommand;
use super::event::CampaignEvent;
use super::record::{
    Actor, ActorController, ActorKind, Campaign, CampaignStatus, Controller, GmMode, Participant, Role, Session,
    SessionStatus,
};
use super::refusal::{CampaignRefusal, Deed};
use super::register::Register;
use super::roll::RecordedRoll;
use super::state::CampaignState;
use crate::limits;
use crate::plain_text::deceptive_in;

type Decision = Result<Vec<CampaignEvent>, CampaignRefusal>;
type Decided = Result<CampaignEvent, CampaignRefusal>;

pub(super) fn decide(state: &CampaignState, command: &CampaignCommand) -> Decision {
    use CampaignCommand as C;
    let event = match command {
        C::Create { id, name, gm_mode, theme_prompt } => create(state, id, name, *gm_mode, theme_prompt)?,
        C::Update { name, gm_mode, theme_prompt } => update(state, name.as_ref(), *gm_mode, theme_prompt.as_ref())?,
        C::End => {
            state.allows_between_sessions(Deed::End)?;
            CampaignEvent::CampaignCompleted {}
        }
        C::Archive => {
            state.allows_between_sessions(Deed::Archive)?;
            CampaignEvent::CampaignArchived {}
        }
        C::Restore => {
            state.allows(Deed::Restore)?;
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
        C::EndSession { session_id } => end_session(state, session_id.as_deref())?,
        C::AddNote { id, session_id, text } => add_note(state, id, session_id.as_deref(), text)?,
        C::RecordRoll(roll) => record_roll(state, roll)?,
    };
    Ok(vec![event])
}

fn create(state: &CampaignState, id: &str, name: &str, gm_mode: GmMode, theme_prompt: &str) -> Decided {
    if let Some(campaign) = state.campaign() {
        return Err(CampaignRefusal::CampaignExists { campaign_id: campaign.id.clone() });
    }
    let (name, theme_prompt) = (named("name", name)?, kept("theme_prompt", theme_prompt)?);
    Ok(CampaignEvent::CampaignCreated { id: id.to_owned(), name, gm_mode, theme_prompt })
}

fn update(
    state: &CampaignState,
    name: Option<&String>,
    gm_mode: Option<GmMode>,
    theme_prompt: Option<&String>,
) -> Decided {
    let campaign = state.allows(Deed::Change)?;
    if name.is_none() && gm_mode.is_none() && theme_prompt.is_none() {
        return Err(CampaignRefusal::NothingToUpdate { fields: &["name", "gm_mode", "theme_prompt"] });
    }
    let name = name.map(|name| named("name", name)).transpose()?;
    let theme_prompt = theme_prompt.map(|theme_prompt| kept("theme_prompt", theme_prompt)).transpose()?;
    let texts = [(&campaign.name, name.as_ref()), (&campaign.theme_prompt, theme_prompt.as_ref())];
    room_for_text(state, changed_bytes(&texts))?;
    Ok(CampaignEvent::CampaignUpdated { name, gm_mode, theme_prompt })
}

fn add_participant(state: &CampaignState, id: &str, display_name: &str, role: Role, controller: Controller) -> Decided {
    state.allows(Deed::Change)?;
    room(&state.participants, id, "participants", limits::PARTICIPANTS_MAX)?;
    let display_name = named("display_name", display_name)?;
    room_for_text(state, (0, display_name.len()))?;
    Ok(CampaignEvent::ParticipantAdded { participant_id: id.to_owned(), display_name, role, controller })
}

fn update_participant(
    state: &CampaignState,
    id: &str,
    display_name: Option<&String>,
    role: Option<Role>,
    controller: Option<Controller>,
) -> Decided {
    state.allows(Deed::Change)?;
    let participant = state.participant_in("participant_id", id)?;
    let participant_id = participant.id.clone();
    if display_name.is_none() && role.is_none() && controller.is_none() {
        return Err(CampaignRefusal::NothingToUpdate { fields: &["display_name", "role", "controller"] });
    }
    let display_name = display_name.map(|name| named("display_name", name)).transpose()?;
    room_for_text(state, changed_bytes(&[(&participant.display_name, display_name.as_ref())]))?;
    Ok(CampaignEvent::ParticipantUpdated { participant_id, display_name, role, controller })
}

/// Releases the actors that the participant played.
fn remove_participant(state: &CampaignState, id: &str) -> Decided {
    state.allows(Deed::Change)?;
    let participant = state.participant_in("participant_id", id)?;
    Ok(CampaignEvent::ParticipantRemoved {
        participant_id: participant.id.clone(),
        display_name: participant.display_name.clone(),
        released_actor_ids: state.played_by(&participant.id).map(str::to_owned).collect(),
    })
}

fn add_actor(state: &CampaignState, id: &str, name: &str, kind: ActorKind, notes: &str) -> Decided {
    state.allows(Deed::Change)?;
    room(&state.actors, id, "actors", limits::ACTORS_MAX)?;
    let (name, notes) = (named("name", name)?, kept("notes", notes.trim())?);
    room_for_text(state, (0, name.len() + notes.len()))?;
    Ok(CampaignEvent::ActorAdded { actor_id: id.to_owned(), name, kind, notes })
}

fn update_actor(
    state: &CampaignState,
    id: &str,
    name: Option<&String>,
    kind: Option<ActorKind>,
    notes: Option<&String>,
) -> Decided {
    state.allows(Deed::Change)?;
    let actor = state.actor_named(id)?;
    let actor_id = actor.id.clone();
    if name.is_none() && kind.is_none() && notes.is_none() {
        return Err(CampaignRefusal::NothingToUpdate { fields: &["name", "kind", "notes"] });
    }
    let name = name.map(|name| named("name", name)).transpose()?;
    let notes = notes.map(|notes| kept("notes", notes.trim())).transpose()?;
    room_for_text(state, changed_bytes(&[(&actor.name, name.as_ref()), (&actor.notes, notes.as_ref())]))?;
    Ok(CampaignEvent::ActorUpdated { actor_id, name, kind, notes })
}

fn remove_actor(state: &CampaignState, id: &str) -> Decided {
    state.allows(Deed::Change)?;
    let actor = state.actor_named(id)?;
    Ok(CampaignEvent::ActorRemoved { actor_id: actor.id.clone(), name: actor.name.clone() })
}

fn set_actor_control(state: &CampaignState, id: &str, controller: &str) -> Decided {
    state.allows(Deed::Change)?;
    let actor_id = state.actor_named(id)?.id.clone();
    let controller = ActorController::read(controller);
    if let Some(participant_id) = controller.participant_id() {
        state.participant_in("controller", participant_id)?;
    }
    Ok(CampaignEvent::ActorControlSet { actor_id, controller })
}

/// The first session activates a draft.
fn start_session(state: &CampaignState, id: &str, name: &str) -> Decision {
    let status = state.allows(Deed::StartSession)?.status;
    if let Some(session) = state.active_session() {
        return Err(CampaignRefusal::ActiveSessionExists { session_id: session.id.clone() });
    }
    room(&state.sessions, id, "sessions", limits::PLAY_SESSIONS_MAX)?;
    let name = plain("name", bounded("name", name.trim(), limits::NAME_CHARS_MAX)?)?;
    room_for_text(state, (0, name.len()))?;
    let activated = (status == CampaignStatus::Draft).then_some(CampaignEvent::CampaignActivated {});
    Ok(activated.into_iter().chain([CampaignEvent::SessionStarted { session_id: id.to_owned(), name }]).collect())
}

fn end_session(state: &CampaignState, session_id: Option<&str>) -> Decided {
    state.exists()?;
    let session = state.session_named(session_id)?;
    going_on(session)?;
    Ok(CampaignEvent::SessionEnded { session_id: session.id.clone() })
}

fn add_note(state: &CampaignState, id: &str, session_id: Option<&str>, text: &str) -> Decided {
    state.allows(Deed::Play)?;
    let session_id = state.session_named(session_id)?.id.clone();
    let text = kept("text", required("text", text)?)?;
    Ok(CampaignEvent::NoteAdded { note_id: id.to_owned(), session_id, text })
}

/// A roll without an active session belongs to none: characters are rolled before the first session.
fn record_roll(state: &CampaignState, roll: &RecordedRoll) -> Decided {
    let session_id = match (&roll.session_id, state.active_session()) {
        (Some(session_id), _) => {
            state.allows(Deed::Play)?;
            let session = state.session_named(Some(session_id))?;
            going_on(session)?;
            Some(session.id.clone())
        }
        (None, active) => {
            state.allows(Deed::Change)?;
            active.map(|session| session.id.clone())
        }
    };
    let participant_id = match &roll.participant_id {
        Some(id) => Some(state.participant_in("participant_id", id)?.id.clone()),
        None => None,
    };
    let actor_id = match &roll.actor_id {
        Some(id) => Some(state.actor_named(id)?.id.clone()),
        None => None,
    };
    let roll = RecordedRoll { session_id, participant_id, actor_id, ..roll.clone() };
    Ok(CampaignEvent::RollRecorded(Box::new(roll)))
}

fn going_on(session: &Session) -> Result<(), CampaignRefusal> {
    match session.status {
        SessionStatus::Active => Ok(()),
        SessionStatus::Ended => Err(CampaignRefusal::SessionEnded { session_id: session.id.clone() }),
    }
}

impl CampaignState {
    fn exists(&self) -> Result<&Campaign, CampaignRefusal> {
        self.campaign().ok_or(CampaignRefusal::CampaignNotFound)
    }

    fn allows(&self, deed: Deed) -> Result<&Campaign, CampaignRefusal> {
        let campaign = self.exists()?;
        if deed.statuses().contains(&campaign.status) {
            Ok(campaign)
        } else {
            Err(CampaignRefusal::StatusForbids { status: campaign.status, deed })
        }
    }

    fn allows_between_sessions(&self, deed: Deed) -> Result<(), CampaignRefusal> {
        self.allows(deed)?;
        match self.active_session() {
            Some(session) => Err(CampaignRefusal::SessionGoesOn { session_id: session.id.clone(), deed }),
            None => Ok(()),
        }
    }

    fn participant_in(&self, field: &'static str, id: &str) -> Result<&Participant, CampaignRefusal> {
        let id = required(field, id)?;
        let missing = || CampaignRefusal::ParticipantNotFound { field, participant_id: id.to_owned() };
        self.participants.get(id).ok_or_else(missing)
    }

    fn actor_named(&self, id: &str) -> Result<&Actor, CampaignRefusal> {
        let id = required("actor_id", id)?;
        self.actors.get(id).ok_or_else(|| CampaignRefusal::ActorNotFound { actor_id: id.to_owned() })
    }

    /// The session of this id, or the active one.
    fn session_named(&self, id: Option<&str>) -> Result<&Session, CampaignRefusal> {
        let Some(id) = id else { return self.active_session().ok_or(CampaignRefusal::NoActiveSession) };
        let id = required("session_id", id)?;
        self.sessions.get(id).ok_or_else(|| CampaignRefusal::SessionNotFound { session_id: id.to_owned() })
    }
}

/// Refuses an id that is taken, and an entry past the limit.
fn room<T>(register: &Register<T>, id: &str, things: &'static str, count_max: usize) -> Result<(), CampaignRefusal> {
    if register.contains(id) {
        return Err(CampaignRefusal::IdTaken { id: id.to_owned() });
    }
    if register.len() >= count_max {
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
fn room_for_text(state: &CampaignState, (gone, come): (usize, usize)) -> Result<(), CampaignRefusal> {
    let (bytes, bytes_max) = (state.text_bytes(), limits::CAMPAIGN_TEXT_BYTES_MAX);
    let bytes_after = (bytes + come).saturating_sub(gone);
    if bytes_after <= bytes_max || bytes_after <= bytes {
        return Ok(());
    }
    Err(CampaignRefusal::TooMuchText { bytes, bytes_after, bytes_max })
}

fn required<'a>(field: &'static str, text: &'a str) -> Result<&'a str, CampaignRefusal> {
    let text = text.trim();
    if text.is_empty() { Err(CampaignRefusal::Empty { field }) } else { Ok(text) }
}

fn named(field: &'static str, name: &str) -> Result<String, CampaignRefusal> {
    plain(field, bounded(field, required(field, name)?, limits::NAME_CHARS_MAX)?)
}

fn plain(field: &'static str, name: String) -> Result<String, CampaignRefusal> {
    match deceptive_in(&name) {
        Some(character) => Err(CampaignRefusal::Deceptive { field, character }),
        None => Ok(name),
    }
}

fn kept(field: &'static str, text: &str) -> Result<String, CampaignRefusal> {
    bounded(field, text, limits::TEXT_CHARS_MAX)
}

fn bounded(field: &'static str, text: &str, chars_max: usize) -> Result<String, CampaignRefusal> {
    let chars = text.chars().count();
    if chars > chars_max { Err(CampaignRefusal::TooLong { field, chars, chars_max }) } else { Ok(text.to_owned()) }
}
