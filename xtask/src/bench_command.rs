//! `cargo xtask bench`: builds what is compared, and runs the benchmarks.

use std::path::PathBuf;

use anyhow::bail;

use crate::bench::{self, BenchOptions};
use crate::install::ForeignClients;
use crate::{dist, paths, run};

/// The packages that are built with the `dist` profile, and the parts that need them.
const BUILDS: [(&[&str], &[&str]); 6] = [
    (
        &["skald", "--bins", "--examples"],
        &[
            "universe", "gate", "lists", "lore", "page", "kanka", "cost", "rate", "token", "bridge", "startup",
            "profiles",
        ],
    ),
    (&["skald-page", "--example", "constant_page"], &["page"]),
    (&["skald-mcp", "--example", "bare"], &["cost", "rate"]),
    (&["skald-domain", "--examples"], &["dice", "universe"]),
    (&["skald-store", "--example", "journal_speed"], &["journal"]),
    (&["skald-grpc", "--examples"], &["bridge"]),
];
/// The parts that need programs of others.
const WITH_FOREIGN: [&str; 3] = ["kanka", "cost", "rate"];

/// The arguments of `cargo xtask bench`.
#[derive(Debug, Default)]
pub(crate) struct BenchArguments {
    /// More rounds, and larger sizes.
    pub long: bool,
    /// The only part to run.
    pub part: Option<String>,
    /// A binary that is measured instead of the one that would be built.
    pub skald: Option<PathBuf>,
}

impl BenchArguments {
    pub(crate) fn parse(mut words: &[&str]) -> anyhow::Result<Self> {
        let mut arguments = Self::default();
        loop {
            words = match words {
                [] => return Ok(arguments),
                ["--long", rest @ ..] => {
                    arguments.long = true;
                    rest
                }
                ["--skald", file, rest @ ..] => {
                    arguments.skald = Some(std::path::absolute(file)?);
                    rest
                }
                [part, rest @ ..] if arguments.part.is_none() && bench::PARTS.contains(part) => {
                    arguments.part = Some((*part).to_owned());
                    rest
                }
                [other, ..] => {
                    bail!("the bench knows no {other:?}; it takes --long, --skald FILE and one of {}", part_names())
                }
            }
        }
    }

    /// Whether one of these parts will run.
    fn has_any_part(&self, parts: &[&str]) -> bool {
        self.part.as_deref().is_none_or(|part| parts.contains(&part))
    }
}

fn part_names() -> String {
    bench::PARTS.join(", ")
}

/// Runs the whole bench, or the part that is named.
pub(crate) fn run_bench(arguments: BenchArguments) -> anyhow::Result<()> {
    if arguments.skald.is_none() && arguments.has_any_part(&["startup", "profiles"]) {
        dist::ensure_function_order()?;
    }
    for (what, parts) in BUILDS {
        // If the binary is given, its package is built only for the examples of these parts.
        let is_given =
            arguments.skald.is_some() && what[0] == "skald" && !arguments.has_any_part(&["universe", "lore"]);
        if arguments.has_any_part(parts) && !is_given {
            let mut command = run::cargo_command(&["build", "--quiet", "--profile", "dist", "--package"]);
            // With the flags of a release, so that one build serves both.
            dist::set_release_flags(&mut command, &paths::target())?;
            run::run_shown(command.args(what))?;
        }
    }
    if arguments.has_any_part(&["profiles"]) {
        run::run_shown(&mut run::cargo_command(&["build", "--quiet", "--release", "--package", "skald"]))?;
    }
    let foreign = if arguments.has_any_part(&WITH_FOREIGN) { Some(ForeignClients::install()?) } else { None };
    let options = BenchOptions {
        skald: arguments.skald.unwrap_or_else(|| paths::built_binary("dist", "skald")),
        bare: paths::built_binary("dist", "examples/bare"),
        speed: paths::built_binary("dist", "examples/speed"),
        bounds: paths::built_binary("dist", "examples/worst_case_odds"),
        universe: paths::built_binary("dist", "examples/universe_speed"),
        readers: paths::built_binary("dist", "examples/universe_readers"),
        lore: paths::built_binary("dist", "examples/lore_search_speed"),
        constant_page: paths::built_binary("dist", "examples/constant_page"),
        journal: paths::built_binary("dist", "examples/journal_speed"),
        echo: paths::built_binary("dist", "examples/baseline_grpc_server"),
        calls: paths::built_binary("dist", "examples/calls"),
        typescript: foreign.as_ref().map(|foreign| (foreign.node_program(), foreign.script("typescript_server.mjs"))),
        python: foreign.as_ref().map(|foreign| (foreign.python_program(), foreign.script("python_server.py"))),
        foreign,
        long: arguments.long,
        only: arguments.part,
    };
    if !bench::run(&options)? {
        bail!("a gate is missed");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_and_options_come_in_any_order() {
        let arguments = BenchArguments::parse(&["--long", "gate", "--skald", "/a/skald"]).unwrap();
        assert_eq!((arguments.long, arguments.part.as_deref()), (true, Some("gate")));
        assert_eq!(arguments.skald, Some(PathBuf::from("/a/skald")));
        assert!(arguments.has_any_part(&["cost", "gate"]) && !arguments.has_any_part(&WITH_FOREIGN));
        assert!(BenchArguments::parse(&[]).unwrap().has_any_part(&["rate"]));
        for wrong in [&["gates"][..], &["gate", "dice"], &["--skald"]] {
            assert!(BenchArguments::parse(wrong).unwrap_err().to_string().contains("universe, gate"), "{wrong:?}");
        }
    }

    #[test]
    fn only_parts_that_there_are_have_something_built() {
        let known = |part: &&str| bench::PARTS.contains(part);
        assert!(BUILDS.iter().all(|(_, parts)| parts.iter().all(known)) && WITH_FOREIGN.iter().all(known));
        let is_built = |part: &&str| BUILDS.iter().any(|(_, parts)| parts.contains(part));
        assert!(bench::PARTS.iter().all(is_built));
    }
}
