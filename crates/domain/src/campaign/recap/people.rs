//! `People`, the participants and actors that a recap may name. The caller redacts them before passing them in.

use std::borrow::Cow;

use super::super::entities::{Actor, Campaign, Participant};

/// The current campaign as a recap reads it. The caller has already redacted it for the reader.
pub trait People {
    fn campaign(&self) -> Option<Cow<'_, Campaign>>;

    fn participant(&self, id: &str) -> Option<Cow<'_, Participant>>;

    fn actor(&self, id: &str) -> Option<Cow<'_, Actor>>;

    /// The oldest first.
    fn participants(&self) -> Box<dyn Iterator<Item = Cow<'_, Participant>> + '_>;

    /// The oldest first.
    fn actors(&self) -> Box<dyn Iterator<Item = Cow<'_, Actor>> + '_>;
}

/// Without redaction, for tests only.
#[cfg(test)]
impl People for super::super::state::CampaignState {
    fn campaign(&self) -> Option<Cow<'_, Campaign>> {
        self.campaign.as_deref().map(Cow::Borrowed)
    }

    fn participant(&self, id: &str) -> Option<Cow<'_, Participant>> {
        self.participants.get(id).map(Cow::Borrowed)
    }

    fn actor(&self, id: &str) -> Option<Cow<'_, Actor>> {
        self.actors.get(id).map(Cow::Borrowed)
    }

    fn participants(&self) -> Box<dyn Iterator<Item = Cow<'_, Participant>> + '_> {
        Box::new(self.participants.oldest_first().map(Cow::Borrowed))
    }

    fn actors(&self) -> Box<dyn Iterator<Item = Cow<'_, Actor>> + '_> {
        Box::new(self.actors.oldest_first().map(Cow::Borrowed))
    }
}
