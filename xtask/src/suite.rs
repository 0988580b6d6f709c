//! `cargo xtask test`: runs all tests, in three modes.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};

use crate::install::{self, ForeignClients};
use crate::postgres::TestPostgres;
use crate::{
    bench_command, clients, conformance, dist, generate, kanka_clients, page_browser, paths, print_line, run,
    schemathesis, supply_chain,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SuiteMode {
    /// The inner loop: no foreign clients and no PostgreSQL.
    Quick,
    /// What CI runs.
    Default,
    /// More cases, and what takes minutes.
    Long,
}

/// Seconds of fuzzing in the long mode.
const FUZZ_SECONDS: &str = "60";
/// Rolls of each expression in the long mode, to compare with its odds.
const CHI_ROLLS: &str = "1000000";
/// How often a process is killed while it writes; three times in the quick mode.
const KILLS: &str = "20";
const LONG_KILLS: &str = "200";
/// How often two programs that mirror each other's lore are put through random edits; three times in the quick mode.
const SYNC_RUNS: &str = "20";
const LONG_SYNC_RUNS: &str = "200";
/// How long several programs work on one store; two seconds in the quick mode.
const TOGETHER_SECONDS: &str = "30";
const LONG_TOGETHER_SECONDS: &str = "120";
/// The module of the tests with hostile clients, and their seconds in the long mode; ten otherwise.
const HOSTILE_MODULE: &str = "crowd_the_server::";
const LONG_HOSTILE_SECONDS: &str = "60";
/// Cases of each property in the long mode; 256 otherwise.
const LONG_CASES: &str = "4096";

pub(crate) fn run_suite(mode: SuiteMode) -> anyhow::Result<()> {
    let began = Instant::now();
    let mut steps = Steps::default();
    // Foreign clients are fetched while our own code is built.
    let foreign = (mode != SuiteMode::Quick).then(|| thread::spawn(ForeignClients::install));
    steps.run("format", || run::run_shown(&mut run::cargo_command(&["fmt", "--all", "--check"])))?;
    steps.run("lints", || {
        run::run_shown(&mut run::cargo_command(&[
            "clippy",
            "--quiet",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ]))
    })?;
    steps.run("tests", || run_own_tests(mode))?;
    steps.run("generated files", generate::check_with_tested_binary)?;
    steps.run("manifests of a release", dist::check_with_tested_binary)?;
    if let Some(foreign) = foreign {
        steps.run("dependencies", supply_chain::check_dependencies)?;
        steps.run("release build", || {
            run::run_shown(&mut run::cargo_command(&["build", "--quiet", "--release", "--package", "skald"]))
        })?;
        steps.run("hostile clients", || test_hostile_clients(mode))?;
        let foreign = steps.run("foreign clients", || {
            foreign
                .join()
                .map_err(|_| anyhow!("the installation panicked"))?
                .context("foreign clients cannot be installed")
        })?;
        steps.run("conformance", || conformance::test_conformance(&foreign))?;
        steps.run("real clients", || clients::test_clients(&foreign))?;
        steps.run("clients of Kanka", || kanka_clients::test_kanka_clients(&foreign))?;
        steps.run("generated requests", || schemathesis::test_schemas(&foreign, mode))?;
        steps.run("page in Chromium", page_browser::test_page)?;
        if mode == SuiteMode::Long {
            steps.run("release files", || {
                // What is tested may not be committed yet.
                dist::make_release(&dist::DistArguments { is_dirty_allowed: true, ..Default::default() })
            })?;
            steps.run("release files again", dist::check_packed_again)?;
            steps.run("release files installed", || dist::try_artifacts(&dist::folder()))?;
            steps.run("two commands in a bare Debian", dist::try_source)?;
            steps.run("bench", || {
                bench_command::run_bench(bench_command::BenchArguments { long: true, ..Default::default() })
            })?;
        }
    }
    steps.print_summary(began.elapsed());
    Ok(())
}

/// Writes the fixture database of this version, with which later versions are tested, unless it exists.
pub(crate) fn write_fixture() -> anyhow::Result<()> {
    let test = ["test", "--quiet", "--workspace", "--test", "it", "--", "this_version_has_a_fixture"];
    run::run_shown(run::cargo_command(&test).env("SKALD_WRITE_FIXTURE", "1"))
}

fn run_own_tests(mode: SuiteMode) -> anyhow::Result<()> {
    let mut command = run::cargo_command(&["test", "--quiet", "--workspace", "--no-fail-fast"]);
    // Three servers that run until all tests have ended: one for all tests, with TLS; one that tests stop; and one
    // whose transaction ids are still small. Without a server, tests that need it fail rather than pass unrun.
    let databases = match mode {
        SuiteMode::Quick => None,
        SuiteMode::Default | SuiteMode::Long => {
            Some([TestPostgres::start_encrypted()?, TestPostgres::start()?, TestPostgres::start()?])
        }
    };
    // The guides are run by both shells, with the programs that they name.
    let for_guides = [("bash", "bash"), ("curl", "curl"), ("jq", "jq"), ("python3", "python3"), ("zsh", "zsh")];
    if mode != SuiteMode::Quick {
        install::install_programs(&[("strace", "strace")])?;
        install::install_programs(&for_guides)?;
    }
    // These run alone, on the release build.
    let mut left_out = vec![HOSTILE_MODULE];
    for (program, module) in [("zsh", "guides::with_zsh::"), ("jq", "guides::")] {
        if !run::is_installed(program) {
            print_line(&format!("NOT RUN: tests in the module `{module}`. They need {program}."));
            left_out.push(module);
        }
    }
    if let Some([postgres, stoppable, new]) = &databases {
        command
            .env("SKALD_TEST_POSTGRES", postgres.address())
            .env("SKALD_TEST_CERTIFICATES", postgres.certificates())
            .env("SKALD_TEST_STOPPABLE", stoppable.address())
            .env("SKALD_TEST_STOPPABLE_CONTROL", stoppable.pg_ctl_line())
            .env("SKALD_TEST_NEW_POSTGRES", new.address())
            .env("SKALD_KILLS", KILLS)
            .env("SKALD_SYNC_RUNS", SYNC_RUNS)
            .env("SKALD_TOGETHER_SECONDS", TOGETHER_SECONDS);
    } else {
        left_out.extend(["postgres::", "traced::"]);
    }
    if !can_mount() {
        print_line(
            "NOT RUN: tests in a module called `mounted`. They fill a disk of their own, and this machine forbids a mount.",
        );
        left_out.push("mounted::");
    }
    if !is_root() {
        print_line(
            "NOT RUN: tests in a module called `second_user`. They start processes as two users, which only root may.",
        );
        left_out.push("second_user::");
    }
    if mode == SuiteMode::Long {
        command.env("SKALD_FUZZ_SECONDS", FUZZ_SECONDS).env("PROPTEST_CASES", LONG_CASES);
        command.env("SKALD_CHI_ROLLS", CHI_ROLLS).env("SKALD_KILLS", LONG_KILLS);
        command.env("SKALD_SYNC_RUNS", LONG_SYNC_RUNS);
        command.env("SKALD_TOGETHER_SECONDS", LONG_TOGETHER_SECONDS);
    }
    command.arg("--").args(left_out.iter().flat_map(|module| ["--skip", *module]));
    run::run_shown(&mut command)
}

/// Runs the tests that measure the cost of hostile clients, with nothing else running.
fn test_hostile_clients(mode: SuiteMode) -> anyhow::Result<()> {
    // The same packages as before, so that nothing is built again.
    let mut command = run::cargo_command(&["test", "--quiet", "--workspace", "--test", "it", "--", HOSTILE_MODULE]);
    command.env("SKALD_TEST_RELEASE", paths::built_binary("release", "skald"));
    if mode == SuiteMode::Long {
        command.env("SKALD_HOSTILE_SECONDS", LONG_HOSTILE_SECONDS);
    }
    run::run_shown(&mut command)
}

/// Whether a process may have a file system of its own; in some containers it may not.
fn can_mount() -> bool {
    let line = ["--map-root-user", "--mount", "sh", "-ec", "mount -t tmpfs none /mnt"];
    run::run_silently(Command::new("unshare").args(line)).is_ok()
}

/// Whether a process may be started as another user.
fn is_root() -> bool {
    run::run_captured(Command::new("id").arg("-u")).is_ok_and(|user| user.trim() == "0")
}

/// The finished steps, with their times.
#[derive(Default)]
struct Steps(Vec<(&'static str, Duration)>);

impl Steps {
    fn run<T>(&mut self, name: &'static str, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
        print_line(&format!("\n== {name}"));
        let began = Instant::now();
        let outcome = work().with_context(|| format!("step {name:?}"))?;
        self.0.push((name, began.elapsed()));
        Ok(outcome)
    }

    fn print_summary(&self, whole: Duration) {
        print_line("\n== all passed");
        for (name, took) in &self.0 {
            print_line(&format!("{:>7.1} s  {name}", took.as_secs_f64()));
        }
        print_line(&format!("{:>7.1} s  in all", whole.as_secs_f64()));
    }
}
