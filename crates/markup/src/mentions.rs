//! Kanka's mentions in a text: `[entity:12|label]`, `[character:12|Ann|anchor:#x]`, `[post:3]`, `[icon:fa-solid fa-x]`,
//! `{attribute:5}` and `[new:character|Ann]`. A mention is not Markdown: it is kept as it was written.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::ops::Range;

use crate::protected_text::ProtectedText;
use crate::render_markdown::pieces_in_code;

const OPTION_NAMES: [&str; 7] = ["alias", "anchor", "field", "page", "params", "tooltip", "transclude"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MentionKind {
    /// `[entity:12]`, or any other word: the id is the id of an entity whatever the word.
    Entity,
    /// `[post:3]`
    Post,
    /// `{attribute:5}`
    Attribute,
    /// `[icon:fa-solid fa-dragon]`
    Icon,
    /// `[new:character|Ann]`, which asks for a new entity.
    New,
}

/// `anchor:#x` of a mention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MentionOption {
    pub name: String,
    pub value: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Where it stands, in bytes.
    pub range: Range<usize>,
    pub kind: MentionKind,
    /// The word before the colon: `entity`, `character`. Of a new entity its type, of an icon its classes.
    pub word: String,
    /// None for icons and new entities.
    pub id: Option<u64>,
    /// The text to show, or the name of a new entity.
    pub label: Option<String>,
    pub options: Vec<MentionOption>,
    /// In a code span or a code block it is shown as it is written, and is no link.
    pub in_code: bool,
}

impl Mention {
    /// The mention as text, made of its fields: for callers that change the id or the label.
    pub fn to_markdown(&self) -> String {
        let mut text = match (self.kind, self.id) {
            (MentionKind::Attribute, Some(id)) => return format!("{{attribute:{id}}}"),
            (MentionKind::Icon, _) => format!("[icon:{}", self.word),
            (MentionKind::New, _) => format!("[new:{}", self.word),
            (_, Some(id)) => format!("[{}:{id}", self.word),
            (_, None) => format!("[{}:", self.word),
        };
        if let Some(label) = &self.label {
            text.push('|');
            text.push_str(&mention_label(label));
        }
        for option in &self.options {
            let _ = write!(text, "|{}:{}", option.name, option.value);
        }
        text.push(']');
        text
    }
}

/// A text as the label of a mention: without the letters that would end it or start an option.
pub(crate) fn mention_label(text: &str) -> String {
    let replace = |letter| match letter {
        '[' => '(',
        ']' => ')',
        '|' => '/',
        '\n' | '\r' => ' ',
        other => other,
    };
    let label: String = text.chars().map(replace).collect();
    let label = label.trim();
    match option_of(label) {
        Some(option) => format!("{} :{}", option.name, option.value),
        None => label.to_owned(),
    }
}

/// All mentions of a text, in order, also in tables, headings and code.
pub fn mentions(markdown: &str) -> Vec<Mention> {
    let mut found = scan_mentions(markdown);
    if found.is_empty() {
        return found;
    }
    let pieces = found.iter().map(|mention| (mention.range.clone(), Cow::Borrowed("")));
    let protected = ProtectedText::new(markdown, pieces);
    for (mention, in_code) in found.iter_mut().zip(pieces_in_code(&protected)) {
        mention.in_code = in_code;
    }
    found
}

