//! The frame of every page: head, skip link, bar with navigation, main part.

use axum::http::HeaderValue;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::assets::{asset_path, imports_stream};
use crate::theme::ChosenTheme;
use crate::view_as::view_as_path;
use crate::visitor::{Browser, Visitor};

/// The campaign that a page belongs to.
#[derive(Debug, Clone)]
pub(crate) struct CampaignHead {
    pub id: String,
    pub name: String,
}

/// A part of a campaign that has pages, in the order of the navigation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CampaignPart {
    Table,
    Lore,
    Timeline,
    Canon,
    Sky,
    Runs,
}

impl CampaignPart {
    pub(crate) const ALL: [Self; 6] = [Self::Table, Self::Lore, Self::Timeline, Self::Canon, Self::Sky, Self::Runs];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Table => "Table",
            Self::Lore => "Lore",
            Self::Timeline => "Timeline",
            Self::Canon => "Canon",
            Self::Sky => "Sky",
            Self::Runs => "Runs",
        }
    }

    pub(crate) fn path(self, campaign_id: &str) -> String {
        match self {
            Self::Table => format!("/c/{campaign_id}"),
            Self::Lore => format!("/c/{campaign_id}/lore"),
            Self::Timeline => format!("/c/{campaign_id}/timeline"),
            Self::Canon => format!("/c/{campaign_id}/canon"),
            Self::Sky => format!("/c/{campaign_id}/sky"),
            Self::Runs => format!("/c/{campaign_id}/runs"),
        }
    }

    /// Whether a member of the campaign may open this part. The navigation leaves out the other parts.
    pub(crate) fn is_for(self, visitor: &Visitor, campaign_id: &str) -> bool {
        match self {
            Self::Table | Self::Lore | Self::Timeline | Self::Sky => true,
            Self::Canon => visitor.is_game_master_of(campaign_id),
            Self::Runs => visitor.plays_in(campaign_id),
        }
    }
}

/// A part of the page that belongs to no campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MainPart {
    Home,
    Dice,
    /// The runs without a campaign.
    Runs,
    /// The universes without a campaign.
    Skies,
    Browsers,
    Keeping,
}

impl MainPart {
    /// The parts in the bar. The name of Skald links home, home links runs and skies, and the visitor's menu has the others.
    const ALL: [Self; 1] = [Self::Dice];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Home => "Home",
            Self::Dice => "Dice",
            Self::Runs => "Runs",
            Self::Skies => "Sky",
            Self::Browsers => "Browsers",
            Self::Keeping => "Keeping",
        }
    }

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Home => "/",
            Self::Dice => "/dice",
            Self::Runs => "/runs",
            Self::Skies => "/skies",
            Self::Browsers => "/browsers",
            Self::Keeping => "/keeping",
        }
    }
}

/// How a page is framed.
pub(crate) struct PageLayout<'a> {
    title: String,
    visitor: Option<&'a Visitor>,
    browser: Browser,
    campaign: Option<(&'a CampaignHead, Option<CampaignPart>)>,
    part: Option<MainPart>,
    styles: Vec<&'static str>,
    scripts: Vec<&'static str>,
    is_table: bool,
}

impl<'a> PageLayout<'a> {
    /// A layout for a visitor, or for a caller that is not signed in.
    pub(crate) fn new(title: &str, visitor: Option<&'a Visitor>, browser: Browser) -> Self {
        let (title, styles, scripts) = (title.to_owned(), Vec::new(), Vec::new());
        Self { title, visitor, browser, campaign: None, part: None, styles, scripts, is_table: false }
    }

    pub(crate) fn for_visitor(title: &str, visitor: &'a Visitor) -> Self {
        Self::new(title, Some(visitor), visitor.browser)
    }

    /// The page belongs to a campaign.
    #[must_use]
    pub(crate) fn campaign(mut self, campaign: &'a CampaignHead, part: impl Into<Option<CampaignPart>>) -> Self {
        self.campaign = Some((campaign, part.into()));
        self
    }

    #[must_use]
    pub(crate) fn part(mut self, part: MainPart) -> Self {
        self.part = Some(part);
        self
    }

    /// Loads a style sheet of our own that few pages need.
    #[must_use]
    pub(crate) fn style(mut self, name: &'static str) -> Self {
        self.styles.push(name);
        self
    }

    /// Loads a script of our own, as a module.
    #[must_use]
    pub(crate) fn script(mut self, name: &'static str) -> Self {
        self.scripts.push(name);
        self
    }

    /// The page fills the window, as a table does.
    #[must_use]
    pub(crate) fn full_height(mut self) -> Self {
        self.is_table = true;
        self
    }

    pub(crate) fn render(&self, main: Markup) -> Response {
        html_response(self.markup(&PreEscaped(main.into_string())))
    }

