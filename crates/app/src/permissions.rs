//! The table of permissions: what each role may do, by class of operation. The reference page is rendered from it, and
//! a test holds every operation of the catalogue to its class.

use std::fmt::Write;

use crate::{Allowed, CampaignRole, Catalogue};

/// One class of operations, and who may call them.
#[derive(Debug, Clone, Copy)]
pub struct PermissionRow {
    pub class: PermissionClass,
    /// What its operations do.
    pub what: &'static str,
    /// The smallest role that may; `None` is whoever may call at all.
    pub role: Option<CampaignRole>,
}

/// What kind of thing an operation does. Each operation names its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermissionClass {
    /// Reads what belongs to no campaign.
    Reference,
    /// Rolls and judges dice.
    Dice,
    /// Reads a campaign or its lore.
    ReadCampaign,
    /// Chooses the campaign of a conversation.
    Context,
    /// Plays: notes and trackers.
    Play,
    /// Changes a campaign.
    RunCampaign,
    /// Writes the lore of a campaign, and reads its history.
    WriteLore,
    /// Relationships and the timeline of a campaign, which one operation each reads and writes.
    RelationshipsAndTimeline,
    /// Reads and drives runs of processes.
    Gate,
    /// Reads universes.
    ReadUniverse,
    /// Changes universes.
    WriteUniverse,
}

/// Who may do what.
pub const PERMISSIONS: &[PermissionRow] = &[
    row(PermissionClass::Reference, "read rules, notation, odds and documentation", None),
    row(
        PermissionClass::Dice,
        "roll outside of a session, and judge dice; rolls in a session need the role player",
        None,
    ),
    row(
        PermissionClass::ReadCampaign,
        "read a campaign and its lore, without secrets (the role gm sees them)",
        Some(CampaignRole::Guest),
    ),
    row(PermissionClass::Context, "choose the campaign that a conversation is about", Some(CampaignRole::Guest)),
    row(PermissionClass::Play, "write notes, change trackers", Some(CampaignRole::Player)),
    row(PermissionClass::RunCampaign, "change campaigns, people, actors and sessions", Some(CampaignRole::Gm)),
    row(PermissionClass::WriteLore, "write the lore, read its history and archive", Some(CampaignRole::Gm)),
    row(
        PermissionClass::RelationshipsAndTimeline,
        "read relationships and the timeline; changing them needs the role gm",
        Some(CampaignRole::Guest),
    ),
    row(
        PermissionClass::Gate,
        "read runs and move them on: players their own runs, with a gate role also those without a campaign, game masters all of the campaign",
        Some(CampaignRole::Player),
    ),
    row(PermissionClass::ReadUniverse, "read universes", Some(CampaignRole::Guest)),
    row(
        PermissionClass::WriteUniverse,
        "list universes; creating, changing and deleting them needs the role gm",
        Some(CampaignRole::Guest),
    ),
];

const fn row(class: PermissionClass, what: &'static str, role: Option<CampaignRole>) -> PermissionRow {
    PermissionRow { class, what, role }
}

impl PermissionClass {
    /// Who may call its operations.
    pub fn allowed(self) -> Allowed {
        let row = PERMISSIONS.iter().find(|row| row.class == self).expect("every class has a row");
        row.role.map_or(Allowed::Anyone, Allowed::InCampaign)
    }
}

/// The reference page of permissions.
pub(crate) fn permissions_page(catalogue: &Catalogue) -> String {
    let mut page = String::from(
        "# Permissions\n\nA token has a role in each of its campaigns, or one role in all campaigns. Without a role in a campaign, \
         the campaign does not exist for the holder. The owner may do everything. Only the owner can make tokens and \
         invitations, read the audit log, seal and back up: at the command line, and all but seals also on \
         the page under *Keeping*.\n\n\
         | operation | guest | player | gm | owner |\n|---|---|---|---|---|\n",
    );
    for row in PERMISSIONS {
        let roles = [CampaignRole::Guest, CampaignRole::Player, CampaignRole::Gm];
        let may = roles.map(|role| if row.role.is_none_or(|needed| role >= needed) { "yes" } else { "no" });
        let _ = writeln!(page, "| {} | {} | yes |", row.what, may.join(" | "));
    }
    page.push_str(
        "\nA token may also have a scope, an upper limit on what it may do: with `read` (`skald:read`) it only reads, with `write` \
         (`skald:write`) it also does what players do, with `gm` (`skald:gm`) everything that its role allows. This table says \
         which role and which scope each operation needs, and whether it counts as a call or as a list for the rate limits. \
         Reading a resource, and a GET request, count as a read.\n\n\
         | operation | for | scope | counts as |\n|---|---|---|---|\n",
    );
    for entry in catalogue.operations() {
        let counts = if entry.lists { "list" } else { "call" };
        let (name, allowed, scope) = (entry.name, entry.allowed.description(), entry.required_scope().as_str());
        let methods = match entry.game_master_methods {
            [] => String::new(),
            methods => format!("; to {} `gm`", methods.join(", ")),
        };
        let _ = writeln!(page, "| `{name}` | {allowed} | `{scope}`{methods} | {counts} |");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_is_for_whom_the_table_says() {
        let catalogue = Catalogue::from_all_nouns();
        for entry in catalogue.operations() {
            let (allowed, class) = (entry.allowed, entry.class);
            assert_eq!(allowed, class.allowed(), "{} is of the class {class:?}", entry.name);
        }
    }

    #[test]
    fn every_class_has_one_row_and_an_operation() {
        let catalogue = Catalogue::from_all_nouns();
        for (at, row) in PERMISSIONS.iter().enumerate() {
            assert!(PERMISSIONS[..at].iter().all(|other| other.class != row.class), "{:?} has two rows", row.class);
            let has_operation = catalogue.operations().iter().any(|entry| entry.class == row.class);
            assert!(has_operation, "no operation is of the class {:?}", row.class);
        }
    }
}
