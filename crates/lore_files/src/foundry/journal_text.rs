//! Takes secret sections out of the HTML of a journal, and rewrites its links to `[[source id|text]]`.

use std::collections::BTreeMap;

/// Bytes of the target or the text of a link.
const LINK_BYTES_MAX: usize = 500;

/// A text in two: what players may read, and the sections for the game master.
#[derive(Debug, Default, PartialEq)]
pub(super) struct SplitSecrets {
    pub(super) visible: String,
    pub(super) secrets: Vec<Secret>,
}

#[derive(Debug, PartialEq)]
pub(super) struct Secret {
    /// The id that Foundry gives a section.
    pub(super) id: Option<String>,
    pub(super) text: String,
}

/// Moves secret sections out of a text. One that was revealed stays; one without an end reaches to the end of the text.
pub(super) fn split_secrets(text: &str) -> SplitSecrets {
    let mut split = SplitSecrets::default();
    let mut rest = text;
    while let Some((start, tag)) = find_section(rest) {
        let after = start + tag.len();
        let classes = attribute(tag, "class").unwrap_or_default().to_lowercase();
        let has_class = |name: &str| classes.split_whitespace().any(|class| class == name);
        if !has_class("secret") || has_class("revealed") {
            split.visible.push_str(&rest[..after]);
            rest = &rest[after..];
            continue;
        }
        split.visible.push_str(&rest[..start]);
        let (inside, after) = split_section(&rest[after..]);
        split.secrets.push(Secret { id: attribute(tag, "id"), text: inside.trim().to_owned() });
        rest = after;
    }
    split.visible.push_str(rest);
    split
}

/// The content of a section whose start was read, and what follows its end.
fn split_section(text: &str) -> (&str, &str) {
    let mut depth = 1_usize;
    for (at, _) in text.match_indices('<') {
        let tag = &text[at..];
        if is_section_start(tag) {
            depth += 1;
        } else if starts_with_ignoring_case(tag, "</section") {
            depth -= 1;
            if depth == 0 {
                let end = tag.find('>').map_or(text.len(), |end| at + end + 1);
                return (&text[..at], &text[end..]);
            }
        }
    }
    (text, "")
}

/// The first start of a section, with its whole tag.
fn find_section(text: &str) -> Option<(usize, &str)> {
    let (at, _) = text.match_indices('<').find(|(at, _)| is_section_start(&text[*at..]))?;
    let tag = &text[at..];
    Some((at, &tag[..tag_length(tag)]))
}

fn is_section_start(tag: &str) -> bool {
    let name = "<section";
    let is_name_end = |letter: char| letter.is_whitespace() || ['>', '/'].contains(&letter);
    starts_with_ignoring_case(tag, name) && tag[name.len()..].starts_with(is_name_end)
}

fn starts_with_ignoring_case(text: &str, start: &str) -> bool {
    text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start))
}

/// The length of a tag. A `>` in quotes does not end it.
fn tag_length(tag: &str) -> usize {
    let mut quote = None;
    for (at, letter) in tag.char_indices() {
        match quote {
            Some(open) if letter == open => quote = None,
            None if letter == '>' => return at + 1,
            None if ['"', '\''].contains(&letter) => quote = Some(letter),
            Some(_) | None => {}
        }
    }
    tag.len()
}

/// The value of an attribute of a tag: in double quotes, single quotes or none.
fn attribute(tag: &str, name: &str) -> Option<String> {
    let mut rest = tag.trim_start_matches('<').trim_start_matches(|letter: char| letter.is_ascii_alphanumeric());
    loop {
        rest = rest.trim_start_matches(|letter: char| letter.is_whitespace() || letter == '/');
        let key_end = rest.find(|letter: char| letter.is_whitespace() || ['=', '>', '/'].contains(&letter))?;
        let key = &rest[..key_end];
        let after_key = rest[key_end..].trim_start();
        let Some(value) = after_key.strip_prefix('=') else {
            if key.is_empty() {
                return None;
            }
            rest = after_key;
            continue;
        };
        let value = value.trim_start();
        let quote = value.chars().next().filter(|letter| ['"', '\''].contains(letter));
        let (value, after) = match quote {
            Some(quote) => value[1..].split_once(quote)?,
            None => value.split_at(value.find(|letter: char| letter.is_whitespace() || letter == '>')?),
        };
        if key.eq_ignore_ascii_case(name) {
            return Some(value.to_owned());
        }
        rest = after;
    }
}

/// Names for links that have no text of their own.
#[derive(Debug, Default)]
pub(super) struct JournalNames {
    /// By source id.
    entries: BTreeMap<String, String>,
    /// Source ids by their last part.
    source_ids: BTreeMap<String, String>,
    /// By page id.
    pages: BTreeMap<String, String>,
}

impl JournalNames {
    pub(super) fn add_entry(&mut self, source_id: &str, name: Option<String>) {
        self.entries.insert(source_id.to_owned(), name.unwrap_or_default());
        let id = source_id.rsplit('.').next().unwrap_or(source_id);
        self.source_ids.entry(id.to_owned()).or_insert_with(|| source_id.to_owned());
    }

    pub(super) fn add_page(&mut self, page_id: Option<String>, name: Option<String>) {
        self.pages.extend(page_id.zip(name));
    }

    /// The entry with this id, also one that came out of a compendium.
    fn find_entry(&self, id: &str) -> Option<&str> {
        self.source_ids.get(id).map(String::as_str)
    }
}

