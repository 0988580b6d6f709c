//! Arguments of `skald import` and `skald export`.

use std::path::PathBuf;

use clap::Args;

use super::StoreArguments;

/// Name the campaign with `--campaign`, by its id or name.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct ImportArguments {
    /// What to import: a folder of Markdown files (an Obsidian vault), a .zip (an export of Kanka), a .json (a journal of
    /// Foundry), a .md file, or a folder that `skald export` wrote.
    pub path: PathBuf,
    #[command(flatten)]
    pub store: StoreArguments,
    /// Name of this source. A later import under the same name updates what this one brought. Default: the name of the
    /// folder or file.
    #[arg(long, value_name = "NAME")]
    pub source_name: Option<String>,
    /// Say what would be imported, and write nothing.
    #[arg(long, conflicts_with = "yes")]
    pub dry_run: bool,
    /// Take what the source says also where somebody has changed it in Skald since the last import.
    #[arg(long)]
    pub overwrite: bool,
    /// List everything that is not taken over, and not the first 20 of each kind alone. Also done where the output is no
    /// terminal.
    #[arg(long)]
    pub list_all: bool,
    /// Import without asking.
    #[arg(long, short)]
    pub yes: bool,
}

/// Name the campaign with `--campaign`, by its id or name.
#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// Folder to write to: a new or empty one, or one with an earlier export, whose files are replaced.
    pub folder: PathBuf,
    #[command(flatten)]
    pub store: StoreArguments,
    /// Only what players may see.
    #[arg(long)]
    pub as_player: bool,
}
