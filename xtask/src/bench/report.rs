//! Prints benchmark reports: aligned tables, and a line for each target.

use crate::print_line;

const COLUMN_GAP: &str = "  ";

/// Rows of text below a title. The first column is aligned to the left, the figures to the right.
pub(crate) struct ReportTable {
    title: String,
    rows: Vec<Vec<String>>,
}

impl ReportTable {
    pub(crate) fn new(title: impl Into<String>, headings: &[&str]) -> Self {
        let headings = headings.iter().map(|heading| (*heading).to_owned()).collect();
        Self { title: title.into(), rows: vec![headings] }
    }

    pub(crate) fn add_row(&mut self, cells: impl Into<Vec<String>>) {
        self.rows.push(cells.into());
    }

    pub(crate) fn print(&self) {
        print_line(&format!("\n{}", self.title));
        for line in self.lines() {
            print_line(&line);
        }
    }

    fn lines(&self) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let widths: Vec<usize> = (0..columns)
            .map(|column| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max())
            .map(Option::unwrap_or_default)
            .collect();
        let aligned = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths).enumerate();
            let cells = cells.map(|(column, (cell, &width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            cells.collect::<Vec<_>>().join(COLUMN_GAP).trim_end().to_owned()
        };
        self.rows.iter().map(aligned).collect()
    }
}

/// A measured figure with its target.
#[derive(Debug)]
pub(crate) struct BenchTarget {
    pub name: String,
    pub figure: String,
    pub target: String,
    pub met: bool,
}

impl BenchTarget {
    /// A figure that must not be below its target.
    pub(crate) fn at_least(name: impl Into<String>, figure: f64, target: f64) -> Self {
        Self {
            name: name.into(),
            figure: format!("{figure:.3}"),
            target: format!(">= {target}"),
            met: figure >= target,
        }
    }

    /// A ratio that must not be above its target.
    pub(crate) fn ratio_at_most(name: impl Into<String>, figure: f64, target: f64) -> Self {
        Self {
            name: name.into(),
            figure: format!("{figure:.3}"),
            target: format!("<= {target}"),
            met: figure <= target,
        }
    }

    /// A figure that must not be above its target.
    pub(crate) fn at_most(name: impl Into<String>, figure: f64, target: f64, unit: &str) -> Self {
        Self {
            name: name.into(),
            figure: format!("{figure:.1} {unit}"),
            target: format!("<= {target} {unit}"),
            met: figure <= target,
        }
    }
}

/// Prints a line for each target, and returns whether all are met.
pub(crate) fn print_verdicts(gates: &[BenchTarget]) -> bool {
    let mut table = ReportTable::new("Gates", &["", "figure", "target", ""]);
    for gate in gates {
        let verdict = if gate.met { "ok" } else { "MISS" };
        table.add_row([gate.name.clone(), gate.figure.clone(), gate.target.clone(), verdict.to_owned()]);
    }
    table.print();
    gates.iter().all(|gate| gate.met)
}

/// A count with commas between the thousands.
pub(crate) fn group_thousands(count: f64) -> String {
    const GROUP: usize = 3;
    let digits = format!("{count:.0}");
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(GROUP) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_thousands() {
        assert_eq!(group_thousands(999.4), "999");
        assert_eq!(group_thousands(1_234_567.0), "1,234,567");
    }

    #[test]
    fn aligns_columns() {
        let mut table = ReportTable::new("", &["mode", "µs"]);
        table.add_row(["a".to_owned(), "12.5".to_owned()]);
        assert_eq!(table.lines(), ["mode    µs", "a     12.5"]);
    }

    #[test]
    fn a_figure_that_is_none_meets_no_gate() {
        assert!(!BenchTarget::at_least("", f64::NAN, 0.9).met);
        assert!(!BenchTarget::at_most("", f64::NAN, 20.0, "ms").met);
    }
}
