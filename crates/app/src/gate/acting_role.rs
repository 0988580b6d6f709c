//! The role in which a caller acts at a gate: from the token or the start of the process, never from the request.

pub(crate) use skald_domain::gate::AGENT;
use skald_domain::gate::ActingRole;

use crate::{App, Caller, Principal, PrincipalKind};

impl App {
    /// The owner's role is set when this process starts; the role of a token's holder comes from the token.
    pub(crate) fn acting_role(&self, caller: &Caller) -> ActingRole {
        let (role, is_person) = match &caller.principal {
            Principal::Owner => (self.gate_role.as_str(), true),
            Principal::Holder(holder) => {
                (holder.gate_role.as_deref().unwrap_or(AGENT), holder.kind == PrincipalKind::Human)
            }
        };
        ActingRole { role: role.to_owned(), is_human: is_person && role != AGENT }
    }
}
