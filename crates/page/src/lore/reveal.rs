//! `/c/{campaign}/lore/{entity}/reveal`: shows an entity or one of its posts to the table or to one player, or hides it.

use axum::extract::State;
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};
use skald_app::{Code, Fault, limits};

use super::{Article, check_game_master, entity_path};
use crate::extractors::PagePath;
use crate::form::Form;
use crate::middleware::PageError;
use crate::visitor::Visitor;
use crate::{PageContext, SharedContext};

/// The operation that reveals to single people.
const VISIBILITY: &str = "visibility";

/// The entity and its posts with the people who know them, and all players.
pub(crate) struct LoreKnowledge {
    players: Vec<CampaignPlayer>,
    things: Vec<KnownItem>,
}

#[derive(Debug, Deserialize)]
struct CampaignPlayer {
    id: String,
    #[serde(rename = "display_name")]
    name: String,
    #[serde(default)]
    role: String,
}

/// The entry or a post, with the people who know it although it is private.
struct KnownItem {
    post_id: Option<u64>,
    name: String,
    is_private: bool,
    people: Vec<String>,
}

impl PageContext {
    /// Who knows what of an entity, for game masters.
    pub(crate) async fn knowledge(&self, visitor: &Visitor, article: &Article) -> Result<LoreKnowledge, Fault> {
        let campaign_id = article.campaign().id;
        let entity = &article.entity;
        let entry = KnownItem {
            post_id: None,
            name: "The entry".to_owned(),
            is_private: entity.is_private,
            people: Vec::new(),
        };
        let posts = entity.posts.iter().map(|post| KnownItem {
            post_id: Some(post.id),
            name: post.name.clone(),
            is_private: post.is_private,
            people: Vec::new(),
        });
        let mut things: Vec<KnownItem> = std::iter::once(entry).chain(posts).collect();
        if !self.offers(VISIBILITY) {
            return Ok(LoreKnowledge { players: Vec::new(), things });
        }
        let players = self.campaign_players(visitor, &campaign_id).await?;
        for thing in things.iter_mut().filter(|thing| thing.is_private) {
            let mut input = json!({"method": "who_knows", "campaign_id": campaign_id});
            thing.name_in(&mut input, entity.entity_id);
            let answer: Value = self.read(&visitor.caller, VISIBILITY, input).await?;
            let words = answer["visible_to"].as_array().into_iter().flatten().filter_map(Value::as_str);
            thing.people = words.map(ToOwned::to_owned).collect();
        }
        Ok(LoreKnowledge { players, things })
    }

    /// All players of a campaign.
    async fn campaign_players(&self, visitor: &Visitor, campaign_id: &str) -> Result<Vec<CampaignPlayer>, Fault> {
        #[derive(Deserialize)]
        struct PlayerPage {
            #[serde(default)]
            participants: Vec<CampaignPlayer>,
            next_cursor: Option<String>,
        }
        let (mut players, mut cursor): (Vec<CampaignPlayer>, Option<String>) = (Vec::new(), None);
        loop {
            let mut input = json!({"view": "participants", "campaign_id": campaign_id, "limit": limits::PAGE_MAX});
            if let Some(cursor) = &cursor {
                input["cursor"] = cursor.as_str().into();
            }
            let page: PlayerPage = self.read(&visitor.caller, "campaign_read", input).await?;
            players.extend(page.participants.into_iter().filter(|participant| participant.role == "PLAYER"));
            cursor = page.next_cursor;
            if cursor.is_none() {
                return Ok(players);
            }
        }
    }
}

impl KnownItem {
    fn name_in(&self, input: &mut Value, entity_id: u64) {
        match self.post_id {
            Some(post_id) => input["post_id"] = post_id.into(),
            None => input["entity_id"] = entity_id.into(),
        }
    }

    fn knows(&self, player: &CampaignPlayer) -> bool {
        !self.is_private || self.people.contains(&player.id)
    }
}

/// For game masters: who knows of the entity and of its posts, and a button each to change it. With scripts, a reveal
/// waits ten seconds in which it can be undone.
pub(crate) fn reveal_forms(article: &Article, knowledge: &LoreKnowledge) -> Markup {
    html! {
        section.card.reveal.no-print #who-knows data-live-part {
            h2 { "Who knows it" }
            ul.rows { @for thing in &knowledge.things { (known_row(article, knowledge, thing)) } }
        }
    }
}

