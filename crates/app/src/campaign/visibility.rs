//! `visibility`: reveals and hides, says who knows what since when, and shows what somebody else sees.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skald_domain::Moment;
use skald_domain::campaign::{CampaignCommand, CampaignSecret, CampaignState, Role, SecretSubject, TrackerOwner};
use skald_domain::visibility::{GAME_MASTERS, Visibility, WHOLE_TABLE};

use super::access::EnteredCampaign;
use super::people_names::{resolve_actor, resolve_participant};
use super::read::CampaignRead;
use super::session::SessionRecap;
use super::visible_to::find_person;
use crate::lore::{LoreThing, read_entity_entry};
use crate::method_fields::MethodFields;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, Fault, Holder, Operation, OperationEntry, OperationKind, Principal,
    PrincipalKind, RequestControl, Toolset, limits,
};

pub(super) struct VisibilityOperation;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum VisibilityMethod {
    Reveal,
    Hide,
    WhoKnows,
    ViewAs,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct VisibilityInput {
    /// The context's if left out.
    campaign_id: Option<String>,
    /// What to do.
    method: VisibilityMethod,
    /// A private entity of the lore.
    entity_id: Option<u64>,
    /// A private post.
    post_id: Option<u64>,
    /// A note.
    note_id: Option<String>,
    /// A roll.
    roll_id: Option<String>,
    /// Its notes, or its tracker.
    actor_id: Option<String>,
    /// Whose tracker.
    participant_id: Option<String>,
    /// A name; the campaign's without an id.
    tracker: Option<String>,
    /// Participants or actors; all if left out. `view_as`: one, or player or guest.
    #[serde(default)]
    who: Vec<String>,
    /// `view_as`: the recap of the session, not the campaign.
    #[serde(default)]
    recap: bool,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct VisibilityOutput {
    /// gm, table, or who else sees it now.
    #[serde(skip_serializing_if = "Option::is_none")]
    visible_to: Option<Vec<String>>,
    /// What is or was a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    secrets: Option<Vec<KnownSecret>>,
    /// As they see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    view: Option<Value>,
}

/// A secret, and who knows it.
#[derive(Debug, Serialize, JsonSchema)]
struct KnownSecret {
    of: SecretSubject,
    known_by: Vec<KnownBy>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct KnownBy {
    /// gm, table, or the name of a participant or an actor.
    who: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    since: Moment,
    /// The session that was going on.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
}

const SUBJECTS: [&str; 7] = ["entity_id", "post_id", "note_id", "roll_id", "actor_id", "participant_id", "tracker"];
const REVEAL: MethodFields = MethodFields {
    method: "reveal",
    takes: &["entity_id", "post_id", "note_id", "roll_id", "actor_id", "participant_id", "tracker", "who"],
};
const HIDE: MethodFields = MethodFields { method: "hide", ..REVEAL };
const WHO_KNOWS: MethodFields = MethodFields { method: "who_knows", ..REVEAL };
const VIEW_AS: MethodFields = MethodFields { method: "view_as", takes: &["entity_id", "who", "recap"] };

impl Operation for VisibilityOperation {
    const NAME: &'static str = "visibility";
    const TITLE: &'static str = "Who sees what";
    const SUMMARY: &'static str = "Reveal or hide an entity, post, note, roll, tracker or an actor's notes; say who knows what since when; \
        or see the campaign, a recap or an entity as somebody else does.";
    const TOOLSET: Toolset = Toolset::Canon;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    type Input = VisibilityInput;
    type Output = VisibilityOutput;

    async fn run(app: &App, call: &Call<'_>, input: VisibilityInput) -> Result<VisibilityOutput, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        let fields = match input.method {
            VisibilityMethod::Reveal => REVEAL,
            VisibilityMethod::Hide => HIDE,
            VisibilityMethod::WhoKnows => WHO_KNOWS,
            VisibilityMethod::ViewAs => VIEW_AS,
        };
        fields.check(&input.given_fields())?;
        match input.method {
            VisibilityMethod::Reveal | VisibilityMethod::Hide => {
                app.change_visibility(call, &entered_campaign, &fields, &input).await
            }
            VisibilityMethod::WhoKnows => app.list_secrets(call, &entered_campaign, &input).await,
            VisibilityMethod::ViewAs => view_as(app, call, &entered_campaign, &input).await,
        }
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

impl VisibilityInput {
    fn given_fields(&self) -> [(&'static str, bool); 9] {
        [
            ("entity_id", self.entity_id.is_some()),
            ("post_id", self.post_id.is_some()),
            ("note_id", self.note_id.is_some()),
            ("roll_id", self.roll_id.is_some()),
            ("actor_id", self.actor_id.is_some()),
            ("participant_id", self.participant_id.is_some()),
            ("tracker", self.tracker.is_some()),
            ("who", !self.who.is_empty()),
            ("recap", self.recap),
        ]
    }

    fn has_subject(&self) -> bool {
        self.given_fields().iter().any(|(field, is_given)| *is_given && SUBJECTS.contains(field))
    }
}

/// Something whose visibility is asked for or changed.
enum VisibilitySubject {
    /// Of the campaign.
    Campaign(SecretSubject),
    Lore(LoreThing),
}

impl VisibilitySubject {
    fn secret_subject(&self) -> &SecretSubject {
        match self {
            Self::Campaign(of) => of,
            Self::Lore(thing) => &thing.of,
        }
    }

    fn visibility(&self, state: &CampaignState) -> Visibility {
        match (self, state.visibility_of(self.secret_subject())) {
            (Self::Lore(thing), _) if !thing.is_private => Visibility::Table,
            // It is private again since it was revealed to all.
            (Self::Lore(_), Visibility::Table) => Visibility::GameMasters,
            (_, visibility) => visibility,
        }
    }
}

impl App {
    async fn find_visibility_subject(
        &self,
        call: &Call<'_>,
        entered_campaign: &EnteredCampaign,
        input: &VisibilityInput,
    ) -> Result<VisibilitySubject, Fault> {
        let state = entered_campaign.state();
        let given = input.given_fields();
        let named: Vec<&str> = given.iter().filter(|(_, is_given)| *is_given).map(|(field, _)| *field).collect();
        let subjects: Vec<&str> = named.into_iter().filter(|field| SUBJECTS.contains(field)).collect();
        let campaign = |of| Ok(VisibilitySubject::Campaign(of));
        match (&subjects[..], input) {
            (["entity_id"], VisibilityInput { entity_id: Some(id), .. }) => {
                self.find_private_entity(call, entered_campaign, *id).await.map(VisibilitySubject::Lore)
            }
            (["post_id"], VisibilityInput { post_id: Some(id), .. }) => {
                self.find_private_post(call, entered_campaign, *id).await.map(VisibilitySubject::Lore)
            }
            (["note_id"], VisibilityInput { note_id: Some(id), .. }) => campaign(SecretSubject::note(id.trim())),
            (["roll_id"], VisibilityInput { roll_id: Some(id), .. }) => {
                let roll = self.find_roll(call.caller, entered_campaign, Some(id)).await?.roll;
                campaign(SecretSubject::Roll { roll_id: roll.id, session_id: roll.session_id })
            }
            (["actor_id"], VisibilityInput { actor_id: Some(id), .. }) => {
                campaign(SecretSubject::actor_notes(&resolve_actor(state, "/actor_id", id)?))
            }
            (["tracker"] | ["actor_id" | "participant_id", "tracker"], VisibilityInput { tracker: Some(name), .. }) => {
                let actor_id = input.actor_id.as_ref().map(|id| resolve_actor(state, "/actor_id", id)).transpose()?;
                let participant_id = input.participant_id.as_ref();
                let participant_id =
                    participant_id.map(|id| resolve_participant(state, "/participant_id", id)).transpose()?;
                let owner = TrackerOwner { actor_id, participant_id };
                let name = state.tracker(&owner, name).map_or_else(|| name.trim().to_owned(), |known| known.name.clone());
                campaign(SecretSubject::Tracker { owner, name })
            }
            _ => Err(Fault::new(Code::InvalidParams, "name one thing that is revealed or hidden").hint(
                "send one of entity_id, post_id, note_id, roll_id, actor_id (its notes), or tracker with or without the \
                 id of whose it is",
            )),
        }
    }

    async fn change_visibility(
        &self,
        call: &Call<'_>,
        entered_campaign: &EnteredCampaign,
        fields: &MethodFields,
        input: &VisibilityInput,
    ) -> Result<VisibilityOutput, Fault> {
        let subject = self.find_visibility_subject(call, entered_campaign, input).await?;
        let state = entered_campaign.state();
        let person = |(at, text): (usize, &String)| find_person(state, &format!("/who/{at}"), text);
        let who: Vec<String> = input.who.iter().enumerate().map(person).collect::<Result<_, Fault>>()?;
        let before = subject.visibility(state);
        let after = match input.method {
            VisibilityMethod::Hide => hidden_from(state, &before, &who),
            _ => revealed_to(&before, &who),
        };
        if after == before {
            let message = format!("{} changes nothing: it is visible to {}", fields.method, join_words(&before));
            return Err(Fault::new(Code::Rejected, message).with_path("/who").hint("name others, or leave who out"));
        }
        if let VisibilitySubject::Lore(thing) = &subject {
            if matches!(input.method, VisibilityMethod::Hide) && before.is_table() && !who.is_empty() {
                let fault =
                    Fault::new(Code::Rejected, "what everybody may read in the lore is hidden from all or none");
                return Err(fault.with_path("/who").hint("leave who out, then reveal it to those who may know"));
            }
            if after.is_table() || before.is_table() {
                self.set_lore_privacy(call, entered_campaign, thing, !after.is_table()).await?;
            }
        }
        let of = subject.secret_subject().clone();
        let command = CampaignCommand::ChangeVisibility { of, visible_to: after.clone() };
        let given = self.time_and_caller(call);
        let submission = skald_journal::Submission::new(command, given);
        let done = self.campaigns.execute(&entered_campaign.stream, submission).await;
        done.map_err(|failure| self.campaign_fault(&entered_campaign.campaign_id, failure))?;
        Ok(VisibilityOutput { visible_to: Some(after.into()), ..VisibilityOutput::default() })
    }

    /// One secret, or all that the people named may know.
    async fn list_secrets(
        &self,
        call: &Call<'_>,
        entered_campaign: &EnteredCampaign,
        input: &VisibilityInput,
    ) -> Result<VisibilityOutput, Fault> {
        let state = entered_campaign.state();
        let person = |(at, text): (usize, &String)| find_person(state, &format!("/who/{at}"), text);
        let who: Vec<String> = input.who.iter().enumerate().map(person).collect::<Result<_, Fault>>()?;
        if input.has_subject() {
            let subject = self.find_visibility_subject(call, entered_campaign, input).await?;
            let now = subject.visibility(state);
            let secret = state.secret(subject.secret_subject());
            let secrets = secret.map(|secret| known_secret(state, secret)).into_iter().collect();
            return Ok(VisibilityOutput { visible_to: Some(now.into()), secrets: Some(secrets), view: None });
        }
        let is_asked = |secret: &&CampaignSecret| {
            let knows = |id: &String| is_named(secret.visible_to(), id);
            !secret.is_removed && (who.is_empty() || who.iter().any(knows))
        };
        let mut secrets: Vec<&CampaignSecret> = state.secrets().filter(is_asked).collect();
        let newest = |secret: &&CampaignSecret| std::cmp::Reverse(secret.steps.last().map(|step| step.since));
        secrets.sort_by_key(newest);
        let secrets = secrets.into_iter().take(limits::PAGE_MAX).map(|secret| known_secret(state, secret)).collect();
        Ok(VisibilityOutput { secrets: Some(secrets), ..VisibilityOutput::default() })
    }
}

fn revealed_to(before: &Visibility, who: &[String]) -> Visibility {
    if who.is_empty() || who.iter().any(|word| word == WHOLE_TABLE) {
        return Visibility::Table;
    }
    let people = who.iter().filter(|word| *word != GAME_MASTERS);
    people.fold(before.clone(), |visibility, id| visibility.with_person(id))
}

/// Hidden from some, what the table sees is visible to the other players.
fn hidden_from(state: &CampaignState, before: &Visibility, who: &[String]) -> Visibility {
    if who.is_empty() || who.iter().any(|word| word == WHOLE_TABLE) {
        return Visibility::GameMasters;
    }
    let players = || {
        let participants = state.participants().oldest_first().filter(|participant| participant.role == Role::Player);
        participants.map(|participant| participant.id.clone()).collect()
    };
    let mut ids = match before {
        Visibility::Table => players(),
        Visibility::GameMasters => return Visibility::GameMasters,
        Visibility::People(ids) => ids.clone(),
    };
    for id in who {
        ids.remove(id);
        // Whoever plays an actor knows what it knows.
        for actor_id in state.actor_ids_played_by(id) {
            ids.remove(actor_id);
        }
    }
    if ids.is_empty() { Visibility::GameMasters } else { Visibility::People(ids) }
}

fn is_named(visibility: &Visibility, word: &str) -> bool {
    match visibility {
        Visibility::Table => word == WHOLE_TABLE,
        Visibility::GameMasters => word == GAME_MASTERS,
        Visibility::People(ids) => ids.contains(word),
    }
}

fn join_words(visibility: &Visibility) -> String {
    Vec::from(visibility.clone()).join(", ")
}

fn known_secret(state: &CampaignState, secret: &CampaignSecret) -> KnownSecret {
    let known_by = Vec::from(secret.visible_to().clone()).into_iter().filter_map(|word| {
        // Since the first of the last steps that all name them.
        let steps = secret.steps.iter().rev().take_while(|step| is_named(&step.visible_to, &word));
        let first = steps.last()?;
        let participant = state.participants().get(&word).map(|participant| participant.display_name.clone());
        let name = participant.or_else(|| state.actors().get(&word).map(|actor| actor.name.clone()));
        let id = name.is_some().then(|| word.clone());
        let who = name.unwrap_or(word);
        Some(KnownBy { who, id, since: first.since, session_id: first.session_id.clone() })
    });
    KnownSecret { of: secret.of.clone(), known_by: known_by.collect() }
}

/// Runs a read as somebody else would, through the same operation and the same redaction.
async fn view_as(
    app: &App,
    call: &Call<'_>,
    entered_campaign: &EnteredCampaign,
    input: &VisibilityInput,
) -> Result<VisibilityOutput, Fault> {
    let [who] = &input.who[..] else {
        let fault = Fault::new(Code::InvalidParams, "view_as needs who, and it is one").with_path("/who");
        return Err(fault.hint("send a participant, an actor, player or guest"));
    };
    let caller = other_caller(entered_campaign, who)?;
    let campaign_id = &entered_campaign.campaign_id;
    let (entry, fields) = match input.entity_id {
        Some(entity_id) => (read_entity_entry(), json!({"campaign_id": campaign_id, "entity_id": entity_id})),
        None if input.recap => {
            let fields = json!({"campaign_id": campaign_id, "audience": "mine"});
            (OperationEntry::from_operation::<SessionRecap>(), fields)
        }
        None => (OperationEntry::from_operation::<CampaignRead>(), json!({"campaign_id": campaign_id})),
    };
    call.work.set_revision(entered_campaign.committed.revision());
    let work = RequestControl::default();
    let answer = entry.call(app, &caller, &work, fields).await?;
    Ok(VisibilityOutput { view: Some(answer.into_value()), ..VisibilityOutput::default() })
}

/// A caller with the role and the participants of somebody else, in this campaign alone.
fn other_caller(entered_campaign: &EnteredCampaign, who: &str) -> Result<Caller, Fault> {
    let state = entered_campaign.state();
    let word = who.trim().to_lowercase();
    let (role, participants) = match word.as_str() {
        "guest" => (CampaignRole::Guest, Vec::new()),
        "player" | WHOLE_TABLE => (CampaignRole::Player, Vec::new()),
        _ => {
            let id = find_person(state, "/who/0", who)?;
            let actor = state.actors().get(&id);
            let player = actor.and_then(|actor| actor.controller.as_ref()?.participant_id().map(str::to_owned));
            match (state.participants().get(&id), player) {
                (Some(participant), _) if participant.role == Role::Gm => (CampaignRole::Gm, vec![id]),
                (Some(_), _) => (CampaignRole::Player, vec![id]),
                (None, Some(player)) => (CampaignRole::Player, vec![player]),
                (None, None) if id == GAME_MASTERS => (CampaignRole::Gm, Vec::new()),
                (None, None) => {
                    let fault = Fault::new(Code::Rejected, format!("nobody but the game master plays {who:?}"));
                    return Err(fault.with_path("/who/0").hint("send a participant, player or guest"));
                }
            }
        }
    };
    let roles = BTreeMap::from([(entered_campaign.campaign_id.clone(), role)]);
    let holder = Holder::new("view_as", "view_as", PrincipalKind::Human, roles);
    let holder = Holder { participants: participants.into_iter().collect(), ..holder };
    Ok(Caller { principal: Principal::Holder(Arc::new(holder)), ..Caller::owner() })
}
