//! Commands of a campaign. They bring the ids of new things with them: generating ids is not a rule.

use super::actor_sheet::ActorSheet;
use super::entities::{ActorKind, Controller, GmMode, Role};
use super::roll::RecordedRoll;
use super::secrets::SecretSubject;
use super::tracker::TrackerCommand;
use crate::visibility::{Viewer, Visibility};

#[derive(Debug, Clone, PartialEq)]
pub enum CampaignCommand {
    Create {
        id: String,
        name: String,
        gm_mode: GmMode,
        theme_prompt: String,
    },
    /// Here and in every update: fields that are `None` do not change, and at least one must be set.
    Update {
        name: Option<String>,
        gm_mode: Option<GmMode>,
        theme_prompt: Option<String>,
    },
    End,
    Archive,
    Restore,
    AddParticipant {
        id: String,
        display_name: String,
        role: Role,
        controller: Controller,
    },
    UpdateParticipant {
        participant_id: String,
        display_name: Option<String>,
        role: Option<Role>,
        controller: Option<Controller>,
    },
    RemoveParticipant {
        participant_id: String,
    },
    AddActor {
        id: String,
        name: String,
        kind: ActorKind,
        notes: String,
    },
    UpdateActor {
        actor_id: String,
        name: Option<String>,
        kind: Option<ActorKind>,
        notes: Option<String>,
    },
    RemoveActor {
        actor_id: String,
    },
    /// `controller` is `GM` in any case, or a participant's id.
    SetActorControl {
        actor_id: String,
        controller: String,
    },
    StartSession {
        id: String,
        name: String,
    },
    /// Without an id: the active one.
    EndSession {
        session_id: Option<String>,
    },
    /// Without a session: the active one, or none if no session is active. Notes may be added to ended sessions too.
    AddNote {
        id: String,
        session_id: Option<String>,
        text: String,
        tags: Vec<String>,
    },
    ChangeNote {
        note_id: String,
        text: Option<String>,
        tags: Option<Vec<String>>,
    },
    RemoveNote {
        note_id: String,
    },
    /// Without a session: the active one, or none if no session is active.
    RecordRoll(Box<RecordedRoll>),
    /// Several rolls that belong together: all are recorded, in this order, or none.
    RecordRolls(Vec<RecordedRoll>),
    SetActorSheet {
        actor_id: String,
        sheet: Box<ActorSheet>,
    },
    Tracker(Box<TrackerCommand>),
    /// `up` is `GM` in any case, or an actor's id. Without a session: the active one.
    SetSpotlight {
        session_id: Option<String>,
        scene: Option<String>,
        up: Option<String>,
    },
    /// The command, and who may see the note, the notes of an actor or the trackers that it writes.
    WithVisibility {
        visible_to: Visibility,
        command: Box<CampaignCommand>,
    },
    /// A command of a viewer who does not see everything. Refusals are worded as if what is hidden from them did not
    /// exist.
    AsViewer {
        viewer: Viewer,
        command: Box<CampaignCommand>,
    },
    ChangeVisibility {
        of: SecretSubject,
        visible_to: Visibility,
    },
    /// All of these in order, each on the state that the ones before leave, or none.
    Batch(Vec<BatchPart>),
}

/// One command of several, with the JSON pointer of the input that it is made from.
#[derive(Debug, Clone, PartialEq)]
pub struct BatchPart {
    pub pointer: String,
    pub command: CampaignCommand,
}
