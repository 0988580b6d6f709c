//! Arguments of `skald universe`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use super::StoreArguments;

#[derive(Debug, Args)]
pub(crate) struct UniverseArguments {
    #[command(flatten)]
    pub store: StoreArguments,
    #[command(subcommand)]
    pub command: UniverseSubcommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UniverseSubcommand {
    /// List the universes, the newest first.
    List,
    /// Draw the map of a universe: skald universe map sol --svg sol.svg
    Map(UniverseMapArguments),
}

#[derive(Debug, Args)]
pub(crate) struct UniverseMapArguments {
    /// Id of the universe.
    pub id: String,
    /// File to write, or - for standard output.
    #[arg(long, value_name = "FILE")]
    pub svg: PathBuf,
    /// Time to draw, in simulated seconds. Default: the universe's own time.
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true, value_parser = parse_time)]
    pub time: Option<f64>,
    /// Colours; auto is light, or dark if the reader's system is.
    #[arg(long, default_value = "auto")]
    pub theme: ThemeArgument,
}

fn parse_time(text: &str) -> Result<f64, String> {
    let time = text.parse::<f64>().ok().filter(|time| time.is_finite());
    time.ok_or_else(|| "a time is a number of simulated seconds, as in 86400".to_owned())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ThemeArgument {
    Auto,
    Light,
    Dark,
}

impl ThemeArgument {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}
