//! Reads the YAML at the start of a Markdown file. Anchors are refused and nesting is bounded, so that a few lines
//! cannot become many values.

use saphyr_parser::{Event, Parser, ScalarStyle};

/// Bytes of front matter that are parsed.
const BYTES_MAX: usize = 256 << 10;
/// Lists and mappings inside each other.
const DEPTH_MAX: usize = 16;
/// Values, keys included.
const VALUES_MAX: usize = 10_000;

/// A value of front matter. Numbers and dates stay as they are written.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum YamlValue {
    Null,
    Text(String),
    List(Vec<YamlValue>),
    Map(Vec<(String, YamlValue)>),
}

impl YamlValue {
    /// The text of a scalar, or of a list with one item: YAML reads the link `parent: [[Inn]]` as a list in a list.
    pub(crate) fn single_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.trim()).filter(|text| !text.is_empty()),
            Self::List(items) => match items.as_slice() {
                [item] => item.single_text(),
                _ => None,
            },
            Self::Null | Self::Map(_) => None,
        }
    }

    /// The texts of a list, at any depth, or of a scalar.
    pub(crate) fn texts(&self) -> Vec<&str> {
        match self {
            Self::Text(text) => vec![text],
            Self::List(items) => items.iter().flat_map(Self::texts).collect(),
            Self::Null | Self::Map(_) => Vec::new(),
        }
    }

    /// `None` for what is no boolean in YAML 1.1 or 1.2.
    pub(crate) fn boolean(&self) -> Option<bool> {
        match self.single_text()?.to_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Some(true),
            "false" | "no" | "off" | "0" => Some(false),
            _ => None,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Null => true,
            Self::Text(text) => text.is_empty(),
            Self::List(items) => items.iter().all(Self::is_empty),
            Self::Map(entries) => entries.is_empty(),
        }
    }
}

/// Splits a file into its front matter and the text after it. A file without front matter is all text.
pub(crate) fn split_front_matter(file: &str) -> (Option<&str>, &str) {
    let Some(first_end) = file.find('\n') else { return (None, file) };
    if file[..first_end].trim_end() != "---" {
        return (None, file);
    }
    let start = first_end + 1;
    let mut at = start;
    for line in file[start..].split_inclusive('\n') {
        if line.trim_end() == "---" {
            return (Some(&file[start..at]), &file[at + line.len()..]);
        }
        at += line.len();
    }
    (None, file)
}

/// Whether a file begins with front matter that has no end.
pub(crate) fn has_unclosed_front_matter(file: &str) -> bool {
    file.lines().next().is_some_and(|line| line.trim_end() == "---") && split_front_matter(file).0.is_none()
}

/// Parses front matter, or says why it cannot be read. Keys are as written, in their order; of two equal keys the
/// first counts.
pub(crate) fn parse_front_matter(yaml: &str) -> Result<Vec<(String, YamlValue)>, String> {
    if yaml.len() > BYTES_MAX {
        return Err(format!("it has more than {BYTES_MAX} bytes"));
    }
    let mut open: Vec<OpenValue> = Vec::new();
    let mut root = YamlValue::Null;
    let mut values = 0;
    for event in Parser::new_from_str(yaml) {
        let (event, _) = event.map_err(|error| error.to_string())?;
        let value = match event {
            Event::Scalar(text, style, _, _) => read_scalar(&text, style),
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                if open.len() == DEPTH_MAX {
                    return Err(format!("it is nested deeper than {DEPTH_MAX}"));
                }
                let is_map = matches!(event, Event::MappingStart(..));
                open.push(if is_map { OpenValue::Map(Vec::new(), None) } else { OpenValue::List(Vec::new()) });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(value) => value.finish(),
                None => continue,
            },
            Event::Alias(_) => return Err("it uses an anchor".to_owned()),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd => {
                continue;
            }
        };
        values += 1;
        if values > VALUES_MAX {
            return Err(format!("it has more than {VALUES_MAX} values"));
        }
        match open.last_mut() {
            Some(parent) => parent.add(value),
            None => root = value,
        }
    }
    match root {
        YamlValue::Null => Ok(Vec::new()),
        YamlValue::Map(entries) => Ok(entries),
        YamlValue::Text(_) | YamlValue::List(_) => Err("it is no list of keys and values".to_owned()),
    }
}

fn read_scalar(text: &str, style: ScalarStyle) -> YamlValue {
    let is_null = style == ScalarStyle::Plain && ["", "~", "null", "Null", "NULL"].contains(&text);
    if is_null { YamlValue::Null } else { YamlValue::Text(text.to_owned()) }
}

/// A list or a mapping that has not ended yet.
enum OpenValue {
    List(Vec<YamlValue>),
    Map(Vec<(String, YamlValue)>, Option<String>),
}

