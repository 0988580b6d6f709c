//! The 404 page: names pages with similar addresses, among those that the visitor may see.

use axum::extract::Request;
use axum::http::Uri;
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use percent_encoding::percent_decode_str;
use serde::Deserialize;
use serde_json::json;
use skald_app::{Code, EVERY_CAMPAIGN, Fault, truncate_for_message};

use crate::PageContext;
use crate::layout::{CampaignPart, MainPart};
use crate::lore::{entity_path, lore_path};
use crate::middleware::PageError;
use crate::visitor::Visitor;

/// Campaigns whose names are compared.
const CAMPAIGNS_COMPARED: u64 = 200;
/// Links that are offered.
const OFFERED_MAX: usize = 3;
/// Letters of a part of an address that are compared.
const LETTERS_COMPARED: usize = 60;

/// The handler of every address that is no route.
pub(crate) async fn answer(request: Request) -> Response {
    let message = format!("there is nothing at {:?}", truncate_for_message(request.uri().path()));
    let fault = Fault::new(Code::NotFound, message).hint("look at its spelling, or begin at home");
    PageError::from(fault).into_response()
}

/// A page that somebody may have similar.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SimilarPage {
    path: String,
    title: String,
}

impl SimilarPage {
    fn new(path: impl Into<String>, title: impl Into<String>) -> Self {
        Self { path: path.into(), title: title.into() }
    }
}

/// Links to similar addresses, for the 404 page.
pub(crate) fn similar_pages(similar: &[SimilarPage]) -> Markup {
    html! {
        @if !similar.is_empty() {
            section aria-label="Similar addresses" {
                p { "Did you mean:" }
                ul { @for page in similar { li { a href=(page.path) { bdi { (page.title) } } } } }
            }
        }
    }
}

#[derive(Debug, Deserialize)]
struct KnownCampaigns {
    #[serde(default)]
    campaigns: Vec<KnownCampaign>,
}

#[derive(Debug, Deserialize)]
struct KnownCampaign {
    id: String,
    name: String,
}

#[derive(Debug, Deserialize)]
struct FoundEntries {
    #[serde(default)]
    entities: Vec<FoundEntry>,
}

#[derive(Debug, Deserialize)]
struct FoundEntry {
    entity_id: u64,
    name: String,
}

impl PageContext {
    /// The pages whose address or name is similar to an address that leads nowhere, the most similar first. A read that
    /// is refused offers nothing.
    pub(crate) async fn find_similar_pages(&self, visitor: &Visitor, uri: &Uri) -> Vec<SimilarPage> {
        let decode = |part: &str| percent_decode_str(part).decode_utf8_lossy().into_owned();
        let parts: Vec<String> = uri.path().split('/').filter(|part| !part.is_empty()).map(decode).collect();
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match parts.as_slice() {
            [] => Vec::new(),
            ["c", campaign, rest @ ..] => self.find_in_campaign(visitor, campaign, rest).await,
            [first, ..] => {
                let main = main_pages(visitor).into_iter().map(|page| (page.path.clone(), page));
                let campaigns = self.known_campaigns(visitor).await;
                let campaigns = campaigns.iter().map(|row| (row.name.clone(), campaign_page(row)));
                most_similar(first, main.chain(campaigns))
            }
        }
    }

    async fn find_in_campaign(&self, visitor: &Visitor, campaign: &str, rest: &[&str]) -> Vec<SimilarPage> {
        let campaigns = self.known_campaigns(visitor).await;
        let Some(found) = campaigns.iter().find(|row| row.id == campaign) else {
            // Ids resemble each other, so only one with a typing error or two is similar.
            let typed = comparable(campaign);
            let is_typing_error = |row: &&KnownCampaign| edit_distance(&typed, &comparable(&row.id)) <= 2;
            let by_id = campaigns.iter().filter(is_typing_error).map(|row| (row.id.clone(), campaign_page(row)));
            let by_name = campaigns.iter().map(|row| (row.name.clone(), campaign_page(row)));
            return most_similar(campaign, by_id.chain(by_name));
        };
        match rest {
            ["lore", entry, ..] => {
                let mut similar = self.find_entries(visitor, &found.id, entry).await;
                similar.push(SimilarPage::new(lore_path(&found.id), format!("The lore of {}", found.name)));
                similar
            }
            [part, ..] => {
                let mut similar = most_similar(part, campaign_pages(visitor, &found.id));
                similar.push(campaign_page(found));
                similar
            }
            [] => vec![campaign_page(found)],
        }
    }

    /// The entries of the lore whose names are similar to a part of an address.
    async fn find_entries(&self, visitor: &Visitor, campaign_id: &str, text: &str) -> Vec<SimilarPage> {
        if text.parse::<u64>().is_ok() || !self.offers("find_entities") {
            return Vec::new();
        }
        let words: String = text.replace(['-', '_', '+'], " ").chars().take(LETTERS_COMPARED).collect();
        let input = json!({
            "campaign_id": campaign_id, "name": words, "name_fuzzy": true, "include_full": false, "limit": OFFERED_MAX
        });
        let found: Result<FoundEntries, Fault> = self.read(&visitor.caller, "find_entities", input).await;
        let rows = found.map(|found| found.entities).unwrap_or_default().into_iter().take(OFFERED_MAX);
        rows.map(|row| SimilarPage::new(entity_path(campaign_id, row.entity_id), row.name)).collect()
    }

