//! Decides what canon is about: holds changes against authoritative values, and decides marks, conflicts and reviews.

use super::canon::{
    CanonCommand, CanonField, CanonFields, CanonMark, Confidence, Conflict, ConflictChoice, ConflictStatus,
};
use super::command::{EntityChange, LoreCommand, PostChange};
use super::decide::{LoreDecision, decide_freely};
use super::entity::{Entity, Post, lost_mentions};
use super::event::LoreEvent;
use super::evolve::evolve;
use super::refusal::LoreRefusal;
use super::state::LoreState;
use super::timeline_date::SortDate;
use crate::decider::DecisionContext;
use crate::gate::ActingRole;
use crate::limits;

/// Holds an event that would change an authoritative value, and returns any other event unchanged. An event is held as a
/// whole: if one of its fields is authoritative, its other fields wait too.
pub(super) fn hold_against_canon(state: &LoreState, event: LoreEvent, tool: &str) -> LoreDecision {
    let fields = state.held_fields(&event);
    let Some(entity) = event.entity_id().and_then(|entity_id| state.entity(entity_id)) else { return Ok(event) };
    if fields.is_empty() {
        return Ok(event);
    }
    if let Some(conflict) = state.open_conflicts_of(entity.entity_id).find(|conflict| *conflict.proposed == event) {
        return Err(LoreRefusal::HeldAlready { conflict_id: conflict.id });
    }
    let count_max = limits::LORE_OPEN_CONFLICTS_MAX;
    if state.open_conflict_count() >= count_max {
        return Err(LoreRefusal::TooMany { things: "open conflicts", count_max });
    }
    let before = match &event {
        LoreEvent::EntityUpdated { change, .. } if change.text.is_some() => entity.text.as_ref(),
        LoreEvent::PostUpdated { post_id, change, .. } if change.text.is_some() => {
            entity.post(*post_id).and_then(|post| post.text.as_ref())
        }
        _ => None,
    };
    Ok(LoreEvent::ChangeHeld {
        conflict_id: state.canon.highest_conflict_id + 1,
        entity_id: entity.entity_id,
        fields,
        entry_before: before.map(|text| text.key),
        tool: tool.to_owned(),
        proposed: Box::new(event),
    })
}

impl LoreState {
    /// The authoritative fields that an event would change. A deletion changes all of them.
    pub(super) fn held_fields(&self, event: &LoreEvent) -> CanonFields {
        let authoritative =
            |entity_id: u64| self.entity(entity_id).map(|entity| entity.canon_mark().fields).unwrap_or_default();
        match event {
            LoreEvent::EntityUpdated { entity_id, change, .. } => {
                authoritative(*entity_id).intersection(CanonFields::of_change(change))
            }
            LoreEvent::EntityArchived { entity_id, .. } => authoritative(*entity_id),
            // Whether players see a post is no part of its value.
            LoreEvent::PostUpdated { entity_id, change, .. } if change.name.is_some() || change.text.is_some() => {
                authoritative(*entity_id).intersection([CanonField::Posts].into_iter().collect())
            }
            LoreEvent::PostArchived { entity_id, .. } => {
                authoritative(*entity_id).intersection([CanonField::Posts].into_iter().collect())
            }
            LoreEvent::EntityVersionRestored { steps, .. } => {
                steps.iter().fold(CanonFields::default(), |fields, step| fields.union(self.held_fields(step)))
            }
            _ => CanonFields::default(),
        }
    }

    /// The authoritative fields that a change of an entity would change, as far as it names them.
    pub fn fields_held_against(&self, entity_id: u64, change: &EntityChange) -> CanonFields {
        let fields = self.entity(entity_id).map(|entity| entity.canon_mark().fields).unwrap_or_default();
        fields.intersection(CanonFields::of_change(change))
    }
}

