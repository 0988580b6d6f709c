//! `session_note`: adds a note to a campaign, begins a scene or moves the spotlight, corrects or tags a note, or takes one
//! back. The journal keeps what it was.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::campaign::{BatchPart, CampaignCommand, CampaignEvent, CampaignState, SecretSubject};
use skald_domain::visibility::Visibility;
use skald_domain::{Moment, id};

use super::CampaignAnswer;
use super::access::EnteredCampaign;
use super::people_names::resolve_actor;
use super::visible_to::{read_visible_to, with_visibility};
use crate::method_fields::MethodFields;
use crate::{
    Allowed, App, Call, CampaignRole, Code, CommandAnswer, Fault, Operation, OperationKind, PermissionClass, Toolset,
};

pub(super) struct SessionNote;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionNoteInput {
    /// The context's if left out.
    campaign_id: Option<String>,
    /// The active one, or none, if left out.
    session_id: Option<String>,
    /// What is worth remembering.
    text: Option<String>,
    /// All tags of the note.
    tags: Option<Vec<String>>,
    /// A note to change: send text, tags or remove.
    note_id: Option<String>,
    /// Begins a scene of this name.
    scene: Option<String>,
    /// Who is up now: GM, or an actor.
    spotlight: Option<String>,
    /// Takes the note back.
    #[serde(default)]
    remove: bool,
    /// Who sees it: gm, or names.
    visible_to: Option<Vec<String>>,
}

impl SessionNoteInput {
    /// Whether a scene begins or the spotlight moves without a note.
    fn is_spotlight_alone(&self) -> bool {
        let has_note = self.text.is_some() || self.tags.is_some() || self.visible_to.is_some() || self.remove;
        !has_note && (self.scene.is_some() || self.spotlight.is_some())
    }
}

/// A note after the command.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct NoteChanged {
    /// Left out if there is no note: a scene began, or the spotlight moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// Absent for a note that belongs to no session.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<Vec<String>>,
    /// Left out for what everybody sees.
    #[serde(skip_serializing_if = "Visibility::is_table")]
    #[schemars(with = "Vec<String>", extend("x-unlisted" = true))]
    visible_to: Visibility,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    removed: bool,
    at: Moment,
    /// The principal that sent the command.
    by: String,
}

impl Operation for SessionNote {
    const NAME: &'static str = "session_note";
    const TITLE: &'static str = "Note something";
    const SUMMARY: &'static str = "Note what happened; the recap tells it again. May begin a scene. With note_id: correct, tag or take back a note.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Player);
    const CLASS: PermissionClass = PermissionClass::Play;
    type Input = SessionNoteInput;
    type Output = CommandAnswer<CampaignAnswer<NoteChanged>>;

    async fn run(app: &App, call: &Call<'_>, input: SessionNoteInput) -> Result<Self::Output, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        let session_id = app.resolve_session_id(call, &entered_campaign, input.session_id.as_deref()).await?;
        let note_id = input.note_id.clone();
        let command = match &note_id {
            None => {
                let id = app.new_id(call, id::NOTE, entered_campaign.stream.as_str());
                let (scene, spotlight) = (input.scene.clone(), input.spotlight.clone());
                let note = if input.is_spotlight_alone() {
                    None
                } else {
                    Some(new_note(entered_campaign.state(), id, session_id.clone(), input)?)
                };
                begin_scene(entered_campaign.state(), session_id, scene, spotlight, note)?
            }
            Some(note_id) => {
                check_may_change(call, &entered_campaign, note_id)?;
                changed_note(entered_campaign.state(), note_id.trim().to_owned(), &input)?
            }
        };
        // Read before the command: the state of a campaign forgets a note that is taken back.
        let origin = note_id.and_then(|note_id| entered_campaign.state().note_origin(note_id.trim()));
        let origin_session_id = origin.and_then(|origin| origin.session_id.clone());
        let (at, by) = (Moment::from(app.time_and_caller(call).at), call.caller.id().to_owned());
        let seen = entered_campaign.redaction(call.caller);
        let command = seen.command(command);
        app.execute_campaign_command::<Self, _>(call, entered_campaign.id_and_stream(), command, move |done| {
            let note = done.events.iter().rev().find_map(|event| answer_event(event, at, &by));
            let mut note = note.unwrap_or_else(|| unchanged_note(at, &by));
            note.visible_to = seen.narrow_visibility(&note.visible_to);
            if note.session_id.is_none() {
                note.session_id.clone_from(&origin_session_id);
            }
            note
        })
        .await
    }