    async fn known_campaigns(&self, visitor: &Visitor) -> Vec<KnownCampaign> {
        let input = json!({"view": "campaigns", "limit": CAMPAIGNS_COMPARED});
        let known: Result<KnownCampaigns, Fault> = self.read(&visitor.caller, "campaign_read", input).await;
        known.map(|known| known.campaigns).unwrap_or_default()
    }
}

fn campaign_page(campaign: &KnownCampaign) -> SimilarPage {
    SimilarPage::new(format!("/c/{}", campaign.id), campaign.name.as_str())
}

/// The pages that belong to no campaign.
fn main_pages(visitor: &Visitor) -> Vec<SimilarPage> {
    let mut parts = vec![MainPart::Dice, MainPart::Browsers];
    if visitor.plays_in(EVERY_CAMPAIGN) {
        parts.extend([MainPart::Runs, MainPart::Skies]);
    }
    if visitor.is_owner() {
        parts.push(MainPart::Keeping);
    }
    let mut pages: Vec<SimilarPage> = parts.iter().map(|part| SimilarPage::new(part.path(), part.title())).collect();
    pages.extend([SimilarPage::new("/sign-in", "Sign in"), SimilarPage::new("/join", "Join with an invitation")]);
    pages
}

/// The parts of a campaign that the visitor may open, each under the word in its address and under its title.
fn campaign_pages(visitor: &Visitor, campaign_id: &str) -> impl Iterator<Item = (String, SimilarPage)> {
    let open = CampaignPart::ALL.into_iter().filter(|part| part.is_for(visitor, campaign_id));
    let parts = open.map(|part| SimilarPage::new(part.path(campaign_id), part.title()));
    let further = [("sessions", "Sessions"), ("graph", "Graph")];
    let further = further.map(|(word, title)| SimilarPage::new(format!("/c/{campaign_id}/{word}"), title));
    let pages: Vec<SimilarPage> = parts.chain(further).collect();
    let word = |page: &SimilarPage| page.path.rsplit('/').next().unwrap_or_default().to_owned();
    let titles: Vec<(String, SimilarPage)> =
        pages.iter().map(|page| (page.title.clone(), SimilarPage::new(&*page.path, &*page.title))).collect();
    pages.into_iter().map(move |page| (word(&page), page)).chain(titles)
}

/// The pages whose names differ from a text in few letters, the most similar first, each once.
fn most_similar(text: &str, pages: impl Iterator<Item = (String, SimilarPage)>) -> Vec<SimilarPage> {
    let text = comparable(text);
    let rated = pages.filter_map(|(name, page)| {
        let name = comparable(&name);
        let distance = edit_distance(&text, &name);
        let is_similar = !text.is_empty() && distance <= (name.len().min(text.len()) / 4).max(1);
        let is_part = text.len() >= 3 && name.windows(text.len()).any(|part| *part == *text);
        (is_similar || is_part).then_some((distance, page))
    });
    let mut rated: Vec<(usize, SimilarPage)> = rated.collect();
    rated.sort_by_key(|(distance, _)| *distance);
    let mut similar: Vec<SimilarPage> = Vec::new();
    for (_, page) in rated {
        if !similar.iter().any(|known| known.path == page.path) {
            similar.push(page);
        }
    }
    similar.truncate(OFFERED_MAX);
    similar
}

/// The letters and digits of a name, in lower case.
fn comparable(text: &str) -> Vec<char> {
    let letters = text.chars().flat_map(char::to_lowercase).filter(|letter| letter.is_alphanumeric());
    letters.take(LETTERS_COMPARED).collect()
}

/// How many letters must be added, left out, replaced or swapped with their neighbour to make one text of the other.
fn edit_distance(one: &[char], other: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (at, letter) in one.iter().enumerate() {
        let mut next = vec![at + 1];
        for (to, other_letter) in other.iter().enumerate() {
            let replaced = row[to] + usize::from(letter != other_letter);
            let mut least = replaced.min(row[to + 1] + 1).min(next[to] + 1);
            if at > 0 && to > 0 && *letter == other[to - 1] && one[at - 1] == *other_letter {
                least = least.min(before[to - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_by_their_letters() {
        let distance = |one: &str, other: &str| edit_distance(&comparable(one), &comparable(other));
        assert_eq!(distance("loer", "lore"), 1);
        assert_eq!(distance("The-Drowned-Bells", "the drowned bells"), 0);
        assert_eq!(distance("", "dice"), 4);
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("x", "x"), 0);
    }

    #[test]
    fn only_similar_names_are_offered_each_page_once() {
        let page = |name: &str| (name.to_owned(), SimilarPage::new(format!("/{name}"), name));
        let offered = |text: &str| -> Vec<String> {
            let names = ["dice", "lore", "lore", "timeline", "canon", "runs"];
            most_similar(text, names.iter().map(|name| page(name))).into_iter().map(|page| page.title).collect()
        };
        assert_eq!(offered("loer"), ["lore"]);
        assert_eq!(offered("Dise"), ["dice"]);
        assert_eq!(offered("time"), ["timeline"]);
        assert_eq!(offered("zebra"), Vec::<String>::new());
        assert_eq!(offered(""), Vec::<String>::new());
    }
}