pub(super) fn decide_canon(state: &LoreState, command: &CanonCommand, given: &DecisionContext) -> LoreDecision {
    match command {
        CanonCommand::Mark { entity_id, confidence, fields, reason, acting } => {
            mark(state, *entity_id, (*confidence, *fields), reason, acting)
        }
        CanonCommand::RecordDeath { entity_id, date, acting } => record_death(state, *entity_id, *date, acting),
        CanonCommand::Acknowledge { conflict_id, reason } => {
            let conflict = state.require_conflict(*conflict_id)?;
            match conflict.status() {
                ConflictStatus::Detected => {}
                ConflictStatus::Acknowledged => return Err(LoreRefusal::Unchanged),
                ConflictStatus::Resolved => return Err(LoreRefusal::ConflictResolved { conflict_id: *conflict_id }),
            }
            check_log(conflict)?;
            let (conflict_id, entity_id, reason) = (conflict.id, conflict.entity_id, check_reason(reason, false)?);
            Ok(LoreEvent::ConflictAcknowledged { conflict_id, entity_id, reason })
        }
        CanonCommand::Resolve { conflict_id, choice, change, reason, acting } => {
            require_human(acting, "resolve a conflict")?;
            resolve(state, *conflict_id, (*choice, change.as_deref()), reason, given)
        }
        CanonCommand::Reopen { conflict_id, reason, acting } => {
            require_human(acting, "take a resolution back")?;
            reopen(state, *conflict_id, reason, given)
        }
        CanonCommand::Review { finding_id, status, reason, acting } => {
            review(state, finding_id, *status, reason, acting)
        }
    }
}

fn record_death(state: &LoreState, entity_id: u64, date: Option<SortDate>, acting: &ActingRole) -> LoreDecision {
    let missing = LoreRefusal::EntityNotFound { field: "entity_id", entity_id };
    let entity = state.entity(entity_id).ok_or(missing)?;
    let entity_id = entity.entity_id;
    if state.death_date(entity_id) == date {
        return Err(LoreRefusal::Unchanged);
    }
    if entity.canon_mark().confidence == Confidence::Authoritative {
        require_human(acting, "record or take back the death of an authoritative entity")?;
    }
    Ok(LoreEvent::EntityDied { entity_id, date })
}

fn mark(
    state: &LoreState,
    entity_id: u64,
    (confidence, fields): (Confidence, CanonFields),
    reason: &str,
    acting: &ActingRole,
) -> LoreDecision {
    let missing = LoreRefusal::EntityNotFound { field: "entity_id", entity_id };
    let entity = state.entity(entity_id).ok_or(missing)?;
    let before = entity.canon_mark();
    let named = if fields.is_empty() { CanonFields::all() } else { fields };
    let after = match confidence {
        Confidence::Authoritative => CanonMark { confidence, fields: before.fields.union(named) },
        Confidence::Draft => match before.fields.without(named) {
            rest if rest.is_empty() => CanonMark::DRAFT,
            rest => CanonMark { confidence: Confidence::Authoritative, fields: rest },
        },
        Confidence::Superseded if !fields.is_empty() => return Err(LoreRefusal::SupersededField),
        Confidence::Superseded => CanonMark { confidence, fields: CanonFields::default() },
    };
    if after == before {
        return Err(LoreRefusal::Unchanged);
    }
    if !before.fields.without(after.fields).is_empty() {
        require_human(acting, "take back what is authoritative")?;
    }
    let CanonMark { confidence, fields } = after;
    let (entity_id, reason) = (entity.entity_id, check_reason(reason, false)?);
    Ok(LoreEvent::EntityMarked { entity_id, confidence, fields, reason })
}

fn resolve(
    state: &LoreState,
    conflict_id: u64,
    (choice, change): (ConflictChoice, Option<&EntityChange>),
    reason: &str,
    given: &DecisionContext,
) -> LoreDecision {
    let conflict = state.require_conflict(conflict_id)?;
    if !conflict.is_open() {
        return Err(LoreRefusal::ConflictResolved { conflict_id });
    }
    check_log(conflict)?;
    let reason = check_reason(reason, true)?;
    let entity_id = conflict.entity_id;
    let mut commands = match (choice, change) {
        (ConflictChoice::Current, _) => Vec::new(),
        (ConflictChoice::Proposed, _) => {
            check_text_unchanged(state, conflict)?;
            commands_of_event(&conflict.proposed)
        }
        (ConflictChoice::Value, Some(change)) => {
            let fields = CanonFields::of_change(change);
            let mut others = change.clone();
            others.clear_canon_fields();
            if fields.is_empty() || !fields.without(conflict.fields).is_empty() || others != EntityChange::default() {
                return Err(LoreRefusal::ValueOfOtherField { fields: conflict.fields });
            }
            let change = Box::new(change.clone());
            vec![LoreCommand::UpdateEntity { entity_id, expected_revision: None, change }]
        }
        (ConflictChoice::Value, None) => return Err(LoreRefusal::Empty { field: "value" }),
    };
    // The winner is authoritative, also if the mark was taken away while the change was held.
    let acting = ActingRole { role: String::new(), is_human: true };
    commands.push(LoreCommand::Canon(CanonCommand::Mark {
        entity_id,
        confidence: Confidence::Authoritative,
        fields: conflict.fields,
        reason: String::new(),
        acting,
    }));
    let decided = decide_in_order(state, &commands, given)?;
    Ok(LoreEvent::ConflictResolved { conflict_id, entity_id, choice, reason, steps: decided.steps, undo: decided.undo })
}

