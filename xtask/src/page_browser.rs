//! Walks through the web page in a real Chromium: two people at one table, with scripts and without.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;

use crate::clients::run_script;
use crate::install::install_packages;
use crate::{paths, print_line, run};

/// Debian's Chromium without a window, and what it needs besides.
const CHROMIUM: &str = "chromium-headless-shell";
const CHROMIUM_PACKAGES: [&str; 2] = ["chromium-headless-shell", "chromium-common"];

pub(crate) fn test_page() -> anyhow::Result<()> {
    run_script("Chromium", "http", &mut browser_command(&paths::built_binary("release", "skald"))?)
}

/// Takes the pictures of the page that the guides show.
pub(crate) fn take_screenshots() -> anyhow::Result<()> {
    run::run_shown(&mut run::cargo_command(&["build", "--quiet", "--package", "skald"]))?;
    let mut command = browser_command(&paths::built_binary("debug", "skald"))?;
    run_script("Chromium", "http", command.arg(paths::root().join("docs/screenshots")))
}

/// The script that drives a browser, for a program.
fn browser_command(skald: &Path) -> anyhow::Result<Command> {
    let folder = install_browser()?;
    let mut command = Command::new("node");
    command.arg(folder.join("page.mjs")).arg(skald).arg(chromium_program()?).current_dir(&folder);
    Ok(command)
}

/// The folder with the script and the packages that drive a browser.
fn install_browser() -> anyhow::Result<PathBuf> {
    let folder = paths::target().join("browser");
    fs::create_dir_all(&folder)?;
    let source = paths::root().join("xtask/browser");
    let wanted = fs::read_to_string(source.join("package.json"))?;
    let stamp = folder.join("npm.installed");
    for file in ["page.mjs", "package.json"] {
        fs::copy(source.join(file), folder.join(file))?;
    }
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(folder);
    }
    print_line("installing playwright-core and axe-core (npm)");
    let install = ["install", "--no-package-lock", "--no-audit", "--no-fund"];
    run::run_captured(Command::new("npm").args(install).current_dir(&folder))
        .context("the npm packages of the browser could not be installed")?;
    fs::write(stamp, wanted)?;
    Ok(folder)
}

fn chromium_program() -> anyhow::Result<PathBuf> {
    let program = PathBuf::from("/usr/bin").join(CHROMIUM);
    if !program.exists() {
        print_line("installing Chromium (apt)");
        install_packages(&CHROMIUM_PACKAGES)?;
    }
    Ok(program)
}