/// The ids of the entities that a text mentions outside of code: sorted, each once.
pub fn mentioned_ids(markdown: &str) -> Vec<u64> {
    let is_entity = |mention: &Mention| mention.kind == MentionKind::Entity && !mention.in_code;
    let mut ids: Vec<u64> = mentions(markdown).into_iter().filter(is_entity).filter_map(|mention| mention.id).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// The text with mentions replaced by what `replacement` answers; None leaves a mention as it is.
pub fn replace_mentions(markdown: &str, mut replacement: impl FnMut(&Mention) -> Option<String>) -> String {
    let mut replaced = String::with_capacity(markdown.len());
    let mut end = 0;
    for mention in mentions(markdown) {
        if let Some(text) = replacement(&mention) {
            replaced.push_str(&markdown[end..mention.range.start]);
            replaced.push_str(&text);
            end = mention.range.end;
        }
    }
    replaced.push_str(&markdown[end..]);
    replaced
}

/// The mentions of a text without a look at where code is: `in_code` is false.
pub(crate) fn scan_mentions(text: &str) -> Vec<Mention> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut end_cache = 0;
    let mut at = 0;
    while let Some(next) = text[at..].find(['[', '{']) {
        let start = at + next;
        at = start + 1;
        if is_escaped(bytes, start) {
            continue;
        }
        let mention = if bytes[start] == b'{' {
            attribute_mention(text, start)
        } else {
            bracket_mention(text, start, &mut end_cache)
        };
        if let Some(mention) = mention {
            at = mention.range.end;
            found.push(mention);
        }
    }
    found
}

/// Whether an odd number of backslashes stands before a position.
pub(crate) fn is_escaped(bytes: &[u8], at: usize) -> bool {
    bytes[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

fn attribute_mention(text: &str, start: usize) -> Option<Mention> {
    let rest = text[start..].strip_prefix("{attribute:")?;
    let digits = rest.len() - rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    rest[digits..].starts_with('}').then_some(())?;
    let id = rest[..digits].parse().ok()?;
    let end = start + "{attribute:".len() + digits + 1;
    Some(Mention {
        range: start..end,
        kind: MentionKind::Attribute,
        word: "attribute".to_owned(),
        id: Some(id),
        label: None,
        options: Vec::new(),
        in_code: false,
    })
}

/// Reads a mention in brackets. `end_cache` is where the next `]` or line end was found: it only moves on, so that many
/// brackets without an end take linear time.
fn bracket_mention(text: &str, start: usize, end_cache: &mut usize) -> Option<Mention> {
    let bytes = text.as_bytes();
    let word_length = bytes[start + 1..].iter().take_while(|byte| is_word_byte(**byte)).count();
    let colon = start + 1 + word_length;
    if word_length == 0 || bytes.get(colon) != Some(&b':') {
        return None;
    }
    if *end_cache <= colon {
        *end_cache = text[colon..].find([']', '\n']).map_or(text.len(), |found| colon + found);
    }
    let end = *end_cache;
    if bytes.get(end) != Some(&b']') {
        return None;
    }
    let word = &text[start + 1..colon];
    let content = text[colon + 1..end].replace("\\|", "|");
    let mut parts = content.split('|');
    let first = parts.next()?;
    let (kind, word, id) = match word {
        "icon" => (MentionKind::Icon, Some(first.trim()).filter(|classes| !classes.is_empty())?, None),
        "new" => {
            let is_type = !first.is_empty() && first.bytes().all(is_word_byte);
            let has_name = content.len() > first.len() + 1;
            (MentionKind::New, Some(first).filter(|_| is_type && has_name)?, None)
        }
        _ => {
            let is_number = first.bytes().all(|byte| byte.is_ascii_digit());
            let id: u64 = first.parse().ok().filter(|_| is_number)?;
            (if word == "post" { MentionKind::Post } else { MentionKind::Entity }, word, Some(id))
        }
    };
    let mut label = None;
    let mut options = Vec::new();
    for part in parts {
        match option_of(part) {
            Some(option) if kind != MentionKind::New => options.push(option),
            _ if label.is_none() && !part.trim().is_empty() => label = Some(part.to_owned()),
            _ => {}
        }
    }
    if kind == MentionKind::New && label.is_none() {
        return None;
    }
    let word = word.to_owned();
    Some(Mention { range: start..end + 1, kind, word, id, label, options, in_code: false })
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'-'
}

pub(crate) fn option_of(part: &str) -> Option<MentionOption> {
    let (name, value) = part.split_once(':')?;
    OPTION_NAMES.contains(&name).then(|| MentionOption { name: name.to_owned(), value: value.to_owned() })
}