/// A text that was proposed replaces the one that it was made from, and no other.
fn check_text_unchanged(state: &LoreState, conflict: &Conflict) -> Result<(), LoreRefusal> {
    let entity = state.entity(conflict.entity_id);
    let now = match &*conflict.proposed {
        LoreEvent::EntityUpdated { change, .. } if change.text.is_some() => {
            entity.and_then(|entity| entity.text.as_ref())
        }
        LoreEvent::PostUpdated { post_id, change, .. } if change.text.is_some() => {
            entity.and_then(|entity| entity.post(*post_id)).and_then(|post| post.text.as_ref())
        }
        _ => return Ok(()),
    };
    if now.map(|text| text.key) == conflict.entry_before {
        return Ok(());
    }
    Err(LoreRefusal::ProposalOutdated { conflict_id: conflict.id })
}

fn reopen(state: &LoreState, conflict_id: u64, reason: &str, given: &DecisionContext) -> LoreDecision {
    let conflict = state.require_conflict(conflict_id)?;
    let Some(outcome) = conflict.outcome.as_ref().filter(|_| !conflict.is_open()) else {
        return Err(LoreRefusal::ConflictNotResolved { conflict_id });
    };
    check_log(conflict)?;
    let reason = check_reason(reason, true)?;
    let count_max = limits::LORE_OPEN_CONFLICTS_MAX;
    if state.open_conflict_count() >= count_max {
        return Err(LoreRefusal::TooMany { things: "open conflicts", count_max });
    }
    // What somebody changed since then is not overwritten: everything must be as the resolution left it.
    for command in outcome.steps.iter().flat_map(commands_of_event) {
        match decide_freely(state, &command, given) {
            Err(
                LoreRefusal::Unchanged | LoreRefusal::EntityNotArchived { .. } | LoreRefusal::PostNotArchived { .. },
            ) => {}
            Err(LoreRefusal::EntityArchived { .. }) if matches!(command, LoreCommand::ArchiveEntity { .. }) => {}
            Err(LoreRefusal::PostArchived { .. }) if matches!(command, LoreCommand::ArchivePost { .. }) => {}
            _ => return Err(LoreRefusal::ChangedSinceResolved { conflict_id }),
        }
    }
    let commands: Vec<LoreCommand> = outcome.undo.iter().flat_map(commands_of_event).collect();
    let steps = decide_in_order(state, &commands, given)?.steps;
    Ok(LoreEvent::ConflictReopened { conflict_id, entity_id: conflict.entity_id, reason, steps })
}

fn review(
    state: &LoreState,
    finding_id: &str,
    status: ConflictStatus,
    reason: &str,
    acting: &ActingRole,
) -> LoreDecision {
    let known = state.finding_review(finding_id).map(|review| review.status).unwrap_or_default();
    if known == status {
        return Err(LoreRefusal::Unchanged);
    }
    if [known, status].contains(&ConflictStatus::Resolved) {
        require_human(acting, "decide about a finding")?;
    }
    let count_max = limits::LORE_REVIEWS_MAX;
    if state.canon.reviews.len() >= count_max && known == ConflictStatus::Detected {
        return Err(LoreRefusal::TooMany { things: "reviewed findings", count_max });
    }
    let reason = check_reason(reason, status != ConflictStatus::Acknowledged)?;
    Ok(LoreEvent::FindingReviewed { finding_id: finding_id.to_owned(), status, reason })
}

/// Events of commands that were decided one after the other, and the events that take them back, in the order to do so.
pub(super) struct DecidedSteps {
    pub(super) steps: Vec<LoreEvent>,
    pub(super) undo: Vec<LoreEvent>,
}

