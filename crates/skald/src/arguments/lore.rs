//! Arguments of `skald import` and `skald export`.

use std::path::PathBuf;

use clap::Args;

use super::StoreArguments;

/// The campaign is that of `--campaign`, by its id or its name.
#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// A folder of Markdown files (an Obsidian vault), a .zip (an export of Kanka), a .json (a journal of Foundry), a .md
    /// file, or a folder that `skald export` wrote.
    pub path: PathBuf,
    #[command(flatten)]
    pub store: StoreArguments,
    /// Tells vaults and exports apart that have files of the same names: the name of the folder or file, if left out. A
    /// later import under the same name updates what this one brought.
    #[arg(long, value_name = "NAME")]
    pub source_name: Option<String>,
    /// Say what would be imported, and write nothing.
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// Import without asking.
    #[arg(long, short)]
    pub yes: bool,
}

/// The campaign is that of `--campaign`, by its id or its name.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The folder to write: a new or empty one, or one with an earlier export, whose files are replaced.
    pub folder: PathBuf,
    #[command(flatten)]
    pub store: StoreArguments,
    /// Only what players may see.
    #[arg(long)]
    pub as_player: bool,
}
