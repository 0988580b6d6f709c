//! `cargo xtask test`: runs all tests, in three modes.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};

use crate::install::{self, Foreign};
use crate::postgres::TestPostgres;
use crate::{clients, conformance, generate, measure, paths, run, say};

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
/// How long several programs work on one store; two seconds in the quick mode.
const TOGETHER_SECONDS: &str = "30";
const LONG_TOGETHER_SECONDS: &str = "120";
/// The module of the tests with hostile clients, and their seconds in the long mode; ten otherwise.
const HOSTILE: &str = "crowd_the_server::";
const LONG_HOSTILE_SECONDS: &str = "60";
/// Cases of each property in the long mode; 256 otherwise.
const LONG_CASES: &str = "4096";

pub(crate) fn test(mode: SuiteMode) -> anyhow::Result<()> {
    let began = Instant::now();
    let mut steps = Steps::default();
    // Foreign clients are fetched while our own code is built.
    let foreign = (mode != SuiteMode::Quick).then(|| thread::spawn(Foreign::install));
    steps.step("format", || run::shown(&mut run::cargo(&["fmt", "--all", "--check"])))?;
    steps.step("lints", || {
        run::shown(&mut run::cargo(&["clippy", "--quiet", "--workspace", "--all-targets", "--", "-D", "warnings"]))
    })?;
    steps.step("tests", || own_tests(mode))?;
    steps.step("generated files", generate::check_with_tested_binary)?;
    if let Some(foreign) = foreign {
        steps.step("release build", || {
            run::shown(&mut run::cargo(&["build", "--quiet", "--release", "--package", "skald"]))
        })?;
        steps.step("hostile clients", || hostile_clients(mode))?;
        let foreign = steps.step("foreign clients", || {
            foreign
                .join()
                .map_err(|_| anyhow!("the installation panicked"))?
                .context("foreign clients cannot be installed")
        })?;
        steps.step("conformance", || conformance::test(&foreign))?;
        steps.step("real clients", || clients::test(&foreign))?;
        if mode == SuiteMode::Long {
            steps.step("bench", || measure::bench(measure::BenchArguments { long: true, ..Default::default() }))?;
        }
    }
    steps.summary(began.elapsed());
    Ok(())
}

/// Writes the fixture database of this version, with which later versions are tested, unless it exists.
pub(crate) fn write_fixture() -> anyhow::Result<()> {
    let test = ["test", "--quiet", "--workspace", "--test", "it", "--", "this_version_has_a_fixture"];
    run::shown(run::cargo(&test).env("SKALD_WRITE_FIXTURE", "1"))
}

fn own_tests(mode: SuiteMode) -> anyhow::Result<()> {
    let mut command = run::cargo(&["test", "--quiet", "--workspace"]);
    // Three servers that run until all tests have ended: one for all tests, with TLS; one that tests stop; and one
    // whose transaction ids are still small. Without a server, tests that need it fail rather than pass unrun.
    let databases = match mode {
        SuiteMode::Quick => None,
        SuiteMode::Default | SuiteMode::Long => {
            Some([TestPostgres::start_encrypted()?, TestPostgres::start()?, TestPostgres::start()?])
        }
    };
    if mode != SuiteMode::Quick {
        install::debian(&[("strace", "strace")])?;
    }
    // These run alone, on the release build.
    let mut left_out = vec![HOSTILE];
    if let Some([postgres, stoppable, new]) = &databases {
        command
            .env("SKALD_TEST_POSTGRES", postgres.address())
            .env("SKALD_TEST_CERTIFICATES", postgres.certificates())
            .env("SKALD_TEST_STOPPABLE", stoppable.address())
            .env("SKALD_TEST_STOPPABLE_CONTROL", stoppable.control_line())
            .env("SKALD_TEST_NEW_POSTGRES", new.address())
            .env("SKALD_KILLS", KILLS)
            .env("SKALD_TOGETHER_SECONDS", TOGETHER_SECONDS);
    } else {
        left_out.extend(["postgres::", "traced::"]);
    }
    if !can_mount() {
        say(
            "NOT RUN: tests in a module called `mounted`. They fill a disk of their own, and this machine forbids a mount.",
        );
        left_out.push("mounted::");
    }
    if !is_root() {
        say("NOT RUN: tests in a module called `second_user`. They start processes as two users, which only root may.");
        left_out.push("second_user::");
    }
    if mode == SuiteMode::Long {
        command.env("SKALD_FUZZ_SECONDS", FUZZ_SECONDS).env("PROPTEST_CASES", LONG_CASES);
        command.env("SKALD_CHI_ROLLS", CHI_ROLLS).env("SKALD_KILLS", LONG_KILLS);
        command.env("SKALD_TOGETHER_SECONDS", LONG_TOGETHER_SECONDS);
    }
    command.arg("--").args(left_out.iter().flat_map(|module| ["--skip", *module]));
    run::shown(&mut command)
}

/// Runs the tests that measure the cost of hostile clients, with nothing else running.
fn hostile_clients(mode: SuiteMode) -> anyhow::Result<()> {
    // The same packages as before, so that nothing is built again.
    let mut command = run::cargo(&["test", "--quiet", "--workspace", "--test", "it", "--", HOSTILE]);
    command.env("SKALD_TEST_RELEASE", paths::built("release", "skald"));
    if mode == SuiteMode::Long {
        command.env("SKALD_HOSTILE_SECONDS", LONG_HOSTILE_SECONDS);
    }
    run::shown(&mut command)
}

/// Whether a process may have a file system of its own; in some containers it may not.
fn can_mount() -> bool {
    let line = ["--map-root-user", "--mount", "sh", "-ec", "mount -t tmpfs none /mnt"];
    run::silent(Command::new("unshare").args(line)).is_ok()
}

/// Whether a process may be started as another user.
fn is_root() -> bool {
    run::captured(Command::new("id").arg("-u")).is_ok_and(|user| user.trim() == "0")
}

/// The finished steps, with their times.
#[derive(Default)]
struct Steps(Vec<(&'static str, Duration)>);

impl Steps {
    fn step<T>(&mut self, name: &'static str, work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<T> {
        say(&format!("\n== {name}"));
        let began = Instant::now();
        let outcome = work().with_context(|| format!("step {name:?}"))?;
        self.0.push((name, began.elapsed()));
        Ok(outcome)
    }

    fn summary(&self, whole: Duration) {
        say("\n== all passed");
        for (name, took) in &self.0 {
            say(&format!("{:>7.1} s  {name}", took.as_secs_f64()));
        }
        say(&format!("{:>7.1} s  in all", whole.as_secs_f64()));
    }
}
