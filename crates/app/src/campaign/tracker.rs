//! `tracker`: sets, changes, reads and removes what the game counts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::campaign::{
    BatchPart, CampaignCommand, CampaignState, People, TickMoment, Tracker as DomainTracker, TrackerCommand,
    TrackerDefinition, TrackerOwner,
};

use super::CampaignAnswer;
use super::access::EnteredCampaign;
use super::people_names::{owner_name, resolve_actor, resolve_participant};
use super::tracker_lines::change_lines;
use super::visible_to::{read_visible_to, with_visibility};
use crate::method_fields::MethodFields;
use crate::redaction::Redaction;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, CommandAnswer, Fault, Operation, OperationKind, PermissionClass,
    Toolset, limits,
};

pub(super) struct TrackerOperation;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum TrackerMethod {
    Set,
    Change,
    Read,
    Remove,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TrackerInput {
    /// The context's if left out.
    campaign_id: Option<String>,
    /// What to do.
    method: TrackerMethod,
    /// All or none are done. read without it: every tracker.
    #[serde(default)]
    trackers: Vec<TrackerItem>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TrackerItem {
    /// Whose it is; the campaign's if left out.
    actor_id: Option<String>,
    participant_id: Option<String>,
    /// Such as HP, Fear, The ritual.
    name: Option<String>,
    /// change: what is added.
    by: Option<i64>,
    /// set: these five.
    value: Option<i64>,
    min: Option<i64>,
    max: Option<i64>,
    meaning: Option<String>,
    /// What moves it by itself.
    ticks: Option<TickMoment>,
    /// -1 if left out.
    step: Option<i64>,
    /// change: against thresholds, in place of name and by.
    damage: Option<i64>,
    /// Spend one Armor on that damage.
    #[serde(default)]
    armor: bool,
    /// Why.
    reason: Option<String>,
    /// set: who sees it, gm or names.
    visible_to: Option<Vec<String>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TrackerOutput {
    /// A line for each change, which says if its minimum, maximum or end was reached.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trackers: Option<Vec<TrackerView>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TrackerView {
    /// The name of its owner; left out for the campaign.
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    #[serde(flatten)]
    owner: TrackerOwner,
    #[serde(flatten)]
    tracker: DomainTracker,
}

const SET: MethodFields =
    MethodFields { method: "set", takes: &["value", "min", "max", "meaning", "ticks", "step", "reason", "visible_to"] };
const CHANGE: MethodFields = MethodFields { method: "change", takes: &["by", "reason"] };
const DAMAGE: MethodFields = MethodFields { method: "damage", takes: &["damage", "armor", "reason"] };
const READ: MethodFields = MethodFields { method: "read", takes: &[] };
const REMOVE: MethodFields = MethodFields { method: "remove", takes: &[] };

impl Operation for TrackerOperation {
    const NAME: &'static str = "tracker";
    const TITLE: &'static str = "Track what the game counts";
    const SUMMARY: &'static str = "Numbers of an actor, a participant or the campaign: hit points, Fear, a countdown. \
        Set, change (or take damage), read or remove; a change stops at the minimum and the maximum.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Player);
    const CLASS: PermissionClass = PermissionClass::Play;
    const GAME_MASTER_METHODS: &'static [&'static str] = &["set", "remove"];
    type Input = TrackerInput;
    type Output = CommandAnswer<CampaignAnswer<TrackerOutput>>;

    async fn run(app: &App, call: &Call<'_>, input: TrackerInput) -> Result<Self::Output, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        check_item_count(&input)?;
        let seen = entered_campaign.redaction(call.caller);
        let state = entered_campaign.state();
        let mut items = Vec::new();
        for (at, item) in input.trackers.into_iter().enumerate() {
            let pointer = format!("/trackers/{at}");
            items.push((find_owner(state, &pointer, &item)?, pointer, item));
        }
        if input.method == TrackerMethod::Read {
            let trackers = read_trackers(state, &seen, &items)?;
            entered_campaign.answer_revision(call);
            let read = TrackerOutput { changes: Vec::new(), trackers: Some(trackers) };
            return Ok(CommandAnswer::Now(CampaignAnswer::unchanged(read, state, None)));
        }
        let is_players =
            input.method == TrackerMethod::Change && items.iter().all(|(owner, ..)| owner.actor_id.is_some());
        if !is_players {
            check_game_master(app, call.caller, &entered_campaign).await?;
        }
        let parts: Result<Vec<BatchPart>, Fault> = items
            .into_iter()
            .map(|(owner, pointer, item)| {
                let visible_to = format!("{pointer}/visible_to");
                let visible_to = read_visible_to(state, &visible_to, item.visible_to.as_deref())?;
                let command = item.into_command(input.method, owner).map_err(|fault| prefix_path(fault, &pointer))?;
                let command = with_visibility(visible_to, CampaignCommand::Tracker(Box::new(command)));
                Ok(BatchPart { pointer, command })
            })
            .collect();
        let command = seen.command(CampaignCommand::Batch(parts?));
        app.execute_campaign_command::<Self, _>(call, entered_campaign.id_and_stream(), command, move |done| {
            let changes = change_lines(&done.events, &seen, &done.committed.state);
            TrackerOutput { changes, trackers: None }
        })
        .await
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

/// Players change the trackers of actors; everything else is the game master's.
async fn check_game_master(app: &App, caller: &Caller, entered_campaign: &EnteredCampaign) -> Result<(), Fault> {
    let (name, allowed) = ("tracker other than to change an actor's", Allowed::InCampaign(CampaignRole::Gm));
    app.enter_campaign_as(caller, name, allowed, &entered_campaign.campaign_id).await.map(drop)
}

fn check_item_count(input: &TrackerInput) -> Result<(), Fault> {
    let count = input.trackers.len();
    if count == 0 && input.method != TrackerMethod::Read {
        let fault = Fault::new(Code::InvalidParams, "trackers is required, it is empty").with_path("/trackers");
        return Err(fault.hint("send a list of trackers, each with its name"));
    }
    if count > limits::TRACKER_CHANGES_MAX {
        let message = format!("one call is about at most {} trackers, these are {count}", limits::TRACKER_CHANGES_MAX);
        return Err(Fault::new(Code::TooLarge, message).with_path("/trackers").hint("send the rest in another call"));
    }
    Ok(())
}

fn find_owner(state: &CampaignState, pointer: &str, item: &TrackerItem) -> Result<TrackerOwner, Fault> {
    let resolved =
        |field: &str, given: Option<&String>, resolve: fn(&CampaignState, &str, &str) -> Result<String, Fault>| {
            given.map(|given| resolve(state, &format!("{pointer}/{field}"), given)).transpose()
        };
    Ok(TrackerOwner {
        actor_id: resolved("actor_id", item.actor_id.as_ref(), resolve_actor)?,
        participant_id: resolved("participant_id", item.participant_id.as_ref(), resolve_participant)?,
    })
}

/// The trackers that match any of the items; without items, all.
fn read_trackers(
    state: &CampaignState,
    seen: &Redaction,
    items: &[(TrackerOwner, String, TrackerItem)],
) -> Result<Vec<TrackerView>, Fault> {
    let people = seen.redact_people(state);
    for (owner, pointer, item) in items {
        READ.check(&item.given_fields()).map_err(|fault| prefix_path(fault, pointer))?;
        let is_unknown = owner.actor_id.as_ref().is_some_and(|id| people.actor(id).is_none())
            || owner.participant_id.as_ref().is_some_and(|id| people.participant(id).is_none());
        if is_unknown {
            let fault = Fault::new(Code::NotFound, "there is no such actor or participant in this campaign");
            return Err(fault.with_path(pointer.clone()).hint("`campaign_read` with view actors lists them"));
        }
    }
    let is_asked = |owner: &TrackerOwner, tracker: &DomainTracker| {
        items.is_empty()
            || items.iter().any(|(asked, _, item)| {
                let name = item.name.as_ref().map(|name| name.trim().to_lowercase());
                asked == owner && name.is_none_or(|name| name == tracker.name.to_lowercase())
            })
    };
    let trackers = state.all_trackers().filter(|(owner, tracker)| is_asked(owner, tracker));
    let views = trackers.filter_map(|(owner, tracker)| {
        let tracker = seen.redact_trackers(std::slice::from_ref(tracker)).pop()?;
        Some(TrackerView { of: owner_name(&people, &owner), owner, tracker })
    });
    Ok(views.collect())
}

impl TrackerItem {
    fn given_fields(&self) -> [(&'static str, bool); 11] {
        [
            ("by", self.by.is_some()),
            ("value", self.value.is_some()),
            ("min", self.min.is_some()),
            ("max", self.max.is_some()),
            ("meaning", self.meaning.is_some()),
            ("ticks", self.ticks.is_some()),
            ("step", self.step.is_some()),
            ("damage", self.damage.is_some()),
            ("armor", self.armor),
            ("reason", self.reason.is_some()),
            ("visible_to", self.visible_to.is_some()),
        ]
    }

    fn into_command(self, method: TrackerMethod, owner: TrackerOwner) -> Result<TrackerCommand, Fault> {
        let fields = match method {
            TrackerMethod::Set => SET,
            TrackerMethod::Change if self.damage.is_some() => DAMAGE,
            TrackerMethod::Change => CHANGE,
            TrackerMethod::Read => READ,
            TrackerMethod::Remove => REMOVE,
        };
        fields.check(&self.given_fields())?;
        let reason = self.reason.clone().unwrap_or_default();
        if let Some(damage) = self.damage {
            let actor_id = fields.require_field("actor_id", owner.actor_id.as_ref())?.to_owned();
            return Ok(TrackerCommand::Damage { actor_id, damage, spends_armor: self.armor, reason });
        }
        let name = fields.require_field("name", self.name.as_ref())?.to_owned();
        Ok(match method {
            TrackerMethod::Set => {
                let Self { value, min, max, meaning, ticks, step, .. } = self;
                let definition = TrackerDefinition { name, value, min, max, meaning, ticks, step };
                TrackerCommand::Set { owner, definition, reason }
            }
            TrackerMethod::Change => {
                let Some(by) = self.by else {
                    let fault = Fault::new(Code::InvalidParams, "change needs by, or damage").with_path("/by");
                    return Err(fault.hint("send by, below zero to take away"));
                };
                TrackerCommand::Change { owner, name, by, reason }
            }
            TrackerMethod::Read | TrackerMethod::Remove => TrackerCommand::Remove { owner, name },
        })
    }
}

/// Moves the path of a fault about one item to that item.
pub(super) fn prefix_path(fault: Fault, pointer: &str) -> Fault {
    let path = fault.body().path.clone().unwrap_or_default();
    fault.with_path(format!("{pointer}{path}"))
}
