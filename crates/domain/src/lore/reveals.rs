//! Reveals in the lore: who may see an entity, a post, an event of the timeline or a relationship, and since when.
//!
//! One event makes a thing private or public and says to whom it is revealed, so that no part of a reveal can be missing.

use std::sync::Arc;

use imbl::OrdMap;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::decide::LoreDecision;
use super::decide_relationship::{check_visible_to, is_hidden};
use super::event::LoreEvent;
use super::refusal::LoreRefusal;
use super::relationship::Relationship;
use super::state::LoreState;
use super::timeline::TimelineEvent;
use crate::visibility::{Visibility, VisibilityStep};

/// Something of the lore that has a visibility.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LoreSubject {
    Entity { entity_id: u64 },
    Post { post_id: u64 },
    TimelineEvent { event_id: u64 },
    Relationship { relationship_id: u64 },
}

/// Reveals or hides something.
#[derive(Debug, Clone, PartialEq)]
pub struct VisibilityCommand {
    pub of: LoreSubject,
    pub visible_to: Visibility,
    /// Who could see it when the caller decided. If that has changed since, the command is refused.
    pub was: Visibility,
    /// The session that is going on.
    pub session_id: Option<String>,
}

/// Visibilities of things that were revealed or hidden, each with its steps, the oldest first.
pub(super) type Reveals = OrdMap<LoreSubject, Arc<[VisibilityStep]>>;

pub(super) fn decide_visibility(state: &LoreState, command: &VisibilityCommand) -> LoreDecision {
    let VisibilityCommand { visible_to, was, session_id, .. } = command;
    let (of, is_inside_hidden) = state.require_subject(command.of)?;
    check_visible_to(visible_to)?;
    if state.visibility_of(of).is_some_and(|current| current != *was) {
        return Err(LoreRefusal::VisibilityDiffers);
    }
    if visible_to == was {
        return Err(LoreRefusal::Unchanged);
    }
    let (entity_id, entity_ids) = match of {
        LoreSubject::Entity { entity_id } => (Some(entity_id), Vec::new()),
        LoreSubject::Post { post_id } => (state.post(post_id).map(|(entity, _)| entity.entity_id), Vec::new()),
        LoreSubject::Relationship { relationship_id } => {
            (None, state.relationships.get(relationship_id).map(|one| one.ends()).unwrap_or_default())
        }
        LoreSubject::TimelineEvent { .. } => (None, Vec::new()),
    };
    Ok(LoreEvent::VisibilityChanged {
        of,
        entity_id,
        entity_ids,
        visible_to: visible_to.clone(),
        was: was.clone(),
        session_id: session_id.clone(),
        hidden: is_inside_hidden || (!visible_to.is_table() && !was.is_table()),
    })
}

impl LoreState {
    /// Checks that the subject exists. Returns it under its current id, and whether the entity that it belongs to is hidden
    /// from somebody.
    fn require_subject(&self, of: LoreSubject) -> Result<(LoreSubject, bool), LoreRefusal> {
        match of {
            LoreSubject::Entity { entity_id } => {
                let entity_id = self.require_entity("entity_id", entity_id)?.entity_id;
                Ok((LoreSubject::Entity { entity_id }, false))
            }
            LoreSubject::Post { post_id } => {
                let (entity, post) = self.post(post_id).ok_or(LoreRefusal::PostNotFound { entity_id: 0, post_id })?;
                if post.is_archived() {
                    return Err(LoreRefusal::PostArchived { post_id });
                }
                Ok((of, self.require_entity("entity_id", entity.entity_id)?.is_private))
            }
            LoreSubject::TimelineEvent { event_id } => {
                self.timeline.get(event_id).ok_or(LoreRefusal::TimelineEventNotFound { event_id })?;
                Ok((of, false))
            }
            LoreSubject::Relationship { relationship_id } => {
                let found = self.relationships.get(relationship_id);
                let relationship = found.ok_or(LoreRefusal::RelationshipNotFound { relationship_id })?;
                Ok((of, is_hidden(self, relationship, &Visibility::Table)))
            }
        }
    }

