//! Tests of lore texts from the outside: conversions, mentions, wiki links, sanitising, snippets, hostile input.

mod conversion_demands;
mod generated_documents;
mod hostile_texts;
mod html_tokens;
mod kanka_snippets;
mod keep_original;
mod mentions;
mod plain_texts;
mod sanitize_html;
mod wiki_links;