    fn markup(&self, main: &Markup) -> Markup {
        let place = self.campaign.map(|(campaign, _)| campaign.name.as_str()).filter(|name| *name != self.title);
        html! {
            (DOCTYPE)
            html lang="en" data-theme=[self.browser.theme.attribute()] {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) @if let Some(place) = place { " · " (place) } " · Skald" }
                    link rel="icon" type="image/svg+xml" href=(asset_path("icon.svg"));
                    link rel="stylesheet" href=(asset_path("page.css"));
                    @for name in &self.styles { link rel="stylesheet" href=(asset_path(name)); }
                    script defer src=(asset_path("htmx.min.js")) {}
                    // Modules that `page.js` imports: a browser would ask for one after the other.
                    @for name in ["answers.js", "form-state.js"] { link rel="modulepreload" href=(asset_path(name)); }
                    script type="module" src=(asset_path("page.js")) {}
                    @if self.scripts.iter().any(|name| imports_stream(name)) {
                        // Without this a browser asks for it only once it has read the script that imports it.
                        link rel="modulepreload" href=(asset_path("stream.js"));
                    }
                    @if self.campaign.is_some() { script type="module" src=(asset_path("search.js")) {} }
                    @for name in &self.scripts { script type="module" src=(asset_path(name)) {} }
                }
                body.table-page[self.is_table] {
                    a.skip href="#main" { "Skip to the content" }
                    (self.bar())
                    @if let Some(viewed_as) = self.visitor.and_then(|visitor| visitor.viewed_as.as_ref()) {
                        (viewed_as.banner())
                    }
                    main #main tabindex="-1" { (*main) }
                }
            }
        }
    }

    fn bar(&self) -> Markup {
        html! {
            header.bar {
                a.brand href="/" aria-label="Skald, home" aria-current=[(self.part == Some(MainPart::Home)).then_some("page")] {
                    img src=(asset_path("icon.svg")) alt="" width="24" height="24";
                    span.brand-name { "Skald" }
                }
                @if let Some((campaign, part)) = self.campaign {
                    a.place href={ "/c/" (campaign.id) } dir="auto" { (campaign.name) }
                    nav aria-label="Campaign" {
                        @let may_open = |part: &CampaignPart| self.visitor.is_some_and(|visitor| part.is_for(visitor, &campaign.id));
                        @for other in CampaignPart::ALL.into_iter().filter(may_open) {
                            (nav_link(&other.path(&campaign.id), other.title(), part == Some(other)))
                        }
                    }
                }
                @if self.visitor.is_some() {
                    nav.main-nav aria-label="Everywhere" {
                        @for other in MainPart::ALL {
                            (nav_link(other.path(), other.title(), self.part == Some(other)))
                        }
                    }
                }
                div.bar-end {
                    @if let Some((campaign, _)) = self.campaign { (search_link(&campaign.id)) }
                    (theme_form(self.browser.theme))
                    @if let Some(visitor) = self.visitor {
                        (visitor_menu(visitor, self.campaign.map(|(campaign, _)| campaign.id.as_str())))
                    }
                }
            }
        }
    }
}

fn nav_link(path: &str, title: &str, is_here: bool) -> Markup {
    html! { a.nav-link href=(path) aria-current=[is_here.then_some("page")] { (title) } }
}

/// The link to the search. A script opens a dialog over the page instead.
fn search_link(campaign_id: &str) -> Markup {
    html! {
        a.search-open href={ "/c/" (campaign_id) "/lore" } data-search={ "/c/" (campaign_id) "/lore" }
            title="Search the lore: / or Ctrl-K" {
            (PreEscaped(SEARCH_ICON)) span.search-word { "Search" } kbd.search-key aria-hidden="true" { "/" }
        }
    }
}

const SEARCH_ICON: &str = "<svg viewBox=\"0 0 24 24\" width=\"18\" height=\"18\" aria-hidden=\"true\" fill=\"none\" \
     stroke=\"currentColor\" stroke-width=\"2\" stroke-linecap=\"round\"><circle cx=\"11\" cy=\"11\" r=\"6.5\"/>\
     <path d=\"M16 16l5 5\"/></svg>";

/// A button that switches between the system's colours, light and dark.
fn theme_form(theme: ChosenTheme) -> Markup {
    let (next, label) = match theme {
        ChosenTheme::System => ("dark", "Colours of the system; switch to dark"),
        ChosenTheme::Dark => ("light", "Dark colours; switch to light"),
        ChosenTheme::Light => ("system", "Light colours; switch to those of the system"),
    };
    html! {
        form.theme method="post" action="/theme" {
            button.icon-button #theme name="theme" value=(next) aria-label=(label) title=(label) {
                (PreEscaped(THEME_ICON))
            }
        }
    }
}

const THEME_ICON: &str = "<svg viewBox=\"0 0 24 24\" width=\"20\" height=\"20\" aria-hidden=\"true\"><circle cx=\"12\" \
     cy=\"12\" r=\"8\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"2\"/><path d=\"M12 4a8 8 0 0 1 0 16z\" \
     fill=\"currentColor\"/></svg>";

/// The menu under the visitor's name.
fn visitor_menu(visitor: &Visitor, campaign_id: Option<&str>) -> Markup {
    html! {
        details.who {
            summary { span.who-name dir="auto" { (visitor.name()) } }
            div.menu {
                @if let Some(id) = campaign_id.filter(|id| visitor.is_game_master_of(id)) {
                    a href=(view_as_path(id)) { "View as a player" }
                }
                @if visitor.is_owner() { a href=(MainPart::Keeping.path()) { (MainPart::Keeping.title()) } }
                a href=(MainPart::Browsers.path()) { (MainPart::Browsers.title()) }
                @if visitor.browser.is_signed_in {
                    form method="post" action="/sign-out" { button.link-button { "Sign out" } }
                } @else {
                    a href="/sign-in" { "Sign in as somebody" }
                }
            }
        }
    }
}

/// HTML as a response: a page, or a part of one.
pub(crate) fn html_response(markup: Markup) -> Response {
    let mut response = markup.into_string().into_response();
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    response
}