    /// Who may see something now. `None` if it is private and was never revealed or hidden here, or is not there.
    pub fn visibility_of(&self, of: LoreSubject) -> Option<Visibility> {
        let is_private = match of {
            LoreSubject::Entity { entity_id } => self.entity(entity_id)?.is_private,
            LoreSubject::Post { post_id } => self.post(post_id)?.1.is_private,
            LoreSubject::TimelineEvent { event_id } => return Some(self.timeline.get(event_id)?.visible_to.clone()),
            LoreSubject::Relationship { relationship_id } => {
                return Some(self.relationships.get(relationship_id)?.visible_to.clone());
            }
        };
        if !is_private {
            return Some(Visibility::Table);
        }
        // What was for the table was made private again since.
        let last = self.reveals.get(&of)?.last()?;
        Some(if last.visible_to.is_table() { Visibility::GameMasters } else { last.visible_to.clone() })
    }

    /// Since when who could see something, the oldest first; empty if it was never revealed or hidden.
    pub fn visibility_steps(&self, of: LoreSubject) -> &[VisibilityStep] {
        self.reveals.get(&of).map_or(&[], |steps| steps)
    }

    /// Everything that was revealed or hidden.
    pub fn revealed_subjects(&self) -> impl Iterator<Item = LoreSubject> {
        self.reveals.keys().copied()
    }

    pub(super) fn change_visibility(
        &mut self,
        of: LoreSubject,
        visible_to: &Visibility,
        session_id: Option<&String>,
        at: Timestamp,
    ) {
        let is_private = !visible_to.is_table();
        match of {
            LoreSubject::Entity { entity_id } => {
                if self.entity(entity_id).is_some_and(|entity| entity.is_private != is_private) {
                    self.change_entity(entity_id, at, |entity| {
                        entity.revision += 1;
                        entity.is_private = is_private;
                    });
                }
            }
            LoreSubject::Post { post_id } => {
                let found = self.post(post_id).filter(|(_, post)| post.is_private != is_private);
                if let Some(entity_id) = found.map(|(entity, _)| entity.entity_id) {
                    self.change_post(entity_id, post_id, at, |post| post.is_private = is_private);
                }
            }
            LoreSubject::TimelineEvent { event_id } => {
                let Some(event) = self.timeline.get(event_id) else { return };
                let (visible_to, revision) = (visible_to.clone(), event.revision + 1);
                self.timeline.put(TimelineEvent {
                    visible_to,
                    revision,
                    updated_at: at,
                    ..TimelineEvent::clone(event)
                });
            }
            LoreSubject::Relationship { relationship_id } => {
                let Some(known) = self.relationships.get(relationship_id) else { return };
                let (visible_to, revision) = (visible_to.clone(), known.revision + 1);
                self.relationships.put(Relationship {
                    visible_to,
                    revision,
                    updated_at: at,
                    ..Relationship::clone(known)
                });
            }
        }
        self.record_visibility(of, visible_to, session_id, at);
    }

    /// Records since when who may see something.
    pub(super) fn record_visibility(
        &mut self,
        of: LoreSubject,
        visible_to: &Visibility,
        session_id: Option<&String>,
        at: Timestamp,
    ) {
        let steps = self.visibility_steps(of);
        if steps.last().is_some_and(|step| step.visible_to == *visible_to) {
            return;
        }
        let step = VisibilityStep { visible_to: visible_to.clone(), since: at.into(), session_id: session_id.cloned() };
        let steps = steps.iter().cloned().chain([step]).collect();
        self.reveals.insert(of, steps);
    }

    /// An entity with another id is revealed to the same people.
    pub(super) fn renumber_reveal(&mut self, entity_id: u64, new_entity_id: u64) {
        if let Some(steps) = self.reveals.remove(&LoreSubject::Entity { entity_id }) {
            self.reveals.insert(LoreSubject::Entity { entity_id: new_entity_id }, steps);
        }
    }

    /// Another thing may get the id of one that is gone.
    pub(super) fn forget_reveals(&mut self, gone: impl IntoIterator<Item = LoreSubject>) {
        for of in gone {
            self.reveals.remove(&of);
        }
    }
}
