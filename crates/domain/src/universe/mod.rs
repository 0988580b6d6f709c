//! Rules of a universe: bodies that move around each other, groups, regions of space, and time.
//!
//! One universe is one stream of events. The cost of a command depends on what it changes, not on the size of the
//! universe. Refusals use the wording of the original where it has one. Positions are functions of the time alone.

mod apply_command;
mod body;
mod body_parts;
mod check_bounds;
mod check_links;
mod command;
mod command_catalogue;
mod command_outcomes;
mod decide;
mod event;
mod evolve;
mod failure;
#[cfg(test)]
mod golden;
mod group;
mod id_index;
mod id_name_color;
mod list_rows;
mod motion;
mod number;
mod ordered_list;
mod patch;
#[cfg(test)]
mod property_tests;
#[cfg(test)]
mod reference_model;
mod refusal;
mod region;
mod removed_regions;
mod repair;
mod snapshot;
mod state;
mod stored_parts;
mod tagged_objects;
#[cfg(test)]
mod tests;
mod units;
mod view;
mod wire_event;
mod wire_struct_macros;

pub use body::{AsteroidSubType, BodyType, Star, StarPatch, StarPayload};
pub use body_parts::{
    BlackHoleProperties, CometMeta, LagrangePairType, LagrangePointMeta, PlanetaryRing, Position, RingPatch,
    RoguePlanetMeta,
};
pub use check_bounds::{Check, FieldMisfit, Reason};
pub use command::{
    AddGroup, AddProtoplanetaryDisk, AddStar, AddToGroup, AttachStar, Command, DetachStar, MoveToGroup,
    RemoveFromGroup, RemoveGroup, RemoveNebula, RemoveProtoplanetaryDisk, RemoveRing, RemoveSmallBodyField, RemoveStar,
    ReplaceSnapshot, SetNebulae, SetProtoplanetaryDisks, SetSmallBodyFields, Tick, UpdateGroup, UpdateNebula,
    UpdateProtoplanetaryDisk, UpdateRing, UpdateSmallBodyField, UpdateStar,
};
pub use command_catalogue::{CATEGORIES, Category, CommandEntry, EXAMPLE_STATE, category, command_entry};
pub use command_outcomes::{CommandOutcome, FailureEntry, outcome};
pub use event::{Commanded, Created, Deleted, Renamed, Replaced, UniverseEvent};
pub use failure::{Failure, MissingItem, ThingKind};
pub use group::{Group, GroupChild, GroupChildType, GroupPatch, GroupPayload};
pub use id_name_color::{Extensions, Id, Name, UniverseColor, is_same_word};
pub use list_rows::{BodyRow, GroupRow};
pub use motion::{Orbit, local_position, orbit, period};
pub use number::{Count, Fraction, IntegerInRange, Number, NumberInRange, Seed};
pub use ordered_list::OrderedList;
pub use patch::{Change, Clearable};
pub use refusal::{UniverseRefusal, UniverseRefusalKind};
pub use region::{
    AsteroidBelt, BeltType, DiskStyle, NebulaPatch, NebulaRegion, ProtoplanetaryDisk, ProtoplanetaryDiskPatch,
    SmallBodyField, SmallBodyFieldPatch, SmallBodyFieldStyle,
};
pub use removed_regions::{RemovedRegions, removed_regions};
pub use repair::Repair;
pub use snapshot::{Regions, Snapshot};
pub use state::{SentState, StateWithoutBodiesAndTime, Universe, UniverseIdentity, UniverseState};
pub use stored_parts::StoredPart;
pub use units::{UnitField, days, unit_fields};
pub use view::{BodyKind, BodyPosition, BodyView, Relative, Summary};
pub use wire_event::WireEvent;

use std::sync::Arc;

use crate::decider::{Decider, DecisionContext};

/// Commands to a universe. `Create` brings the id of the new universe: generating ids is not a rule.
#[derive(Debug, Clone, PartialEq)]
pub enum UniverseCommand {
    Create {
        id: String,
        name: String,
        /// The campaign it belongs to, if any.
        campaign_id: Option<String>,
        /// The initial content.
        state: Option<SentState>,
    },
    Rename {
        name: String,
    },
    /// Fields that are `None` do not change. A state replaces the whole content; without a time in it, the time stays.
    Replace {
        name: Option<String>,
        state: Option<SentState>,
    },
    /// One command, or a batch that is applied as a whole or not at all.
    Apply(Vec<Arc<Command>>),
    Delete,
}

/// The rules of the universe.
#[derive(Debug)]
pub struct UniverseRules;

impl Decider for UniverseRules {
    type Command = UniverseCommand;
    type Event = UniverseEvent;
    type Refusal = UniverseRefusal;
    type State = Universe;

    fn decide(
        state: &Universe,
        command: &UniverseCommand,
        _: &DecisionContext,
    ) -> Result<Vec<UniverseEvent>, UniverseRefusal> {
        decide::decide(state, command)
    }

    fn evolve(state: Universe, event: &UniverseEvent, given: &DecisionContext) -> Universe {
        evolve::evolve(state, event, given)
    }
}
