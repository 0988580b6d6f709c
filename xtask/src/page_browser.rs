//! Walks through the web page in a real Chromium, part by part, and takes pictures of it.

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
/// Fonts of the pictures, which have names in Japanese and Arabic, and a file of them.
const FONT_PACKAGES: [&str; 2] = ["fonts-dejavu-core", "fonts-noto-cjk"];
const FONT_FILE: &str = "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc";

pub(crate) fn test_page() -> anyhow::Result<()> {
    let skald = paths::built_binary("release", "skald");
    run_script("Chromium", "http", &mut browser_command("page.mjs", &skald)?)
}

/// Takes the pictures of the page that the guides show.
pub(crate) fn take_screenshots() -> anyhow::Result<()> {
    run_script("Chromium", "http", screenshot_command()?.arg(paths::root().join("docs/screenshots")))
}

/// Takes pictures of every page at three widths, light and dark, with long and foreign names, and on paper, to look at.
pub(crate) fn take_all_screenshots(folder: &str) -> anyhow::Result<()> {
    let folder = std::env::current_dir()?.join(folder);
    fs::create_dir_all(&folder).with_context(|| format!("{} cannot be created", folder.display()))?;
    run_script("Chromium", "http", screenshot_command()?.arg(folder).arg("all"))
}

fn screenshot_command() -> anyhow::Result<Command> {
    run::run_shown(&mut run::cargo_command(&["build", "--quiet", "--package", "skald"]))?;
    if !Path::new(FONT_FILE).exists() {
        install_packages(&FONT_PACKAGES)?;
    }
    browser_command("screenshots.mjs", &paths::built_binary("debug", "skald"))
}

/// A script that drives a browser, for a program.
fn browser_command(script: &str, skald: &Path) -> anyhow::Result<Command> {
    let folder = install_browser()?;
    let mut command = Command::new("node");
    command.arg(folder.join(script)).arg(skald).arg(chromium_program()?).current_dir(&folder);
    Ok(command)
}

/// The folder with the scripts and the packages that drive a browser.
fn install_browser() -> anyhow::Result<PathBuf> {
    let folder = paths::target().join("browser");
    let source = paths::root().join("xtask/browser");
    // A script that was renamed or removed must not run from the folder.
    for part in ["checks", ""] {
        let to = folder.join(part);
        if !part.is_empty() && to.exists() {
            fs::remove_dir_all(&to)?;
        }
        copy_files(&source.join(part), &to)?;
    }
    let wanted = fs::read_to_string(source.join("package.json"))?;
    let stamp = folder.join("npm.installed");
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

fn copy_files(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to)?;
    for file in fs::read_dir(from)? {
        let file = file?;
        if file.file_type()?.is_file() {
            fs::copy(file.path(), to.join(file.file_name()))?;
        }
    }
    Ok(())
}

fn chromium_program() -> anyhow::Result<PathBuf> {
    let program = PathBuf::from("/usr/bin").join(CHROMIUM);
    if !program.exists() {
        print_line("installing Chromium (apt)");
        install_packages(&CHROMIUM_PACKAGES)?;
    }
    Ok(program)
}
