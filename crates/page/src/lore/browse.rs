//! `/c/{campaign}/lore`: the newest entities, lists by type and tag, and the search; and the hits while somebody types.

use axum::extract::{RawQuery, State};
use axum::http::HeaderMap;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use super::type_icon::{TYPES, type_icon};
use super::{KankaFreshness, RevealedRow, entity_path, lore_navigation, lore_path, notice, stale_mirror_notice};
use crate::SharedContext;
use crate::components::{empty_state, encode, next_page};
use crate::extractors::PagePath;
use crate::form::Form;
use crate::layout::{CampaignHead, CampaignPart, PageLayout, html_response};
use crate::middleware::PageError;
use crate::resource_events::stream_changes;
use crate::visitor::Visitor;

/// Revealed things on the page that has all of them. A page of more would be too long; a search finds the others.
const REVEALED_MAX: usize = 1_000;

#[derive(Debug, Deserialize)]
struct BrowsedLore {
    campaign_id: String,
    campaign_name: String,
    rows: Vec<BrowsedRow>,
    #[serde(default)]
    revealed: Vec<RevealedRow>,
    revealed_count: Option<usize>,
    types: Vec<String>,
    tags: Vec<String>,
    next_cursor: Option<String>,
    /// Set if the campaign is linked to Kanka.
    mirror: Option<KankaFreshness>,
}

#[derive(Debug, Deserialize)]
struct BrowsedRow {
    entity_id: u64,
    name: String,
    entity_type: String,
    #[serde(default, rename = "type")]
    subtype: String,
    #[serde(default)]
    is_private: bool,
    #[serde(default)]
    tags: Vec<String>,
    #[serde(default)]
    excerpt: String,
}

/// What the address asks for.
struct LoreQuery<'a> {
    words: Option<&'a str>,
    entity_type: Option<&'a str>,
    tag: Option<&'a str>,
}

impl<'a> LoreQuery<'a> {
    fn new(query: &'a Form) -> Self {
        Self { words: query.filled("q"), entity_type: query.filled("type"), tag: query.filled("tag") }
    }

    fn input(&self, campaign: &str, cursor: Option<&str>) -> Value {
        let mut input = json!({"campaign_id": campaign});
        let fields = [("query", self.words), ("entity_type", self.entity_type), ("tag", self.tag), ("cursor", cursor)];
        for (field, value) in fields {
            if let Some(value) = value {
                input[field] = value.into();
            }
        }
        input
    }

    fn path(&self, campaign_id: &str) -> String {
        let fields = [("q", self.words), ("type", self.entity_type), ("tag", self.tag)];
        let fields: Vec<String> =
            fields.iter().filter_map(|(name, value)| Some(format!("{name}={}", encode((*value)?)))).collect();
        let join = if fields.is_empty() { "" } else { "?" };
        format!("{}{join}{}", lore_path(campaign_id), fields.join("&"))
    }

    fn is_empty(&self) -> bool {
        self.words.is_none() && self.entity_type.is_none() && self.tag.is_none()
    }
}

/// `GET /c/{campaign}/lore`.
pub(crate) async fn show(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    RawQuery(query): RawQuery,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let fields = Form::parse(&query.unwrap_or_default());
    let query = LoreQuery::new(&fields);
    let mut input = query.input(&campaign, fields.filled("cursor"));
    if fields.text("revealed") == "all" {
        input["revealed_limit"] = REVEALED_MAX.into();
    }
    let lore: BrowsedLore = context.read(&visitor.caller, "browse_lore", input).await?;
    let head = CampaignHead { id: lore.campaign_id.clone(), name: lore.campaign_name.clone() };
    let is_game_master = visitor.is_game_master_of(&head.id);
    let done = notice(&fields);
    let layout = PageLayout::for_visitor("Lore", &visitor).campaign(&head, CampaignPart::Lore).script("live-parts.js");
    Ok(layout.render(html! {
        div.lore data-live-parts={ (lore_path(&head.id)) "/events" } {
            (lore_navigation(&head.id, "Entries", is_game_master))
            div.split {
                h1 { "Lore" }
                @if is_game_master { a.button.primary.no-print href={ (lore_path(&head.id)) "/new" } { "New entry" } }
            }
            @if let Some(done) = done { p.notice role="status" { (done) } }
            (search_form(&head.id, &query))
            div.lore-found #found data-live-part {
                (stale_mirror_notice(lore.mirror.as_ref(), &head.id, is_game_master))
                (filters(&head.id, &lore, &query))
                (render_revealed(&lore))
                (rows(&lore, &query, is_game_master))
                (next_page(&query.path(&head.id), lore.next_cursor.as_deref()))
            }
        }
    }))
}

/// `GET /c/{campaign}/lore/events`: says when there are other entities, or others that the visitor may see.
pub(crate) async fn events(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    headers: HeaderMap,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let head = context.campaign_head(&visitor, &campaign).await?;
    Ok(stream_changes(&context, &visitor, &headers, vec![format!("lore://{}/entities", head.id)]).await)
}

fn search_form(campaign_id: &str, query: &LoreQuery<'_>) -> Markup {
    html! {
        form.lore-search role="search" method="get" action=(lore_path(campaign_id)) {
            label.visually-hidden for="q" { "Words to look for" }
            input #q type="search" name="q" value=[query.words] dir="auto" autocomplete="off"
                placeholder="Names, texts, tags";
            @if let Some(entity_type) = query.entity_type { input type="hidden" name="type" value=(entity_type); }
            @if let Some(tag) = query.tag { input type="hidden" name="tag" value=(tag); }
            button.primary { "Search" }
        }
    }
}

