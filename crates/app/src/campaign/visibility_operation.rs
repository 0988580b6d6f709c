//! `visibility`: reveals and hides, says who knows what since when, and shows what somebody else sees.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use skald_domain::Moment;
use skald_domain::campaign::{
    CampaignCommand, CampaignRefusal, CampaignSecret, CampaignState, Role, SecretSubject, TrackerOwner,
};
use skald_domain::lore::LoreSubject;
use skald_domain::visibility::{GAME_MASTERS, Visibility, VisibilityStep, WHOLE_TABLE};

use super::access::EnteredCampaign;
use super::people_names::{resolve_actor, resolve_participant};
use super::read::CampaignRead;
use super::session::SessionRecap;
use super::visible_to::find_person;
use crate::lore::{EntityReference, LoreReference, LoreSecret, read_entity_entry};
use crate::method_fields::MethodFields;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, CommandAnswer, Fault, Holder, Operation, OperationEntry,
    OperationKind, PermissionClass, Principal, PrincipalKind, RequestControl, Toolset, limits,
};
use skald_journal::JournalFailure;

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
    /// An entity, or that of the post.
    entity_id: Option<EntityReference>,
    /// A post.
    post_id: Option<u64>,
    /// A note.
    note_id: Option<String>,
    /// A roll.
    roll_id: Option<String>,
    /// Of the timeline.
    event_id: Option<u64>,
    /// A relationship.
    relationship_id: Option<u64>,
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

#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub(super) struct VisibilityOutput {
    /// gm, table, or who else sees it now.
    #[serde(skip_serializing_if = "Option::is_none")]
    visible_to: Option<Vec<String>>,
    /// What is or was a secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-unlisted" = true))]
    secrets: Option<Vec<KnownSecret>>,
    /// Older ones were left out; ask by `who`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    /// As they see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<serde_json::Map<String, Value>>")]
    view: Option<Value>,
}

/// A secret, and who knows it.
#[derive(Debug, Clone, Serialize, JsonSchema)]
struct KnownSecret {
    of: KnownSubject,
    known_by: Vec<KnownBy>,
    /// When the last change was.
    #[serde(skip)]
    changed: Option<Moment>,
}

/// What a secret is about.
#[derive(Debug, Clone, Serialize, JsonSchema)]
#[serde(untagged)]
enum KnownSubject {
    Campaign(SecretSubject),
    Lore(LoreSubject),
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
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

/// The fields of `reveal` that name something; the last of all is `who`.
const SUBJECTS: &[&str] = REVEAL.takes.split_at(REVEAL.takes.len() - 1).0;
const REVEAL: MethodFields = MethodFields {
    method: "reveal",
    takes: &[
        "entity_id",
        "post_id",
        "event_id",
        "relationship_id",
        "note_id",
        "roll_id",
        "actor_id",
        "participant_id",
        "tracker",
        "who",
    ],
};
const HIDE: MethodFields = MethodFields { method: "hide", ..REVEAL };
const WHO_KNOWS: MethodFields = MethodFields { method: "who_knows", ..REVEAL };
const VIEW_AS: MethodFields = MethodFields { method: "view_as", takes: &["entity_id", "who", "recap"] };

impl Operation for VisibilityOperation {
    const NAME: &'static str = "visibility";
    const TITLE: &'static str = "Who sees what";
    const SUMMARY: &'static str = "Reveal or hide something of the lore, a note, roll, tracker or an actor's notes; say who knows what since when; \
        or see the campaign, a recap or an entity as somebody else does.";
    const TOOLSET: Toolset = Toolset::Canon;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Gm);
    const CLASS: PermissionClass = PermissionClass::WriteLore;
    type Input = VisibilityInput;
    type Output = CommandAnswer<VisibilityOutput>;

