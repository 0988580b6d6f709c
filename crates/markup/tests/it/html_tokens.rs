//! Compares HTML by its tokens: attributes in any order, white space as a browser shows it. Independent of the crate's
//! own comparison.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};

const BLOCKS: [&str; 27] = [
    "p",
    "div",
    "ul",
    "ol",
    "li",
    "table",
    "thead",
    "tbody",
    "tr",
    "td",
    "th",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "pre",
    "blockquote",
    "details",
    "summary",
    "figure",
    "figcaption",
    "br",
    "iframe",
    "dl",
];

#[derive(Default)]
struct TokenCollector {
    parts: RefCell<Vec<String>>,
    is_preformatted: RefCell<bool>,
}

impl TokenSink for TokenCollector {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let mut parts = self.parts.borrow_mut();
        match token {
            Token::TagToken(tag) => {
                let mut attributes: Vec<String> = tag
                    .attrs
                    .iter()
                    .map(|attribute| format!("{}={:?}", attribute.name.local, &*attribute.value))
                    .collect();
                attributes.sort();
                let is_end = tag.kind == TagKind::EndTag;
                if &*tag.name == "pre" {
                    *self.is_preformatted.borrow_mut() = !is_end;
                }
                let mark = if is_end { "</" } else { "<" };
                let name = tag.name.to_string();
                let words = [vec![name], attributes].concat().join(" ");
                parts.push(format!("{mark}{words}>"));
            }
            Token::CharacterTokens(text) => {
                let text = if *self.is_preformatted.borrow() {
                    text.replace(' ', "\u{1}").replace('\n', "\u{2}")
                } else {
                    text.chars().map(|letter| if letter.is_ascii_whitespace() { ' ' } else { letter }).collect()
                };
                match parts.last_mut().filter(|last| last.starts_with('"')) {
                    Some(last) => last.push_str(&text),
                    None => parts.push(format!("\"{text}")),
                }
            }
            Token::CommentToken(text) if !text.trim().is_empty() => parts.push(format!("<!--{text}")),
            _ => {}
        }
        TokenSinkResult::Continue
    }
}

/// The tokens of HTML, without white space that nobody sees.
pub(crate) fn html_tokens(html: &str) -> Vec<String> {
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from(html));
    let tokenizer = Tokenizer::new(TokenCollector::default(), TokenizerOpts::default());
    let _ = tokenizer.feed(&queue);
    tokenizer.end();
    let parts = tokenizer.sink.parts.into_inner();
    let is_block = |part: Option<&String>| {
        part.is_none_or(|part| {
            let name = part.trim_start_matches(['<', '/']);
            let name = &name[..name.find([' ', '>']).unwrap_or(name.len())];
            part.starts_with('<') && BLOCKS.contains(&name)
        })
    };
    let mut tokens = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let Some(text) = part.strip_prefix('"') else {
            tokens.push(part.clone());
            continue;
        };
        let starts = text.starts_with(' ') && !is_block(index.checked_sub(1).and_then(|before| parts.get(before)));
        let ends = text.ends_with(' ') && !is_block(parts.get(index + 1));
        let words = text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let text = match (words.is_empty(), starts || ends) {
            (true, true) => " ".to_owned(),
            (true, false) => String::new(),
            _ => format!("{}{words}{}", if starts { " " } else { "" }, if ends { " " } else { "" }),
        };
        if !text.is_empty() {
            tokens.push(format!("\"{text}"));
        }
    }
    tokens
}

pub(crate) fn assert_same_html(left: &str, right: &str, context: &str) {
    let (left_tokens, right_tokens) = (html_tokens(left), html_tokens(right));
    if left_tokens == right_tokens {
        return;
    }
    let at = left_tokens.iter().zip(&right_tokens).take_while(|(left, right)| left == right).count();
    let around =
        |tokens: &[String]| tokens[at.saturating_sub(8).min(tokens.len())..(at + 6).min(tokens.len())].join(" ");
    panic!(
        "{context}\n--- first\n{left}\n--- second\n{right}\n--- differ\n{}\n{}",
        around(&left_tokens),
        around(&right_tokens)
    );
}
