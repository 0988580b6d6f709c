//! `People`, the participants and actors that a recap may name. The caller redacts them before passing them in.

use std::borrow::Cow;

use super::super::record::{Actor, Campaign, Participant};

/// What a recap takes from the campaign as it stands. Whoever hands it in has left out what is not to be seen.
pub trait People {
    fn campaign(&self) -> Option<Cow<'_, Campaign>>;

    fn participant(&self, id: &str) -> Option<Cow<'_, Participant>>;

    fn actor(&self, id: &str) -> Option<Cow<'_, Actor>>;

    /// The oldest first.
    fn participants(&self) -> Box<dyn Iterator<Item = Cow<'_, Participant>> + '_>;

    /// The oldest first.
    fn actors(&self) -> Box<dyn Iterator<Item = Cow<'_, Actor>> + '_>;
}

/// Everything. Only the rules' own tests see so much.
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
