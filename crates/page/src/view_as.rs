//! A game master looks at a campaign as somebody else sees it. A cookie names the campaign and the person; until it is
//! cleared, the pages of the campaign are read with the rights of that person, and nothing can be sent.

use axum::extract::{Request, State};
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderValue, Method};
use axum::response::{IntoResponse, Redirect, Response};
use maud::{Markup, html};
use skald_app::{Caller, Code, Engine, Fault, Principal};

use crate::components::encode;
use crate::extractors::PagePath;
use crate::form::Form;
use crate::layout::PageLayout;
use crate::lore::check_game_master;
use crate::middleware::PageError;
use crate::table::TableState;
use crate::theme::cookie;
use crate::visitor::Visitor;
use crate::{PageContext, SharedContext};

/// The name of a cookie that is no secret: the engine checks for each request that the caller is a game master.
const COOKIE_NAME: &str = "skald-view-as";
const CLEARED_COOKIE: &str = "skald-view-as=; Path=/c/; Max-Age=0; HttpOnly; SameSite=Lax";

/// Whose view a page shows.
#[derive(Debug, Clone)]
pub(crate) struct ViewedAs {
    campaign_id: String,
    who: String,
    name: String,
    /// The game master who looks.
    game_master: Caller,
}

impl ViewedAs {
    /// The caller with the rights of that person, read again. FORBIDDEN once the game master is none any more.
    pub(crate) async fn refresh_caller(&mut self, engine: &dyn Engine) -> Result<Caller, Fault> {
        self.game_master = engine.refresh_caller(&self.game_master).await?;
        engine.caller_viewing_as(&self.game_master, &self.campaign_id, &self.who).await
    }

    /// Says above the page whose view it is, and leads back.
    pub(crate) fn banner(&self) -> Markup {
        html! {
            section.view-as-banner aria-label="Whose view this is" {
                p { "You see this campaign as " strong dir="auto" { (self.name) } " does. Nothing can be changed." }
                form method="post" action=(view_as_path(&self.campaign_id)) { button { "Back to your own view" } }
            }
        }
    }
}

pub(crate) fn view_as_path(campaign_id: &str) -> String {
    format!("/c/{}/view-as", encode(campaign_id))
}

/// Replaces the caller of a request for a page of the campaign whose view was chosen, or refuses what would change it.
/// A choice that is no longer allowed is ignored: the visitor sees the page with their own rights.
pub(crate) async fn replace_caller(context: &PageContext, request: &mut Request) -> Result<(), Fault> {
    let Some(chosen) = cookie(request.headers(), COOKIE_NAME).map(Form::parse) else { return Ok(()) };
    let (campaign_id, who) = (chosen.text("campaign"), chosen.text("who"));
    let page = request.uri().path().strip_prefix("/c/").and_then(|path| path.strip_prefix(&*encode(campaign_id)));
    if campaign_id.is_empty()
        || !page.is_some_and(|page| page.is_empty() || page.starts_with('/') && page != "/view-as")
    {
        return Ok(());
    }
    let Some(game_master) = request.extensions().get::<Caller>().cloned() else { return Ok(()) };
    let Ok(caller) = context.engine.caller_viewing_as(&game_master, campaign_id, who).await else { return Ok(()) };
    let Principal::Holder(holder) = &caller.principal else { return Ok(()) };
    let (campaign_id, who) = (campaign_id.to_owned(), who.to_owned());
    let viewed_as = ViewedAs { campaign_id, who, name: holder.name.clone(), game_master };
    // The page of a refusal shows whose view it is, too.
    request.extensions_mut().insert(caller);
    request.extensions_mut().insert(viewed_as.clone());
    if request.method() != Method::GET && request.method() != Method::HEAD {
        let fault = Fault::new(Code::Forbidden, format!("nothing can be changed in the view of {}", viewed_as.name));
        return Err(fault.hint("go back to your own view first"));
    }
    Ok(())
}

/// Ends the view when somebody signs out, so that the next person in this browser sees their own.
pub(crate) fn clear_view(response: &mut Response) {
    response.headers_mut().append(SET_COOKIE, HeaderValue::from_static(CLEARED_COOKIE));
}

/// `GET /c/{campaign}/view-as`: whose view can be looked at.
pub(crate) async fn show(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let (state, _) = TableState::read_people(&context, &visitor, &campaign).await?;
    check_game_master(&visitor, &state.head.id)?;
    let choice = |who: &str, name: &str, note: &str| {
        html! {
            li { button.view-as-choice name="who" value=(who) { strong dir="auto" { (name) } span.muted dir="auto" { (note) } } }
        }
    };
    let layout = PageLayout::for_visitor("View as a player", &visitor).campaign(&state.head, None);
    Ok(layout.render(html! {
        div.narrow {
            h1 { "View as a player" }
            p.lead { "The pages of this campaign as somebody else sees them: what is hidden from them is not there." }
            form method="post" action=(view_as_path(&state.head.id)) {
                ul.view-as-choices {
                    @for (id, name) in &state.people {
                        @let played = state.actors.iter().filter(|actor| actor.controller.as_deref() == Some(id));
                        @let played: Vec<&str> = played.map(|actor| actor.name.as_str()).collect();
                        (choice(id, name, &if played.is_empty() { String::new() } else { format!("plays {}", played.join(", ")) }))
                    }
                    (choice("player", "Any player", "sees what the whole table sees"))
                    (choice("guest", "A guest", "only looks on"))
                }
            }
        }
    }))
}

/// `POST /c/{campaign}/view-as`: starts to look as somebody, or without a name stops.
pub(crate) async fn choose(
    State(context): State<SharedContext>,
    PagePath(campaign): PagePath<String>,
    visitor: Visitor,
    form: Form,
) -> Result<Response, PageError> {
    let head = context.campaign_head(&visitor, &campaign).await?;
    let cookie = match form.filled("who") {
        Some(who) => {
            context.engine.caller_viewing_as(&visitor.caller, &head.id, who).await?;
            format!("{COOKIE_NAME}=campaign={}&who={}; Path=/c/; HttpOnly; SameSite=Lax", encode(&head.id), encode(who))
        }
        None => CLEARED_COOKIE.to_owned(),
    };
    let mut response = Redirect::to(&format!("/c/{}", encode(&head.id))).into_response();
    if let Ok(cookie) = HeaderValue::try_from(cookie) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    Ok(response)
}
