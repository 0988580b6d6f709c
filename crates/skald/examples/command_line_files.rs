//! Writes the man pages and shell completions of the command line, for `cargo xtask dist`. It is an example, so that the
//! crates that render them are not in the shipped binary.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use clap::CommandFactory;
use clap_complete::Shell;

#[path = "../src"]
mod program {
    #[allow(dead_code, unused_imports, reason = "only the definition of the command line is used here")]
    pub(crate) mod arguments;
}

const NAME: &str = "skald";

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args_os().nth(1).map(PathBuf::from).ok_or("usage: command_line_files FOLDER")?;
    let (man, completions) = (folder.join("man/man1"), folder.join("completions"));
    fs::create_dir_all(&man)?;
    fs::create_dir_all(&completions)?;
    let mut command = program::arguments::Arguments::command();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish, Shell::PowerShell] {
        clap_complete::generate_to(shell, &mut command, NAME, &completions)?;
    }
    clap_mangen::generate_to(program::arguments::Arguments::command(), &man)?;
    Ok(())
}
