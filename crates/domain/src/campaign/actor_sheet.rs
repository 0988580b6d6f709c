//! The sheet of an actor: traits, trackers, and the templates that set up the trackers of a game.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::decide::{CampaignDecision, check_length, check_name, check_text_limit};
use super::entities::{Actor, ActorKind};
use super::event::CampaignEvent;
use super::refusal::{CampaignAction, CampaignRefusal};
use super::state::CampaignState;
use super::tracker::{Tracker, TrackerDefinition, TrackerOwner, is_same_name};
use super::tracker_decide::{ARMOR, FEAR, HOPE, HP, STRESS, check_tracker_count, define_tracker};
use crate::case_insensitive_enum::case_insensitive_enum;
use crate::limits;
use crate::visibility::Visibility;

/// A game whose trackers a sheet gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum GameTemplate {
    Daggerheart,
    Plain,
}

case_insensitive_enum!(GameTemplate {
    Daggerheart = "daggerheart",
    Plain = "plain"
});

/// Defaults of Daggerheart: hit points, Stress and Hope of a character and of an adversary, and the most Fear.
const CHARACTER_HP: i64 = 6;
const CHARACTER_STRESS_MAX: i64 = 6;
const CHARACTER_HOPE: i64 = 2;
const HOPE_MAX: i64 = 6;
const ADVERSARY_HP: i64 = 3;
const ADVERSARY_STRESS_MAX: i64 = 3;
const FEAR_MAX: i64 = 12;
const PLAIN_HP: i64 = 10;
/// Thresholds of a character in armour, and of an adversary.
const ARMORED_THRESHOLDS: Thresholds = Thresholds { major: 8, severe: 12 };
const ADVERSARY_THRESHOLDS: Thresholds = Thresholds { major: 6, severe: 10 };

impl GameTemplate {
    /// The trackers of an actor.
    fn trackers(self, kind: ActorKind) -> Vec<Tracker> {
        match (self, kind) {
            (Self::Daggerheart, ActorKind::Pc) => vec![
                template_tracker(HP, CHARACTER_HP, CHARACTER_HP, "hit points left"),
                template_tracker(STRESS, 0, CHARACTER_STRESS_MAX, "Stress marked"),
                template_tracker(HOPE, CHARACTER_HOPE, HOPE_MAX, ""),
                template_tracker(ARMOR, 0, 0, "Armor slots left"),
            ],
            (Self::Daggerheart, ActorKind::Npc) => vec![
                template_tracker(HP, ADVERSARY_HP, ADVERSARY_HP, "hit points left"),
                template_tracker(STRESS, 0, ADVERSARY_STRESS_MAX, "Stress marked"),
            ],
            (Self::Plain, _) => vec![template_tracker(HP, PLAIN_HP, PLAIN_HP, "hit points left")],
        }
    }

    /// The tracker that the game keeps once for the campaign.
    fn campaign_tracker(self) -> Option<Tracker> {
        match self {
            Self::Daggerheart => Some(template_tracker(FEAR, 0, FEAR_MAX, "the game master's Fear")),
            Self::Plain => None,
        }
    }
}

fn template_tracker(name: &str, value: i64, max: i64, meaning: &str) -> Tracker {
    Tracker {
        name: name.to_owned(),
        value,
        min: 0,
        max: Some(max),
        meaning: meaning.to_owned(),
        ticks: None,
        visible_to: Visibility::Table,
    }
}

/// The value of a trait: a number or a short text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum TraitValue {
    Number(Number),
    Text(String),
}

impl TraitValue {
    fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Number(number) => number.as_i64(),
            Self::Text(text) => text.trim().parse().ok(),
        }
    }

    fn text_bytes(&self) -> usize {
        match self {
            Self::Number(_) => 0,
            Self::Text(text) => text.len(),
        }
    }
}

impl fmt::Display for TraitValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(formatter),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}

impl JsonSchema for TraitValue {
    fn schema_name() -> Cow<'static, str> {
        "TraitValue".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "string" }, { "type": "number" }] })
    }
}

pub type Traits = BTreeMap<String, TraitValue>;

/// Bytes of the names and texts of traits, for the limit on a campaign's texts.
pub(super) fn trait_text_bytes(traits: &Traits) -> usize {
    traits.iter().map(|(name, value)| name.len() + value.text_bytes()).sum()
}

/// What a command sets on a sheet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ActorSheet {
    pub template: Option<GameTemplate>,
    /// `None` removes a trait.
    pub traits: BTreeMap<String, Option<TraitValue>>,
    pub trackers: Vec<TrackerDefinition>,
}

/// The damage from which a hit costs two hit points, and three.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thresholds {
    pub major: i64,
    pub severe: i64,
}

impl Thresholds {
    pub(super) fn hit_points(self, damage: i64) -> i64 {
        1 + i64::from(damage >= self.major) + i64::from(damage >= self.severe)
    }

    /// `8/12`.
    fn from_text(text: &str) -> Option<Self> {
        let (major, severe) = text.split_once('/')?;
        let (major, severe) = (major.trim().parse().ok()?, severe.trim().parse().ok()?);
        (0 <= major && major <= severe).then_some(Self { major, severe })
    }
}

impl fmt::Display for Thresholds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.major, self.severe)
    }
}

impl Actor {
    fn trait_value(&self, name: &str) -> Option<&TraitValue> {
        self.traits.iter().find(|(known, _)| is_same_name(known, name)).map(|(_, value)| value)
    }

