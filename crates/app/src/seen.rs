//! What a caller sees of what was read. The one place where secrets are kept: every read passes through it.

use domain::campaign::{Actor, Campaign, Participant, Session};

use crate::{Caller, CampaignRole};

/// The eyes of a caller in one campaign.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    role: Option<CampaignRole>,
}

/// Something that may be seen in part, or not at all.
pub(crate) trait Veiled: Sized {
    /// What a role sees of it.
    fn seen_as(self, role: CampaignRole) -> Option<Self>;
}

impl Seen {
    pub(crate) fn by(caller: &Caller, campaign_id: &str) -> Self {
        Self { role: caller.role_in(campaign_id) }
    }

    pub(crate) fn one<T: Veiled>(self, thing: T) -> Option<T> {
        thing.seen_as(self.role?)
    }

    pub(crate) fn all<T: Veiled>(self, things: Vec<T>) -> Vec<T> {
        things.into_iter().filter_map(|thing| self.one(thing)).collect()
    }
}

/// Nothing of these is secret yet.
macro_rules! open {
    ($($type:ty),+) => {
        $(impl Veiled for $type {
            fn seen_as(self, _: CampaignRole) -> Option<Self> {
                Some(self)
            }
        })+
    };
}

open!(Campaign, Participant, Actor, Session, crate::campaign::LoggedEvent);