    async fn run(app: &App, call: &Call<'_>, input: VisibilityInput) -> Result<Self::Output, Fault> {
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
            VisibilityMethod::WhoKnows => {
                app.list_secrets(call, &entered_campaign, &input).await.map(CommandAnswer::Now)
            }
            VisibilityMethod::ViewAs => view_as(app, call, &entered_campaign, &input).await.map(CommandAnswer::Now),
        }
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

impl VisibilityInput {
    fn given_fields(&self) -> [(&'static str, bool); 11] {
        [
            ("entity_id", self.entity_id.is_some()),
            ("post_id", self.post_id.is_some()),
            ("event_id", self.event_id.is_some()),
            ("relationship_id", self.relationship_id.is_some()),
            ("note_id", self.note_id.is_some()),
            ("roll_id", self.roll_id.is_some()),
            ("actor_id", self.actor_id.is_some()),
            ("participant_id", self.participant_id.is_some()),
            ("tracker", self.tracker.is_some()),
            ("who", !self.who.is_empty()),
            ("recap", self.recap),
        ]
    }

    /// What is named of the lore, if the subjects are one thing of it.
    fn lore_reference(&self, subjects: &[&str]) -> Option<LoreReference<'_>> {
        let entity = self.entity_id.as_ref();
        match subjects {
            ["entity_id"] => entity.map(LoreReference::Entity),
            ["post_id"] | ["entity_id", "post_id"] => {
                self.post_id.map(|post_id| LoreReference::Post { entity, post_id })
            }
            ["event_id"] => self.event_id.map(LoreReference::TimelineEvent),
            ["relationship_id"] => self.relationship_id.map(LoreReference::Relationship),
            _ => None,
        }
    }

    fn has_subject(&self) -> bool {
        self.given_fields().iter().any(|(field, is_given)| *is_given && SUBJECTS.contains(field))
    }
}

/// Something whose visibility is asked for or changed.
enum VisibilitySubject {
    /// Of the campaign.
    Campaign(SecretSubject),
    Lore(LoreSecret),
}

impl VisibilitySubject {
    fn visibility(&self, state: &CampaignState) -> Visibility {
        match self {
            Self::Campaign(of) => state.visibility_of(of),
            Self::Lore(secret) => secret.visible_to.clone(),
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
        if let Some(reference) = input.lore_reference(&subjects) {
            return self.find_lore_secret(call, entered_campaign, reference).await.map(VisibilitySubject::Lore);
        }
        match (&subjects[..], input) {
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
                let name =
                    state.tracker(&owner, name).map_or_else(|| name.trim().to_owned(), |known| known.name.clone());
                campaign(SecretSubject::Tracker { owner, name })
            }
            _ => Err(Fault::new(Code::InvalidParams, "name one thing that is revealed or hidden").hint(
                "send one of entity_id (also with post_id), post_id, event_id, relationship_id, note_id, roll_id, actor_id (its notes), or \
                 tracker with or without the id of whose it is",
            )),
        }
    }

