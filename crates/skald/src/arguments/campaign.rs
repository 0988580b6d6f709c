//! Arguments of `skald campaign`.

use clap::{Args, Subcommand};

use super::StoreArguments;

#[derive(Debug, Args)]
pub(crate) struct CampaignArguments {
    #[command(flatten)]
    pub store: StoreArguments,
    #[command(subcommand)]
    pub command: CampaignSubcommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CampaignSubcommand {
    /// List the campaigns, the newest first.
    List,
    /// Tell a session again: skald campaign recap 'The Drowned Bells'
    Recap(CampaignRecapArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CampaignRecapArguments {
    /// The campaign's id or name; the only one there is if left out.
    pub name: Option<String>,
    /// The session's id; the one that is being played, or else the last one, if left out.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}
