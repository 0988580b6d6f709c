//! Arguments of `skald kanka`.

use clap::{Args, Subcommand, ValueEnum};

use super::StoreArguments;

#[derive(Debug, Args)]
pub(crate) struct KankaArguments {
    /// Where everything is stored: sqlite:PATH, `postgres://…` or memory. Default: a file in your data directory.
    #[arg(long, env = "SKALD_STORE", hide_env_values = true, value_name = "STORE", global = true)]
    store: Option<String>,
    /// The campaign in Skald, by its id or name.
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
    /// Link a campaign to a campaign of Kanka, and fetch everything from there.
    Link {
        /// Number of the campaign in Kanka. The address of its pages in Kanka contains it.
        kanka_campaign: u64,
        /// Address of a Kanka other than kanka.io, such as <https://kanka.example/api/1.0>.
        #[arg(long, env = "SKALD_KANKA_URL", hide_env_values = true, value_name = "URL")]
        base_url: Option<String>,
        /// Link even if the campaign has lore already. Entities of the same name and type are taken for the same; all
        /// others are created on the other side.
        #[arg(long)]
        merge: bool,
    },
    /// Fetch everything that changed in Kanka, and send the changes that wait here.
    Pull,
    /// Send the changes that wait, and try refused ones again.
    Push,
    /// Print the link, the time of the last sync, and the changes that wait.
    Status,
    /// List conflicts: what was changed both here and in Kanka.
    Conflicts {
        /// Only the conflicts of this entity, with whole texts.
        entity_id: Option<u64>,
    },
    /// Resolve a conflict: one side's version is kept.
    Resolve {
        /// Number of the entity in Skald.
        entity_id: u64,
        /// Which version to keep: ours is Skald's, theirs is Kanka's. To merge by hand, edit the entity here and keep ours.
        #[arg(long)]
        keep: KeepArgument,
        /// Only this post of the entity.
        #[arg(long, value_name = "ID")]
        post: Option<u64>,
        /// Only this field. Default: all fields.
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