impl OpenValue {
    fn add(&mut self, value: YamlValue) {
        match self {
            Self::List(items) => items.push(value),
            Self::Map(entries, key) => match key.take() {
                Some(key) if entries.iter().any(|(other, _)| *other == key) => {}
                Some(key) => entries.push((key, value)),
                None => *key = Some(value.texts().join(", ")),
            },
        }
    }

    fn finish(self) -> YamlValue {
        match self {
            Self::List(items) => YamlValue::List(items),
            Self::Map(entries, _) => YamlValue::Map(entries),
        }
    }
}

/// A text as a YAML scalar: plain where nothing can be mistaken, else in double quotes.
pub(crate) fn write_scalar(text: &str) -> String {
    let is_plain = text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || [' ', '_', '-'].contains(&letter))
        && !text.ends_with([' ', '-'])
        && !["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&text.to_lowercase().as_str());
    if is_plain {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            _ if is_printable(letter) => quoted.push(letter),
            _ => quoted.extend([String::from("\\U"), format!("{:08x}", u32::from(letter))]),
        }
    }
    quoted.push('"');
    quoted
}

/// Whether a character may stand in YAML as it is, and is not a line break to any reader.
fn is_printable(letter: char) -> bool {
    !letter.is_control() && !['\u{2028}', '\u{2029}', '\u{feff}', '\u{fffe}', '\u{ffff}'].contains(&letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> YamlValue {
        YamlValue::Text(text.to_owned())
    }

    #[test]
    fn front_matter_ends_at_its_second_line_of_dashes() {
        assert_eq!(split_front_matter("---\na: 1\n---\nText\n---\n"), (Some("a: 1\n"), "Text\n---\n"));
        assert_eq!(split_front_matter("---\r\na: 1\r\n---\r\nText"), (Some("a: 1\r\n"), "Text"));
        assert_eq!(split_front_matter("---\n---"), (Some(""), ""));
        for no_front_matter in ["---", "---\na: 1\n", "----\n---\n", " ---\na\n---\n", "Text\n---\na: 1\n---\n", ""] {
            assert_eq!(split_front_matter(no_front_matter), (None, no_front_matter));
        }
        for (file, is_unclosed) in [
            ("---\nprivate: true\n", true),
            ("---\r\na", true),
            ("---", true),
            ("---\na: 1\n---\n", false),
            ("----\na\n", false),
            ("Text\n---\n", false),
            ("", false),
        ] {
            assert_eq!(has_unclosed_front_matter(file), is_unclosed, "{file:?}");
        }
    }

    #[test]
    fn values_stay_as_they_are_written() {
        let yaml =
            "date: 2025-05-30\nempty:\nlist: [a, 'null', null, 1.50]\nlink: [[Inn]]\nmap: {a: {b: c}}\ndate: x\n";
        let values = parse_front_matter(yaml).unwrap();
        let value = |key: &str| values.iter().find(|(other, _)| other == key).map(|(_, value)| value).unwrap();
        assert_eq!(value("date"), &text("2025-05-30"));
        assert_eq!(value("empty"), &YamlValue::Null);
        assert_eq!(value("list").texts(), ["a", "null", "1.50"]);
        assert_eq!(value("link").single_text(), Some("Inn"));
        assert_eq!(values.len(), 5);
    }

    #[test]
    fn hostile_front_matter_is_refused() {
        let deep = format!("a: {}{}", "[".repeat(DEPTH_MAX), "]".repeat(DEPTH_MAX));
        let reasons = [
            ("a: &x [1]\nb: *x", "it uses an anchor"),
            (deep.as_str(), "it is nested deeper than 16"),
            ("- a\n- b", "it is no list of keys and values"),
        ];
        for (yaml, reason) in reasons {
            assert_eq!(parse_front_matter(yaml).unwrap_err(), reason);
        }
        assert!(parse_front_matter("a: 'open").is_err());
        assert!(parse_front_matter("a: {{title}} x").is_err());
        assert!(parse_front_matter(&"x".repeat(BYTES_MAX + 1)).is_err());
        assert!(parse_front_matter(&"[".repeat(100_000)).is_err());
        assert!(parse_front_matter(&format!("a: [{}]", "x,".repeat(VALUES_MAX))).is_err());
    }

    #[test]
    fn scalars_are_read_back() {
        let texts = [
            "Inn",
            "",
            " ",
            "true",
            "null",
            "~",
            "1",
            "a: b",
            "#x",
            "- x",
            "\"",
            "\\",
            "\n",
            "\r\n",
            "\t",
            "\u{0}",
            "\u{7f}",
            "\u{85}",
            "\u{2028}",
            "\u{feff}",
            "\u{ffff}",
            "🐉",
            "trailing ",
            "a -",
            "[[x]]",
            "'",
            "%",
            "---",
            "y",
            "\u{1f}",
            "\u{10ffff}",
        ];
        for original in texts {
            let yaml = format!("key: {}\n", write_scalar(original));
            assert_eq!(parse_front_matter(&yaml).unwrap(), [("key".to_owned(), text(original))], "{yaml}");
        }
    }
}