/// Types and tags to choose; a chosen one is taken back with another click.
fn filters(campaign_id: &str, lore: &BrowsedLore, query: &LoreQuery<'_>) -> Markup {
    let types = TYPES.iter().filter(|(word, _)| {
        lore.types.iter().any(|seen| seen == word) || query.entity_type.is_some_and(|chosen| chosen == *word)
    });
    let chosen_tag = query.tag.filter(|tag| !lore.tags.iter().any(|seen| seen.eq_ignore_ascii_case(tag)));
    let tags = chosen_tag.into_iter().chain(lore.tags.iter().map(String::as_str));
    html! {
        @if !lore.types.is_empty() {
            nav.chips aria-label="Types" {
                @for (word, title) in types {
                    @let is_chosen = query.entity_type == Some(*word);
                    @let path = LoreQuery { entity_type: (!is_chosen).then_some(*word), ..*query }.path(campaign_id);
                    a.chip href=(path) aria-current=[is_chosen.then_some("true")] { (type_icon_only(word)) (title) }
                }
            }
        }
        @if !lore.tags.is_empty() || query.tag.is_some() {
            nav.chips.tags aria-label="Tags" {
                @for tag in tags {
                    @let is_chosen = query.tag.is_some_and(|chosen| chosen.eq_ignore_ascii_case(tag));
                    @let path = LoreQuery { tag: (!is_chosen).then_some(tag), ..*query }.path(campaign_id);
                    a.chip.tag href=(path) aria-current=[is_chosen.then_some("true")] { bdi { (tag) } }
                }
            }
        }
    }
}

/// The icon where the word stands beside it.
fn type_icon_only(word: &str) -> Markup {
    html! { span aria-hidden="true" { (type_icon(word)) } }
}

/// What the game master showed to this player, and lately to the whole table.
fn render_revealed(lore: &BrowsedLore) -> Markup {
    let (shown, all) = (lore.revealed.len(), lore.revealed_count.unwrap_or_default());
    html! {
        @if shown > 0 {
            section.revealed {
                h2 { "Revealed to you" }
                ul.cards { @for row in &lore.revealed { li.card.handout { (row.link(&lore.campaign_id, "entity-link")) } } }
                @if shown < all {
                    p.muted {
                        "The newest " (shown) " of " (all) " are shown. "
                        @if shown < REVEALED_MAX { a href={ (lore_path(&lore.campaign_id)) "?revealed=all" } { "All of them" } }
                        @else { "A search finds the others." }
                    }
                }
            }
        }
    }
}

fn rows(lore: &BrowsedLore, query: &LoreQuery<'_>, is_game_master: bool) -> Markup {
    html! {
        @if lore.rows.is_empty() {
            @if query.is_empty() {
                (empty_state("Nothing is written yet", &html! {
                    @if is_game_master {
                        p { "Write the first entry, or ask your AI to bring in people, places and secrets." }
                        a.button href={ (lore_path(&lore.campaign_id)) "/new" } { "New entry" }
                    } @else {
                        p { "What your game master tells the table will stand here." }
                    }
                }))
            } @else {
                (empty_state("Nothing fits", &html! {
                    p { "Try fewer words, or another spelling." }
                    a.button href=(lore_path(&lore.campaign_id)) { "Everything" }
                }))
            }
        } @else {
            @if query.is_empty() { h2 { "Newest" } }
            ul.lore-entries {
                @for row in &lore.rows {
                    li.lore-entry-row {
                        (type_icon(&row.entity_type))
                        div.lore-entry-main {
                            p.lore-entry-head {
                                a href=(entity_path(&lore.campaign_id, row.entity_id)) { bdi { (row.name) } }
                                @if !row.subtype.is_empty() { " " span.muted dir="auto" { (row.subtype) } }
                                @if row.is_private { " " (secret_mark(is_game_master)) }
                            }
                            @if !row.excerpt.is_empty() { p.excerpt dir="auto" { (row.excerpt) } }
                            @if !row.tags.is_empty() {
                                p.lore-entry-tags {
                                    @for tag in &row.tags {
                                        a.tag-link href={ (lore_path(&lore.campaign_id)) "?tag=" (encode(tag)) } {
                                            bdi { (tag) }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The mark of what only game masters see.
pub(crate) fn private_mark() -> Markup {
    html! { span.badge.badge-private title="Only game masters see it" { "private" } }
}

/// The mark of a secret: to game masters that it is one, to others that it is theirs.
pub(crate) fn secret_mark(is_game_master: bool) -> Markup {
    if is_game_master {
        return private_mark();
    }
    html! { span.badge.badge-revealed title="Your game master revealed it to you" { "revealed to you" } }
}

/// `GET /c/{campaign}/lore/search`: the hits under the box that is opened over any page.
pub(crate) async fn search(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    RawQuery(query): RawQuery,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let fields = Form::parse(&query.unwrap_or_default());
    let query = LoreQuery::new(&fields);
    let mut input = query.input(&campaign, None);
    input["names_only"] = true.into();
    input["limit"] = 12.into();
    let lore: BrowsedLore = context.read(&visitor.caller, "browse_lore", input).await?;
    let is_game_master = visitor.is_game_master_of(&lore.campaign_id);
    Ok(html_response(html! {
        @if lore.rows.is_empty() {
            p.muted { "Nothing fits. Try fewer letters, or another spelling." }
        } @else {
            ul {
                @for row in &lore.rows {
                    li {
                        a.hit href=(entity_path(&lore.campaign_id, row.entity_id)) {
                            (type_icon(&row.entity_type)) bdi.hit-name { (row.name) }
                            @if !row.subtype.is_empty() { span.muted dir="auto" { (row.subtype) } }
                            @if row.is_private { (secret_mark(is_game_master)) }
                        }
                    }
                }
            }
        }
    }))
}