/// Decides commands one after the other, each on what the one before left. What changes nothing is left out.
pub(super) fn decide_in_order(
    state: &LoreState,
    commands: &[LoreCommand],
    given: &DecisionContext,
) -> Result<DecidedSteps, LoreRefusal> {
    let (mut steps, mut undo, mut current) = (Vec::new(), Vec::new(), state.clone());
    for command in commands {
        match decide_freely(&current, command, given) {
            Ok(step) => {
                undo.extend(current.undo_of_event(&step));
                current = evolve(current, &step, given);
                steps.push(step);
            }
            Err(LoreRefusal::Unchanged) => {}
            Err(refusal) => return Err(refusal),
        }
    }
    undo.reverse();
    Ok(DecidedSteps { steps, undo })
}

/// The commands that bring about what an event says.
fn commands_of_event(event: &LoreEvent) -> Vec<LoreCommand> {
    let expected_revision = None;
    match event {
        LoreEvent::EntityUpdated { entity_id, change, .. } => {
            vec![LoreCommand::UpdateEntity { entity_id: *entity_id, expected_revision, change: change.clone() }]
        }
        LoreEvent::EntityArchived { entity_id, .. } => {
            vec![LoreCommand::ArchiveEntity { entity_id: *entity_id, expected_revision }]
        }
        LoreEvent::EntityRestored { entity_id, .. } => vec![LoreCommand::RestoreEntity { entity_id: *entity_id }],
        LoreEvent::PostUpdated { entity_id, post_id, change, .. } => {
            let (entity_id, post_id, change) = (*entity_id, *post_id, change.clone());
            vec![LoreCommand::UpdatePost { entity_id, post_id, expected_revision, change }]
        }
        LoreEvent::PostArchived { entity_id, post_id, .. } => {
            vec![LoreCommand::ArchivePost { entity_id: *entity_id, post_id: *post_id, expected_revision }]
        }
        LoreEvent::PostRestored { entity_id, post_id, .. } => {
            vec![LoreCommand::RestorePost { entity_id: *entity_id, post_id: *post_id }]
        }
        LoreEvent::EntityMarked { entity_id, confidence, fields, .. } => {
            // Marking adds to the authoritative fields, so the fields that are not to be authoritative are made drafts first.
            let acting = ActingRole { role: String::new(), is_human: true };
            let mark = |confidence, fields| {
                let (entity_id, acting, reason) = (*entity_id, acting.clone(), String::new());
                LoreCommand::Canon(CanonCommand::Mark { entity_id, confidence, fields, reason, acting })
            };
            let rest = CanonFields::all().without(*fields);
            match confidence {
                Confidence::Authoritative if rest.is_empty() => vec![mark(Confidence::Authoritative, *fields)],
                Confidence::Authoritative => {
                    vec![mark(Confidence::Draft, rest), mark(Confidence::Authoritative, *fields)]
                }
                Confidence::Draft | Confidence::Superseded => vec![mark(*confidence, CanonFields::default())],
            }
        }
        LoreEvent::EntityVersionRestored { steps, .. } => steps.iter().flat_map(commands_of_event).collect(),
        _ => Vec::new(),
    }
}

impl LoreState {
    /// The event that undoes `event`. Call it before `event` is applied to this state.
    fn undo_of_event(&self, event: &LoreEvent) -> Option<LoreEvent> {
        let entity = self.entity(event.entity_id()?)?;
        let (entity_id, hidden) = (entity.entity_id, entity.is_private);
        Some(match event {
            LoreEvent::EntityUpdated { change, hidden, .. } => {
                let mut after = Entity::clone(entity);
                after.apply_change(change);
                let change = Box::new(self.undo_of_change(entity, change));
                let unlinked_ids = after.links_lost_in(entity);
                LoreEvent::EntityUpdated { entity_id, change, unlinked_ids, hidden: *hidden }
            }
            LoreEvent::EntityArchived { .. } => {
                LoreEvent::EntityRestored { entity_id, parent_cleared: false, actor_cleared: false, hidden }
            }
            LoreEvent::EntityRestored { .. } => {
                LoreEvent::EntityArchived { entity_id, name: entity.name.to_string(), hidden }
            }
            LoreEvent::PostUpdated { post_id, change, hidden, .. } => {
                let post = entity.post(*post_id)?;
                let mut after = Post::clone(post);
                after.apply_change(change);
                let unlinked_ids = lost_mentions(after.text.as_ref(), post.text.as_ref());
                let change = Box::new(undo_of_post_change(post, change));
                LoreEvent::PostUpdated { entity_id, post_id: *post_id, change, unlinked_ids, hidden: *hidden }
            }
            LoreEvent::PostArchived { post_id, hidden, .. } => {
                LoreEvent::PostRestored { entity_id, post_id: *post_id, hidden: *hidden }
            }
            LoreEvent::PostRestored { post_id, hidden, .. } => {
                let name = entity.post(*post_id)?.name.to_string();
                LoreEvent::PostArchived { entity_id, post_id: *post_id, name, hidden: *hidden }
            }
            LoreEvent::EntityMarked { .. } => {
                let CanonMark { confidence, fields } = entity.canon_mark();
                LoreEvent::EntityMarked { entity_id, confidence, fields, reason: String::new() }
            }
            _ => return None,
        })
    }

