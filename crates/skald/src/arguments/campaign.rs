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
    /// Print the recap of a session: skald campaign recap 'The Drowned Bells'
    Recap(CampaignRecapArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CampaignRecapArguments {
    /// Id or name of the campaign. May be left out if there is only one.
    pub name: Option<String>,
    /// Id of the session. Default: the active one, or else the last one.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}