    async fn change_visibility(
        &self,
        call: &Call<'_>,
        entered_campaign: &EnteredCampaign,
        fields: &MethodFields,
        input: &VisibilityInput,
    ) -> Result<CommandAnswer<VisibilityOutput>, Fault> {
        let subject = self.find_visibility_subject(call, entered_campaign, input).await?;
        let state = entered_campaign.state();
        let person = |(at, text): (usize, &String)| find_person(state, &format!("/who/{at}"), text);
        let who: Vec<String> = input.who.iter().enumerate().map(person).collect::<Result<_, Fault>>()?;
        let before = subject.visibility(state);
        let after = match input.method {
            VisibilityMethod::Hide => hidden_from(state, &before, &who),
            _ => revealed_to(&before, &who),
        };
        // A request that is repeated under its key changed it the first time, and gets the same answer.
        if after == before && call.control.idempotency_key.is_none() {
            return Err(nothing_changes_fault(fields, &before));
        }
        let output = VisibilityOutput { visible_to: Some(after.clone().into()), ..VisibilityOutput::default() };
        let done = match subject {
            VisibilitySubject::Campaign(of) => {
                let command = CampaignCommand::ChangeVisibility { of, visible_to: after };
                let (stream, answer) = (&entered_campaign.stream, move |_: &_| output.clone());
                let done = self.execute::<VisibilityOperation, _, _>(&self.campaigns, call, stream, command, answer);
                match done.await {
                    Ok((answer, _)) => Some(answer),
                    Err(JournalFailure::Refused(CampaignRefusal::NothingToUpdate { .. })) => None,
                    Err(failure) => return Err(self.campaign_fault(&entered_campaign.campaign_id, failure)),
                }
            }
            VisibilitySubject::Lore(secret) => {
                let is_whole = matches!(secret.of, LoreSubject::Entity { .. } | LoreSubject::Post { .. });
                if is_whole && input.method == VisibilityMethod::Hide && before.is_table() && !who.is_empty() {
                    let message = "what everybody may read in the lore is hidden from all or none";
                    let fault = Fault::new(Code::Rejected, message).with_path("/who");
                    return Err(fault.hint("leave who out, then reveal it to those who may know"));
                }
                self.change_lore_visibility::<VisibilityOperation, _>(call, entered_campaign, &secret, after, output)
                    .await?
            }
        };
        done.ok_or_else(|| nothing_changes_fault(fields, &before))
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
            let secrets = match &subject {
                VisibilitySubject::Campaign(of) => state.secret(of).map(|secret| known_campaign_secret(state, secret)),
                VisibilitySubject::Lore(secret) => secret.is_or_was_secret().then(|| known_lore_secret(state, secret)),
            };
            let secrets = secrets.into_iter().collect();
            let (visible_to, secrets) = (Some(now.into()), Some(secrets));
            return Ok(VisibilityOutput { visible_to, secrets, ..VisibilityOutput::default() });
        }
        let is_asked = |visible_to: &Visibility| who.is_empty() || who.iter().any(|id| is_named(visible_to, id));
        // Reveals of the lore are the lore's, also those that earlier versions recorded in the campaign.
        let is_of_lore = |of: &SecretSubject| matches!(of, SecretSubject::Entity { .. } | SecretSubject::Post { .. });
        let of_campaign = state.secrets().filter(|secret| !secret.is_removed && !is_of_lore(&secret.of));
        let of_campaign = of_campaign.filter(|secret| is_asked(secret.visible_to()));
        let of_campaign = of_campaign.map(|secret| known_campaign_secret(state, secret));
        let of_lore = self.list_lore_secrets(call, entered_campaign).await?;
        let of_lore = of_lore.iter().filter(|secret| is_asked(&secret.visible_to));
        let mut secrets: Vec<KnownSecret> =
            of_campaign.chain(of_lore.map(|secret| known_lore_secret(state, secret))).collect();
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.changed));
        let truncated = secrets.len() > limits::PAGE_MAX;
        secrets.truncate(limits::PAGE_MAX);
        Ok(VisibilityOutput { secrets: Some(secrets), truncated, ..VisibilityOutput::default() })
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
        // Whoever plays an actor knows what it knows, so it is hidden from both, and from all else that they play.
        let controller = state.actors().get(id).and_then(|actor| actor.controller.as_ref()?.participant_id());
        let participant_id = controller.unwrap_or(id);
        ids.remove(participant_id);
        for actor_id in state.actor_ids_played_by(participant_id) {
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

fn nothing_changes_fault(fields: &MethodFields, before: &Visibility) -> Fault {
    let message = format!("{} changes nothing: it is visible to {}", fields.method, join_words(before));
    Fault::new(Code::Rejected, message).with_path("/who").hint("name others, or leave who out")
}

fn known_campaign_secret(state: &CampaignState, secret: &CampaignSecret) -> KnownSecret {
    let changed = secret.steps.last().map(|step| step.since);
    let known_by = known_by(state, secret.visible_to(), &secret.steps, None);
    KnownSecret { of: KnownSubject::Campaign(secret.of.clone()), known_by, changed }
}

fn known_lore_secret(state: &CampaignState, secret: &LoreSecret) -> KnownSecret {
    let changed = secret.steps.last().map(|step| step.since);
    let known_by = known_by(state, &secret.visible_to, &secret.steps, Some(secret.created_at));
    KnownSecret { of: KnownSubject::Lore(secret.of), known_by, changed }
}

/// Who sees something now and since when: since a step, or since it was created if there is no step that names them.
fn known_by(
    state: &CampaignState,
    visible_to: &Visibility,
    steps: &[VisibilityStep],
    created_at: Option<Moment>,
) -> Vec<KnownBy> {
    let known_by = Vec::from(visible_to.clone()).into_iter().filter_map(|word| {
        // Since the first of the last steps that all name them.
        let first = steps.iter().rev().take_while(|step| is_named(&step.visible_to, &word)).last();
        let since = first.map(|step| step.since).or(created_at.filter(|_| steps.is_empty()))?;
        let session_id = first.and_then(|step| step.session_id.clone());
        let participant = state.participants().get(&word).map(|participant| participant.display_name.clone());
        let name = participant.or_else(|| state.actors().get(&word).map(|actor| actor.name.clone()));
        let id = name.is_some().then(|| word.clone());
        Some(KnownBy { who: name.unwrap_or(word), id, since, session_id })
    });
    known_by.collect()
}

impl App {
    /// The caller who sees a campaign as somebody else does. Refused to everybody but its game masters.
    pub(crate) async fn caller_viewing_as(
        &self,
        caller: &Caller,
        campaign_id: &str,
        who: &str,
    ) -> Result<Caller, Fault> {
        let control = RequestControl::default();
        let call = Call::internal(caller, &control);
        let entered_campaign = self.enter_campaign::<VisibilityOperation>(&call, Some(campaign_id)).await?;
        other_caller(&entered_campaign, caller, who)
    }
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
    let caller = other_caller(entered_campaign, call.caller, who)?;
    let campaign_id = &entered_campaign.campaign_id;
    let (entry, fields) = match &input.entity_id {
        Some(reference) => {
            let entity_id = app.find_entity_id(call, entered_campaign, reference).await?;
            (read_entity_entry(), json!({"campaign_id": campaign_id, "entity_id": entity_id}))
        }
        None if input.recap => {
            let fields = json!({"campaign_id": campaign_id, "audience": "mine"});
            (OperationEntry::from_operation::<SessionRecap>(), fields)
        }
        None => (OperationEntry::from_operation::<CampaignRead>(), json!({"campaign_id": campaign_id})),
    };
    entered_campaign.answer_revision(call);
    let control = RequestControl::default();
    let answer = entry.call(app, &caller, &control, fields).await?;
    Ok(VisibilityOutput { view: Some(answer.into_value()), ..VisibilityOutput::default() })
}

/// A caller with the role and the participants of somebody else, in this campaign alone, while the game master's token
/// is valid.
fn other_caller(entered_campaign: &EnteredCampaign, game_master: &Caller, who: &str) -> Result<Caller, Fault> {
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
    let name = participants.first().and_then(|id| state.participants().get(id));
    let anybody = match role {
        CampaignRole::Guest => "a guest",
        CampaignRole::Player => "any player",
        CampaignRole::Gm => "a game master",
    };
    let name = name.map_or(anybody, |participant| &participant.display_name);
    let id = format!("{} as {}", game_master.id(), participants.first().map_or(role.as_str(), String::as_str));
    let roles = BTreeMap::from([(entered_campaign.campaign_id.clone(), role)]);
    let mut holder = Holder::new(&id, name, PrincipalKind::Human, roles);
    holder.participants = participants.into_iter().collect();
    if let Principal::Holder(of_game_master) = &game_master.principal {
        holder.expires = of_game_master.expires;
        holder.revocation = of_game_master.revocation.clone();
        holder.session_end = of_game_master.session_end.clone();
    }
    Ok(Caller { principal: Principal::Holder(Arc::new(holder)), ..Caller::owner() })
}
