//! Texts of entities and posts: side rows by hash, beside the journal, so that an emptied archive leaves no text behind.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use skald_domain::lore::{TextKey, TextRef};
use skald_markup::Entry;

use crate::sha256::sha256_hex;
use crate::{App, Fault};
use skald_journal::{FindingKind, RowCheck, SideRow, search_tokens};

/// The kind of the side rows of all campaigns, as a prefix.
pub(super) const TEXT_KINDS: &str = "lore_text/";
/// The field of a row that is indexed for search: the first that is there.
pub(super) const SEARCHED_FIELDS: [&str; 2] = ["plain", "markdown"];

/// The kind of the side rows of a campaign.
pub(super) fn text_kind(campaign_id: &str) -> String {
    format!("{TEXT_KINDS}{campaign_id}")
}

/// A side row. The salt is random, so that the hash of a text that was removed cannot be guessed from likely texts.
#[derive(Debug, Serialize, Deserialize)]
struct TextRow {
    salt: String,
    markdown: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    html: Option<String>,
    /// The text without mentions, tags of HTML and addresses of links, if it has other words then: these are no words to
    /// search for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plain: Option<String>,
}

/// A side row without what only an edit needs. The parser skips the other fields.
#[derive(Deserialize)]
struct MarkdownRow {
    markdown: String,
}

/// The text in the body of a row.
pub(super) fn parse_text_row(body: &str) -> Option<Entry> {
    let row: TextRow = serde_json::from_str(body).ok()?;
    Some(Entry { markdown: row.markdown, html: row.html })
}

/// A text on its way into the journal: its reference for the event, and its row.
pub(super) struct NewText {
    pub reference: TextRef,
    pub row: SideRow,
}

/// The texts of a campaign by their keys.
#[derive(Default)]
pub(super) struct Texts(BTreeMap<TextKey, Entry>);

impl Texts {
    /// The text under a key; empty if there is none.
    pub(super) fn markdown(&self, reference: Option<&TextRef>) -> &str {
        self.entry(reference).map_or("", |entry| entry.markdown.as_str())
    }

    pub(super) fn append(&mut self, mut other: Self) {
        self.0.append(&mut other.0);
    }

    /// The length of all texts together.
    pub(super) fn bytes(&self) -> usize {
        self.0.values().map(|entry| entry.markdown.len()).sum()
    }

    pub(super) fn entry(&self, reference: Option<&TextRef>) -> Option<&Entry> {
        self.entry_of(reference?.key)
    }

    pub(super) fn entry_of(&self, key: TextKey) -> Option<&Entry> {
        self.0.get(&key)
    }
}

impl App {
    /// The row and the reference of a text.
    pub(super) fn new_text(&self, campaign_id: &str, entry: Entry) -> Result<NewText, Fault> {
        let mentions = skald_markup::mentioned_ids(&entry.markdown);
        let salt = skald_journal::hex(&self.entropy.bytes());
        let plain = skald_markup::plain_text_with_names(&entry.markdown, |_| Some(String::new()));
        let plain = Some(plain).filter(|plain| search_tokens::tokens(plain) != search_tokens::tokens(&entry.markdown));
        let row = TextRow { salt, markdown: entry.markdown, html: entry.html, plain };
        let body = serde_json::to_string(&row).map_err(|error| Fault::internal(error, self.new_request_id()))?;
        let key = TextKey::from(<[u8; 32]>::from(Sha256::digest(body.as_bytes())));
        let row = SideRow { kind: text_kind(campaign_id).into(), key: key.to_string(), body: body.into() };
        Ok(NewText { reference: TextRef { key, mentions: mentions.into() }, row })
    }

    /// The texts under these references.
    pub(super) async fn load_texts<'a>(
        &self,
        campaign_id: &str,
        references: impl Iterator<Item = &'a TextRef>,
    ) -> Result<Texts, Fault> {
        self.read_texts(campaign_id, references, parse_text_row).await
    }

    /// The texts under these references without the HTML that they came from, for an answer that shows none.
    pub(super) async fn load_markdown<'a>(
        &self,
        campaign_id: &str,
        references: impl Iterator<Item = &'a TextRef>,
    ) -> Result<Texts, Fault> {
        let parse = |body: &str| {
            let row: MarkdownRow = serde_json::from_str(body).ok()?;
            Some(Entry { markdown: row.markdown, html: None })
        };
        self.read_texts(campaign_id, references, parse).await
    }

    async fn read_texts<'a>(
        &self,
        campaign_id: &str,
        references: impl Iterator<Item = &'a TextRef>,
        parse: impl Fn(&str) -> Option<Entry>,
    ) -> Result<Texts, Fault> {
        let keys: Vec<String> = references.map(|text| text.key.to_string()).collect();
        if keys.is_empty() {
            return Ok(Texts::default());
        }
        let rows = self.journal.get_many(&text_kind(campaign_id), keys).await;
        let rows = rows.map_err(|error| self.store_fault(&error))?;
        let entries = rows.into_iter().map(|(key, body)| {
            let unreadable = || Fault::internal("a stored text cannot be read", self.new_request_id());
            let entry = parse(&body).ok_or_else(unreadable)?;
            let key = key.parse().map_err(|error| Fault::internal(error, self.new_request_id()))?;
            Ok((key, entry))
        });
        entries.collect::<Result<_, Fault>>().map(Texts)
    }
}

/// The check of `verify`: the key of a row is the hash of its body.
pub(super) fn check_text_row(kind: &str, key: &str, body: &str) -> RowCheck {
    if sha256_hex(body.as_bytes()) == key {
        return RowCheck::Sound;
    }
    RowCheck::Wrong(FindingKind::ContentDiffers, format!("the text {key} of {kind} is not the one that was stored"))
}