    /// From the trait `thresholds` (8/12), or from `major` and `severe`. With the Daggerheart template, those of an
    /// adversary, of armour, or of the level of a character without armour.
    pub fn thresholds(&self) -> Option<Thresholds> {
        if let Some(TraitValue::Text(text)) = self.trait_value("thresholds") {
            return Thresholds::from_text(text);
        }
        let number = |name: &str| self.trait_value(name).and_then(TraitValue::as_integer);
        if let (Some(major), Some(severe)) = (number("major"), number("severe")) {
            return (0 <= major && major <= severe).then_some(Thresholds { major, severe });
        }
        if self.template != Some(GameTemplate::Daggerheart) {
            return None;
        }
        let has_armor = self.trackers.iter().any(|tracker| tracker.has_name(ARMOR) && tracker.max != Some(0));
        let level = number("level").filter(|level| *level > 0).unwrap_or(1);
        Some(match self.kind {
            ActorKind::Npc => ADVERSARY_THRESHOLDS,
            ActorKind::Pc if has_armor => ARMORED_THRESHOLDS,
            ActorKind::Pc => Thresholds { major: level, severe: level.saturating_mul(2) },
        })
    }
}

/// Sets traits and trackers of an actor. A template adds the trackers that the actor does not have yet, and once for
/// the campaign the game master's.
pub(super) fn set_actor_sheet(state: &CampaignState, actor_id: &str, sheet: &ActorSheet) -> CampaignDecision {
    state.check_status(CampaignAction::Change)?;
    let actor = state.find_actor(actor_id)?;
    let traits = check_traits(actor, &sheet.traits)?;
    let mut trackers = sheet_trackers(actor, sheet)?;
    let owner = TrackerOwner::actor(&actor.id);
    for tracker in &mut trackers {
        tracker.visible_to = state.tracker_visibility(&owner, &tracker.name);
    }
    let added = trackers.iter().filter(|tracker| !actor.trackers.iter().any(|known| known.has_name(&tracker.name)));
    check_tracker_count(actor.trackers.len() + added.count())?;
    let campaign = TrackerOwner::campaign();
    let campaign_tracker = sheet.template.and_then(GameTemplate::campaign_tracker);
    let campaign_tracker = campaign_tracker.filter(|tracker| state.tracker(&campaign, &tracker.name).is_none());
    let campaign_tracker = campaign_tracker.map(|tracker| {
        let visible_to = state.tracker_visibility(&campaign, &tracker.name);
        Tracker { visible_to, ..tracker }
    });
    if campaign_tracker.is_some() {
        check_tracker_count(state.trackers.len() + 1)?;
    }
    let new_traits: usize =
        traits.iter().filter_map(|(name, value)| Some(name.len() + value.as_ref()?.text_bytes())).sum();
    let new_trackers: usize = trackers.iter().chain(&campaign_tracker).map(Tracker::text_bytes).sum();
    check_text_limit(state, (0, new_traits + new_trackers))?;
    let session_id = state.active_session().map(|session| session.id.clone());
    let shared = campaign_tracker.map(|tracker| CampaignEvent::TrackerSet {
        owner: campaign,
        from: None,
        tracker,
        reason: String::new(),
        session_id,
    });
    let set = CampaignEvent::ActorSheetSet { actor_id: actor.id.clone(), template: sheet.template, traits, trackers };
    Ok([set].into_iter().chain(shared).collect())
}

/// The traits under the names that they are stored under: a known trait keeps its spelling.
fn check_traits(
    actor: &Actor,
    given: &BTreeMap<String, Option<TraitValue>>,
) -> Result<BTreeMap<String, Option<TraitValue>>, CampaignRefusal> {
    let mut traits = BTreeMap::new();
    let mut after = actor.traits.clone();
    for (name, value) in given {
        let name = check_length("traits", &check_name("traits", name)?, limits::TRAIT_CHARS_MAX)?;
        let known = after.keys().find(|known| is_same_name(known, &name)).cloned();
        let name = known.unwrap_or(name);
        let value = match value {
            Some(TraitValue::Text(text)) => {
                Some(TraitValue::Text(check_length("traits", text.trim(), limits::TRAIT_CHARS_MAX)?))
            }
            value => value.clone(),
        };
        match &value {
            Some(value) => after.insert(name.clone(), value.clone()),
            None => after.remove(&name),
        };
        traits.insert(name, value);
    }
    if after.len() > limits::TRAITS_MAX {
        return Err(CampaignRefusal::TooManyOnOne { things: "traits", count_max: limits::TRAITS_MAX });
    }
    Ok(traits)
}

fn sheet_trackers(actor: &Actor, sheet: &ActorSheet) -> Result<Vec<Tracker>, CampaignRefusal> {
    let define = |known: Option<&Tracker>, definition: &TrackerDefinition| {
        let pointer = || format!("/trackers/{}", definition.name);
        define_tracker(known, definition)
            .map_err(|refusal| CampaignRefusal::InPart { pointer: pointer(), refusal: Box::new(refusal) })
    };
    let known = |name: &str| actor.trackers.iter().find(|tracker| tracker.has_name(name));
    let template = sheet.template.map(|template| template.trackers(actor.kind)).unwrap_or_default();
    let mut trackers: Vec<Tracker> = template.into_iter().filter(|tracker| known(&tracker.name).is_none()).collect();
    for definition in &sheet.trackers {
        match trackers.iter_mut().find(|tracker| tracker.has_name(&definition.name)) {
            Some(tracker) => {
                // What starts full starts full at the given value too: HP 7 is 7 of 7.
                let starts_full = tracker.max == Some(tracker.value);
                let max = definition.max.or(definition.value.filter(|_| starts_full));
                *tracker = define(Some(tracker), &TrackerDefinition { max, ..definition.clone() })?;
            }
            None => trackers.push(define(known(&definition.name), definition)?),
        }
    }
    Ok(trackers)
}
