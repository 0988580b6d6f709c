//! The command line of the automation: `cargo xtask test`, `generate`, `bench` and `dist`.

mod bench;
mod bench_command;
mod clients;
mod code_map;
mod conformance;
mod dist;
mod generate;
mod install;
mod kanka_clients;
mod page_browser;
mod paths;
mod postgres;
mod run;
mod schemathesis;
mod server;
mod startup_order;
mod suite;
mod supply_chain;
#[cfg(test)]
mod tidy;

use std::io::Write;
use std::process::ExitCode;

use anyhow::bail;

const USAGE: &str = "usage: cargo xtask COMMAND

  test              every test there is: what CI runs
  test --quick      the inner loop: format, lints, tests but those on PostgreSQL, generated files
  test --long       everything, with more cases, a minute of nonsense, and the bench
  generate          write the reference pages, tool snapshots, the OpenAPI file and the examples
  generate --check  fail if they differ from what is committed
  fixture           write the database that later versions are tested with, after a new migration
  screenshots       take the pictures of the page that the guides show
  screenshots --all FOLDER  pictures of every page at three widths, light and dark, and on paper, to look at
  bench             Skald beside a bare rmcp server and other SDKs, as ratios
  bench --long      the same with more rounds, and larger sizes
  bench PART        one part of it, such as universe or gate
  bench --skald FILE  the same of a binary that is there already
  dist              everything a release needs: archive, Debian package, MCPB bundle, image, plugin, server.json
  dist --try        the same, and each of them validated and started where nothing else is installed
  dist --binary FILE  the same around a binary that is there already
  dist --dirty      the same of files that are in no commit, which is not to be published
  dist --check      the shapes of all manifests, without a build";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run_command(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            print_line(&format!("\nFAILED: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run_command(arguments: &[&str]) -> anyhow::Result<()> {
    match arguments {
        ["test"] => suite::run_suite(suite::SuiteMode::Default),
        ["test", "--quick"] => suite::run_suite(suite::SuiteMode::Quick),
        ["test", "--long"] => suite::run_suite(suite::SuiteMode::Long),
        ["generate"] => generate::write_generated(),
        ["generate", "--check"] => generate::check_generated(),
        ["screenshots"] => page_browser::take_screenshots(),
        ["screenshots", "--all", folder] => page_browser::take_all_screenshots(folder),
        ["fixture"] => suite::write_fixture(),
        ["bench", words @ ..] => bench_command::run_bench(bench_command::BenchArguments::parse(words)?),
        ["dist", "--check"] => dist::check_shapes(),
        ["dist", words @ ..] => dist::make_release(&dist::DistArguments::parse(words)?),
        _ => bail!("{USAGE}"),
    }
}

/// Prints a line to standard output.
fn print_line(text: &str) {
    let mut output = std::io::stdout();
    // Ignore errors: a closed standard output is no failure.
    let _ = writeln!(output, "{text}");
    let _ = output.flush();
}
