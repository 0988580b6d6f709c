//! Runs an example that prints figures, and reads them: a name and a number in each line.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, ensure};

/// The figures that an example printed, by their names.
#[derive(Debug)]
pub(crate) struct ExampleFigures(BTreeMap<String, f64>);

impl ExampleFigures {
    /// Runs an example, and parses those lines of its output that are a name and a number.
    pub(crate) fn read(command: &mut Command) -> anyhow::Result<Self> {
        let output = command.output().context("the example cannot be started")?;
        ensure!(output.status.success(), "the example failed: {}", String::from_utf8_lossy(&output.stderr));
        Ok(Self::parse(&String::from_utf8(output.stdout)?))
    }

    fn parse(text: &str) -> Self {
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        Self(lines.filter_map(|(name, figure)| Some((name.to_owned(), figure.parse().ok()?))).collect())
    }

    pub(crate) fn figure(&self, name: &str) -> anyhow::Result<f64> {
        self.0.get(name).copied().with_context(|| format!("there is no figure for {name}"))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&String, f64)> {
        self.0.iter().map(|(name, figure)| (name, *figure))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_name_and_a_number_are_figures() {
        let figures = ExampleFigures::parse("100d6 12.5\nnot a figure\nlonely\nb 3\n");
        assert_eq!(figures.all().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["100d6", "b"]);
        assert!((figures.figure("100d6").unwrap() - 12.5).abs() < f64::EPSILON);
        assert!(figures.figure("c").is_err());
    }
}