    /// The values that an entity has in the fields that a change is about.
    fn undo_of_change(&self, entity: &Entity, change: &EntityChange) -> EntityChange {
        let details = entity.details();
        let owned = |text: &Option<Box<str>>| text.as_deref().map(ToOwned::to_owned);
        EntityChange {
            name: change.name.as_ref().map(|_| entity.name.to_string()),
            subtype: change.subtype.as_ref().map(|_| entity.subtype.to_string()),
            tags: change.tags.as_ref().map(|_| self.tag_names(entity).into_iter().map(ToOwned::to_owned).collect()),
            aliases: change.aliases.as_ref().map(|_| details.aliases.iter().map(ToString::to_string).collect()),
            is_private: change.is_private.map(|_| entity.is_private),
            parent: change.parent.map(|_| details.parent),
            image: change.image.as_ref().map(|_| owned(&details.image)),
            date: change.date.as_ref().map(|_| owned(&details.date)),
            actor_id: change.actor_id.as_ref().map(|_| owned(&details.actor_id)),
            text: change.text.as_ref().map(|_| entity.text.clone()),
            source: change.source.as_ref().and_then(|_| details.source.as_deref().cloned()),
        }
    }

    fn require_conflict(&self, conflict_id: u64) -> Result<&Conflict, LoreRefusal> {
        self.conflict(conflict_id).ok_or(LoreRefusal::ConflictNotFound { conflict_id })
    }
}

fn undo_of_post_change(post: &Post, change: &PostChange) -> PostChange {
    PostChange {
        name: change.name.as_ref().map(|_| post.name.to_string()),
        is_private: change.is_private.map(|_| post.is_private),
        text: change.text.as_ref().map(|_| post.text.clone()),
    }
}

impl EntityChange {
    /// Leaves these fields, and drops all others.
    pub fn retain_canon_fields(&mut self, fields: CanonFields) {
        let change = std::mem::take(self);
        *self = Self {
            name: change.name.filter(|_| fields.contains(CanonField::Name)),
            subtype: change.subtype.filter(|_| fields.contains(CanonField::Type)),
            aliases: change.aliases.filter(|_| fields.contains(CanonField::Aliases)),
            parent: change.parent.filter(|_| fields.contains(CanonField::Parent)),
            date: change.date.filter(|_| fields.contains(CanonField::Date)),
            text: change.text.filter(|_| fields.contains(CanonField::Entry)),
            ..Self::default()
        };
    }

    fn clear_canon_fields(&mut self) {
        (self.name, self.subtype, self.aliases) = (None, None, None);
        (self.parent, self.date, self.text) = (None, None, None);
    }
}

fn require_human(acting: &ActingRole, what: &'static str) -> Result<(), LoreRefusal> {
    if acting.is_human { Ok(()) } else { Err(LoreRefusal::NotHuman { role: acting.role.clone(), what }) }
}

fn check_log(conflict: &Conflict) -> Result<(), LoreRefusal> {
    let (count, count_max) = (conflict.log.len() + 1, limits::CANON_LOG_MAX);
    if count <= count_max {
        return Ok(());
    }
    Err(LoreRefusal::TooMany { things: "steps of one conflict", count_max })
}

fn check_reason(reason: &str, is_required: bool) -> Result<String, LoreRefusal> {
    let (reason, chars_max) = (reason.trim(), limits::CANON_REASON_CHARS_MAX);
    if is_required && reason.is_empty() {
        return Err(LoreRefusal::Empty { field: "reason" });
    }
    let chars = reason.chars().count();
    if chars > chars_max {
        return Err(LoreRefusal::TooLong { field: "reason", chars, chars_max });
    }
    Ok(reason.to_owned())
}