    async fn complete(app: &App, caller: &crate::Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

fn new_note(
    state: &CampaignState,
    id: String,
    session_id: Option<String>,
    input: SessionNoteInput,
) -> Result<CampaignCommand, Fault> {
    if input.remove {
        return Err(Fault::new(Code::InvalidParams, "remove takes back a note, and note_id is missing")
            .with_path("/note_id")
            .hint("send the id that session_note answered"));
    }
    let Some(text) = input.text else {
        return Err(Fault::new(Code::InvalidParams, "text is missing")
            .with_path("/text")
            .hint("send what is worth remembering"));
    };
    let visible_to = read_visible_to(state, "/visible_to", input.visible_to.as_deref())?;
    let note = CampaignCommand::AddNote { id, session_id, text, tags: input.tags.unwrap_or_default() };
    Ok(with_visibility(visible_to, note))
}

/// Begins a scene or moves the spotlight, together with a note if there is one, so that both or neither happen.
fn begin_scene(
    state: &CampaignState,
    session_id: Option<String>,
    scene: Option<String>,
    spotlight: Option<String>,
    note: Option<CampaignCommand>,
) -> Result<CampaignCommand, Fault> {
    if let Some(note) = note.as_ref().filter(|_| scene.is_none() && spotlight.is_none()) {
        return Ok(note.clone());
    }
    let up = spotlight.map(|up| resolve_actor(state, "/spotlight", &up)).transpose()?;
    let first = CampaignCommand::SetSpotlight { session_id, scene, up };
    let part = |command| BatchPart { pointer: String::new(), command };
    Ok(CampaignCommand::Batch(std::iter::once(first).chain(note).map(part).collect()))
}

fn changed_note(state: &CampaignState, note_id: String, input: &SessionNoteInput) -> Result<CampaignCommand, Fault> {
    let given = [
        ("session_id", input.session_id.is_some()),
        ("text", input.text.is_some()),
        ("tags", input.tags.is_some()),
        ("visible_to", input.visible_to.is_some()),
    ];
    if input.remove {
        MethodFields { method: "remove", takes: &["note_id"] }.check(&given)?;
        return Ok(CampaignCommand::RemoveNote { note_id });
    }
    MethodFields { method: "a changed note", takes: &["note_id", "text", "tags", "visible_to"] }.check(&given)?;
    let visible_to = read_visible_to(state, "/visible_to", input.visible_to.as_deref())?;
    let reveal = visible_to
        .map(|visible_to| CampaignCommand::ChangeVisibility { of: SecretSubject::note(&note_id), visible_to });
    let change = CampaignCommand::ChangeNote { note_id, text: input.text.clone(), tags: input.tags.clone() };
    let part = |command| BatchPart { pointer: String::new(), command };
    Ok(match reveal {
        None => change,
        Some(reveal) if input.text.is_none() && input.tags.is_none() => reveal,
        Some(reveal) => CampaignCommand::Batch(vec![part(reveal), part(change)]),
    })
}

/// Refuses to let players change notes of others. A note that the caller may not see is treated as one that does not exist.
fn check_may_change(call: &Call<'_>, entered_campaign: &EnteredCampaign, note_id: &str) -> Result<(), Fault> {
    let (state, redaction) = (entered_campaign.state(), entered_campaign.redaction(call.caller));
    let is_visible = redaction.admits(&state.visibility_of(&SecretSubject::note(note_id.trim())));
    let of_others = state.note_origin(note_id.trim()).filter(|origin| origin.by != call.caller.id());
    if redaction.is_game_master() || !is_visible || of_others.is_none() {
        return Ok(());
    }
    Err(Fault::new(Code::Forbidden, "the note is somebody else's")
        .with_path("/note_id")
        .value(&note_id.into())
        .hint("ask the game master to change it"))
}

/// The answer where no note was touched.
fn unchanged_note(at: Moment, by: &str) -> NoteChanged {
    NoteChanged {
        id: None,
        session_id: None,
        text: None,
        tags: None,
        visible_to: Visibility::Table,
        removed: false,
        at,
        by: by.to_owned(),
    }
}

fn answer_event(event: &CampaignEvent, at: Moment, by: &str) -> Option<NoteChanged> {
    let note = |id: &str| NoteChanged { id: Some(id.to_owned()), ..unchanged_note(at, by) };
    match event {
        CampaignEvent::NoteAdded { note_id, session_id, text, tags, visible_to } => Some(NoteChanged {
            visible_to: visible_to.clone(),
            session_id: session_id.clone(),
            text: Some(text.clone()),
            tags: (!tags.is_empty()).then(|| tags.clone()),
            ..note(note_id)
        }),
        CampaignEvent::NoteChanged { note_id, text, tags, visible_to } => Some(NoteChanged {
            text: text.clone(),
            tags: tags.clone(),
            visible_to: visible_to.clone(),
            ..note(note_id)
        }),
        CampaignEvent::VisibilityChanged { of: SecretSubject::Note { note_id }, visible_to, .. } => {
            Some(NoteChanged { visible_to: visible_to.clone(), ..note(note_id) })
        }
        CampaignEvent::NoteRemoved { note_id, .. } => Some(NoteChanged { removed: true, ..note(note_id) }),
        _ => None,
    }
}
