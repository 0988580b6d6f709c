//! Arguments of `skald campaign`.

use clap::{Args, Subcommand, ValueEnum};

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
    /// Create a campaign: skald campaign create 'The Drowned Bells'
    Create(CampaignCreateArguments),
    /// List the campaigns, the newest first.
    List,
    /// Print the recap of a session: skald campaign recap 'The Drowned Bells'
    Recap(CampaignRecapArguments),
}

#[derive(Debug, Args)]
pub(crate) struct CampaignCreateArguments {
    /// Its name.
    pub name: String,
    /// What it is about.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "TEXT")]
    pub about: String,
    /// Who runs the game: a human, an AI, or both (hybrid).
    #[arg(long, default_value = "human")]
    pub run_by: RunByArgument,
    /// Print the name, the id and the page's address as JSON.
    #[arg(long)]
    pub json: bool,
}

/// The words of the GM mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum RunByArgument {
    Human,
    Ai,
    Hybrid,
}

#[derive(Debug, Args)]
pub(crate) struct CampaignRecapArguments {
    /// Id or name of the campaign. May be left out if there is only one.
    pub name: Option<String>,
    /// Id of the session. Default: the active one, or else the last one.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}
