//! Markdown and HTML of lore texts: conversion both ways, keeping an entry's original HTML, mentions, wiki links,
//! sanitising, plain text and snippets. Pure: no files, no clock, no other crate of the workspace.
//! Every function takes any text, runs in time linear in it, and never panics.

mod align_sequences;
mod canonical_html;
mod entry;
mod escape_markdown;
mod html_tags;
mod html_to_markdown;
mod html_tree;
mod inline_markdown;
mod markdown_table;
mod mention_anchor;
mod mentions;
mod plain_text;
mod protected_text;
mod render_markdown;
mod sanitize;
mod simplify_html;
mod simplify_table;
mod snippet;
mod split_html;
mod wiki_links;

pub use entry::{Entry, entry_from_html, update_entry};
pub use html_to_markdown::html_to_markdown;
pub use mentions::{Mention, MentionKind, MentionOption, mentioned_ids, mentions, replace_mentions};
pub use plain_text::{plain_text, plain_text_with_names};
pub use render_markdown::markdown_to_html;
pub use sanitize::{sanitize_html, sanitize_page_html};
pub use snippet::{lines_around_match, snippet};
pub use wiki_links::{WikiLink, replace_wiki_links};
