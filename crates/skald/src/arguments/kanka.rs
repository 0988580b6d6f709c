//! Arguments of `skald kanka`.

use clap::{Args, Subcommand, ValueEnum};

use super::StoreArguments;

#[derive(Debug, Args)]
pub(crate) struct KankaArguments {
    /// sqlite:PATH, `postgres://…` or memory; one file in the platform's data directory if left out.
    #[arg(long, env = "SKALD_STORE", hide_env_values = true, value_name = "STORE", global = true)]
    store: Option<String>,
    /// The campaign here, by its id or name.
    #[arg(long, env = "SKALD_CAMPAIGN", value_name = "CAMPAIGN", global = true)]
    campaign: Option<String>,
    /// Print the whole answer as JSON.
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub command: KankaCommand,
}

impl KankaArguments {
    pub(crate) fn store_arguments(&self) -> StoreArguments {
        StoreArguments { store: self.store.clone(), campaign: self.campaign.clone() }
    }
}

/// The token of Kanka comes from the variable `SKALD_KANKA_TOKEN`, or from a file that only you can read, which
/// `SKALD_KANKA_TOKEN_FILE` names.
#[derive(Debug, Subcommand)]
pub(crate) enum KankaCommand {
    /// Link a campaign to one of Kanka, and pull everything.
    Link {
        /// The number of the campaign in Kanka; it stands in the address of its pages.
        kanka_campaign: u64,
        /// Another Kanka than kanka.io, such as <https://kanka.example/api/1.0>.
        #[arg(long, env = "SKALD_KANKA_URL", hide_env_values = true, value_name = "URL")]
        base_url: Option<String>,
        /// Link although the campaign has lore already: entities of the same name and type are then taken for the same,
        /// and all others are created on the other side.
        #[arg(long)]
        merge: bool,
    },
    /// Get everything that changed in Kanka, and send what waits.
    Pull,
    /// Send what waits, and try again what was refused.
    Push,
    /// How the campaign is linked, how fresh it is, and what waits.
    Status,
    /// List what both sides changed.
    Conflicts {
        /// Only those of this entity, with whole texts.
        entity_id: Option<u64>,
    },
    /// Resolve what both sides changed, for one side.
    Resolve {
        entity_id: u64,
        /// Which side counts. To merge by hand, change the entity here and keep ours.
        #[arg(long)]
        keep: KeepArgument,
        /// A post of the entity.
        #[arg(long, value_name = "ID")]
        post: Option<u64>,
        /// One field; all if left out.
        #[arg(long)]
        field: Option<String>,
    },
    /// End the link. The lore stays on both sides.
    Unlink,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum KeepArgument {
    Ours,
    Theirs,
}