/// Rewrites links to journal entries. Others, such as those to actors and rolls, stay as they are.
pub(super) fn rewrite_links(text: &str, names: &JournalNames) -> String {
    let mut rewritten = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('@') {
        rewritten.push_str(&rest[..at]);
        rest = &rest[at..];
        let (link, length) = match parse_link(rest, names) {
            Some(found) => found,
            None => ("@".to_owned(), 1),
        };
        rewritten.push_str(&link);
        rest = &rest[length..];
    }
    rewritten.push_str(rest);
    rewritten
}

/// The rewritten link at the start of a text, and the length of the original.
fn parse_link(text: &str, names: &JournalNames) -> Option<(String, usize)> {
    let name_end = text[1..].find(|letter: char| !letter.is_ascii_alphabetic())? + 1;
    let name = &text[1..name_end];
    let (target, after) = split_near(text[name_end..].strip_prefix('[')?, ']')?;
    let target_path = target.split('#').next().unwrap_or(target);
    let parts: Vec<&str> = target_path.split('.').collect();
    let (entry_id, page_id) = match (name, parts.as_slice()) {
        ("UUID", [.., "JournalEntry", id, "JournalEntryPage", page]) => (*id, Some(*page)),
        ("JournalEntry", [id]) | ("UUID", [.., "JournalEntry", id]) => (*id, None),
        // Until version 10 the path of a compendium does not name the type.
        ("Compendium", [.., id]) | ("UUID", ["Compendium", _, _, id]) if names.find_entry(id).is_some() => (*id, None),
        _ => return None,
    };
    let source_id = names.find_entry(entry_id).map_or_else(|| format!("JournalEntry.{entry_id}"), str::to_owned);
    let (label, after) = match after.strip_prefix('{').and_then(|label| split_near(label, '}')) {
        Some((label, after)) => (Some(label.to_owned()), after),
        None => (None, after),
    };
    let page_name = || page_id.and_then(|id| names.pages.get(id).cloned());
    let label = label.or_else(page_name).or_else(|| names.entries.get(&source_id).cloned()).unwrap_or_default();
    let label = label.replace(['[', ']', '|'], " ");
    let label = label.trim();
    let link = if label.is_empty() { format!("[[{source_id}]]") } else { format!("[[{source_id}|{label}]]") };
    Some((link, text.len() - after.len()))
}

/// Splits at a letter, unless it is so far away that it belongs to something else.
fn split_near(text: &str, end: char) -> Option<(&str, &str)> {
    let at = text[..text.floor_char_boundary(LINK_BYTES_MAX)].find(end)?;
    Some((&text[..at], &text[at + end.len_utf8()..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_secrets(text: &str, visible: &str, secrets: &[&str]) {
        let split = split_secrets(text);
        let found: Vec<&str> = split.secrets.iter().map(|secret| secret.text.as_str()).collect();
        assert_eq!((split.visible.as_str(), found.as_slice()), (visible, secrets), "{text}");
    }

    #[test]
    fn secret_sections_leave_the_text() {
        check_secrets(
            "<p>a</p><section class=\"secret\"><p>b</p></section><p>c</p>",
            "<p>a</p><p>c</p>",
            &["<p>b</p>"],
        );
        check_secrets("<SECTION id='x' class='gm  secret'>b</SECTION >c", "c", &["b"]);
        check_secrets("<section class=secret>b</section>", "", &["b"]);
        check_secrets(
            "<section class=\"secret revealed\">b</section>",
            "<section class=\"secret revealed\">b</section>",
            &[],
        );
        check_secrets("<section class=\"secretive\">b</section>", "<section class=\"secretive\">b</section>", &[]);
        check_secrets("<section data-x='>' hidden class='secret'>b</section>c", "c", &["b"]);
        check_secrets("<section class='secret'>a<section>b</section>c</section>d", "d", &["a<section>b</section>c"]);
        check_secrets("<section>a<section class='secret'>b</section>c</section>", "<section>ac</section>", &["b"]);
        check_secrets("a<section class='secret'>b<p>c", "a", &["b<p>c"]);
        check_secrets("a<section class='secret", "a<section class='secret", &[]);
        check_secrets("<sections class='secret'>é</sections>", "<sections class='secret'>é</sections>", &[]);
        assert_eq!(
            split_secrets("<section id=\"s-1\" class=\"secret\">x</section>").secrets[0].id.as_deref(),
            Some("s-1")
        );
    }

    #[test]
    fn links_to_entries_are_rewritten() {
        let mut names = JournalNames::default();
        names.add_entry("JournalEntry.x", Some("The Inn".to_owned()));
        names.add_entry("Compendium.a.b.JournalEntry.z", Some("Zed".to_owned()));
        names.add_page(Some("y".to_owned()), Some("Cellar".to_owned()));
        let check = |text: &str, expected: &str| assert_eq!(rewrite_links(text, &names), expected);
        check("a @UUID[JournalEntry.x]{the inn} b", "a [[JournalEntry.x|the inn]] b");
        check("@UUID[JournalEntry.x.JournalEntryPage.y#door]", "[[JournalEntry.x|Cellar]]");
        check("@JournalEntry[x]{a|b]}", "[[JournalEntry.x|a b]]");
        check("@JournalEntry[q]", "[[JournalEntry.q]]");
        check("@UUID[Compendium.a.b.JournalEntry.z]", "[[Compendium.a.b.JournalEntry.z|Zed]]");
        check("@Compendium[a.b.z]{Z}", "[[Compendium.a.b.JournalEntry.z|Z]]");
        check("@UUID[Actor.x]{A} me@x.org @ [[/r 1d6]] @UUID[", "@UUID[Actor.x]{A} me@x.org @ [[/r 1d6]] @UUID[");
    }
}