fn known_row(article: &Article, knowledge: &LoreKnowledge, thing: &KnownItem) -> Markup {
    let knowing: Vec<&str> =
        knowledge.players.iter().filter(|player| thing.knows(player)).map(|player| player.name.as_str()).collect();
    let is_below_secret = thing.post_id.is_some() && article.entity.is_private && !thing.is_private;
    let button = |title: &str, to: &str| {
        html! {
            form.inline-form method="post" action={ (article.path()) "/reveal" } {
                @if let Some(post_id) = thing.post_id { input type="hidden" name="post_id" value=(post_id); }
                button name="to" value=(to) { (title) span.visually-hidden { ": " (thing.name) } }
            }
        }
    };
    html! {
        li.row.known {
            div.row-main {
                bdi { (thing.name) }
                span.muted {
                    @if is_below_secret { "Seen by those who know the entry." }
                    @else if !thing.is_private { "The whole table knows it." }
                    @else if knowing.is_empty() { "Only game masters know it." }
                    @else { "Known by " bdi { (knowing.join(", ")) } "." }
                }
            }
            div.actions {
                @if thing.is_private {
                    (people_form(article, knowledge, thing))
                    (button("Reveal to all", "table"))
                } @else {
                    (button("Hide", "gm"))
                }
            }
        }
    }
}

/// Buttons for each player; and where there are several, a box for each, to reveal something to some of them at once.
fn people_form(article: &Article, knowledge: &LoreKnowledge, thing: &KnownItem) -> Markup {
    let unknowing: Vec<&CampaignPlayer> = knowledge.players.iter().filter(|player| !thing.knows(player)).collect();
    let form = |content: &Markup| {
        html! {
            form.inline-form method="post" action={ (article.path()) "/reveal" } {
                @if let Some(post_id) = thing.post_id { input type="hidden" name="post_id" value=(post_id); }
                (*content)
            }
        }
    };
    let of = html! { span.visually-hidden { ": " (thing.name) } };
    html! {
        @for player in &knowledge.players {
            @let (title, to) = if thing.knows(player) { ("Hide from", "gm") } else { ("Reveal to", "people") };
            (form(&html! {
                input type="hidden" name="who" value=(player.id);
                button name="to" value=(to) { (title) " " (player.name) (of) }
            }))
        }
        @if unknowing.len() > 1 {
            details.reveal-several {
                summary { "Reveal to several" (of) }
                (form(&html! {
                    fieldset.choices {
                        legend.visually-hidden { "Who shall know it" }
                        @for player in &unknowing {
                            label.choice { input type="checkbox" name="who" value=(player.id); bdi { (player.name) } }
                        }
                    }
                    button name="to" value="people" { "Reveal to the chosen" (of) }
                }))
            }
        }
    }
}

/// `POST /c/{campaign}/lore/{entity}/reveal`.
pub(crate) async fn reveal(
    State(context): State<SharedContext>,
    PagePath((campaign, entity)): PagePath<(String, u64)>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    check_game_master(&visitor, &campaign)?;
    let is_hidden = form.text("to") == "gm";
    let post_id = form.integer("post_id")?;
    if context.offers(VISIBILITY) {
        let mut input = json!({"campaign_id": campaign, "method": if is_hidden { "hide" } else { "reveal" }});
        match post_id {
            Some(post_id) => input["post_id"] = post_id.into(),
            None => input["entity_id"] = entity.into(),
        }
        let who: Vec<&str> = form.all("who").filter(|who| !who.is_empty()).collect();
        if who.is_empty() && form.text("to") == "people" {
            // An empty list of people would reveal it to the whole table.
            let fault = Fault::new(Code::InvalidParams, "nobody is chosen who shall know it").with_path("/who");
            return Err(fault.hint("choose somebody, or reveal it to all").into());
        }
        if !who.is_empty() {
            input["who"] = json!(who);
        }
        context.send::<Value>(&visitor.caller, VISIBILITY, input).await?;
    } else {
        let mut item = json!({"entity_id": entity, "is_private": is_hidden});
        let operation = match post_id {
            Some(post_id) => {
                item["post_id"] = post_id.into();
                "update_posts"
            }
            None => "update_entities",
        };
        context.send_item(&visitor, operation, &campaign, ("updates", item)).await?;
    }
    let done = if is_hidden { "hidden" } else { "revealed" };
    Ok(Redirect::to(&format!("{}?done={done}", entity_path(&campaign, entity))).into_response())
}
