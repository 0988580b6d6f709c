//! Gate answers as text for people. Foreign text stays on its line and cannot move the cursor.

mod history;
mod plan;
mod process;
mod run;
mod state;

pub(super) use history::history;
pub(super) use plan::{check_result, plans};
pub(super) use process::{finding, finding_in_file, processes, submitted_process};
pub(super) use run::{accepted_event, cancelled_run, created_run, refused_event, runs};
pub(super) use state::{events, state};

use serde_json::Value;

use crate::output::to_printable;

/// A value on one line: a text as it is, null as a dash, anything else as JSON.
pub(super) fn one_line(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => to_printable(text),
        other => to_printable(&other.to_string()),
    }
}

/// The entries of a list. None if the value is not a list.
fn list_items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// Rows with aligned columns. The last column is not padded.
fn align_columns(rows: &[Vec<String>]) -> Vec<String> {
    let wide = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(column, cell)| format!("{cell:0$}", wide(column).unwrap_or(0)));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// A text that is built line by line.
#[derive(Default)]
struct TextPage(Vec<String>);

impl TextPage {
    fn add_line(&mut self, text: impl Into<String>) -> &mut Self {
        self.0.push(text.into());
        self
    }

    fn add_lines(&mut self, lines: impl IntoIterator<Item = String>) -> &mut Self {
        self.0.extend(lines);
        self
    }

    /// Adds names with their values. Empty values are left out.
    fn add_fields(&mut self, fields: &[(&str, String)]) -> &mut Self {
        let given = fields.iter().filter(|(_, text)| !text.is_empty() && text != "-");
        let rows: Vec<Vec<String>> = given.map(|(name, text)| vec![(*name).to_owned(), text.clone()]).collect();
        self.add_lines(align_columns(&rows))
    }

    /// Adds a heading with lines below it, unless there are none.
    fn add_section(&mut self, heading: &str, lines: Vec<String>) -> &mut Self {
        if !lines.is_empty() {
            self.add_line("").add_line(format!("{heading}:"));
            self.add_lines(lines.into_iter().map(|line| format!("  {line}")));
        }
        self
    }

    /// Adds a state's prompt under a heading, if there is one.
    fn add_prompt(&mut self, value: &Value) -> &mut Self {
        let text = value.as_str().unwrap_or_default();
        self.add_section("What to do", text.trim_end().lines().map(to_printable).collect())
    }

    fn into_text(self) -> String {
        self.0.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_others_wrote_moves_no_cursor() {
        assert_eq!(one_line(&json!("a\u{1b}[2Jb\nc")), "a\u{fffd}[2Jb\u{fffd}c");
        assert_eq!((one_line(&Value::Null), one_line(&json!({"a": [1]}))), ("-".to_owned(), r#"{"a":[1]}"#.to_owned()));
        let mut page = TextPage::default();
        page.add_prompt(&json!("one\n\u{7}two\n"));
        assert_eq!(page.into_text(), "\nWhat to do:\n  one\n  \u{fffd}two");
    }

    #[test]
    fn columns_are_as_wide_as_needed() {
        let rows = [["ID", "NAME"], ["a", "Bäume"], ["long", ""]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(align_columns(&rows), ["ID    NAME", "a     Bäume", "long"]);
    }
}
