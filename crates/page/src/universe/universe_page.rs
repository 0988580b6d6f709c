//! `/c/{campaign}/sky/{universe}?t=`: the map at a moment, its bodies as a list, and the one that is chosen.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use skald_app::{Code, Fault, percent_encode};

use super::UniverseAddress;
use super::body_panel::{add_form, body_panel, tick_form};
use super::read_universe::{DAY_SECONDS, UniverseAnswers, figure, kind_words};
use crate::SharedContext;
use crate::campaign_place::CampaignPlace;
use crate::components::{count, empty_state, encode, fault_box, next_page};
use crate::extractors::{PagePath, PageQuery};
use crate::form::Form;
use crate::inline_picture::inline_picture;
use crate::layout::html_response;
use crate::middleware::{PageError, status};
use crate::resource_events::stream_changes;
use crate::visitor::Visitor;

/// Pictures in one answer, for a script that plays them.
const FRAMES_MAX: u32 = 24;
/// How far the slider goes if nothing in the sky moves, in days.
const STILL_SPAN_DAYS: f64 = 365.0;

#[derive(Debug, Default, Deserialize)]
pub(crate) struct UniverseQuery {
    /// Simulated seconds.
    t: Option<String>,
    /// The same in days, as the form has it.
    days: Option<String>,
    body: Option<String>,
    cursor: Option<String>,
}

impl UniverseQuery {
    pub(super) fn of_body(body: Option<String>) -> Self {
        Self { body, ..Self::default() }
    }

    fn time(&self) -> Result<Option<f64>, Fault> {
        let filled = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
        let (text, factor, field) = match (filled(&self.t), filled(&self.days)) {
            (Some(text), _) => (text, 1.0, "/t"),
            (None, Some(text)) => (text, DAY_SECONDS, "/days"),
            (None, None) => return Ok(None),
        };
        let time = text.trim().parse::<f64>().ok().map(|number| number * factor).filter(|time| time.is_finite());
        time.map(Some).ok_or_else(|| {
            let fault =
                Fault::new(Code::InvalidParams, format!("{:?} is no time", skald_app::truncate_for_message(&text)));
            fault.with_path(field).hint("type a number of days, or leave it out for now")
        })
    }
}

/// A form that was refused, with the reason.
pub(super) struct RefusedCommand<'a> {
    pub form: &'a Form,
    pub fault: Fault,
}

/// `GET /c/{campaign}/sky/{universe}`.
pub(crate) async fn show_universe(
    State(context): State<SharedContext>,
    visitor: Visitor,
    PagePath(address): PagePath<UniverseAddress>,
    PageQuery(query): PageQuery<UniverseQuery>,
) -> Result<Response, PageError> {
    let place = context.place_of_universe(&visitor, address.campaign.as_deref()).await?;
    let universe_id = address.universe;
    universe_page(&context, &visitor, &place, &universe_id, &query, None).await
}

/// Renders the page, with the refused form if there is one.
pub(super) async fn universe_page(
    context: &SharedContext,
    visitor: &Visitor,
    place: &CampaignPlace,
    universe_id: &str,
    query: &UniverseQuery,
    refused: Option<&RefusedCommand<'_>>,
) -> Result<Response, PageError> {
    let universe = context.universe_of(visitor, place, universe_id).await?;
    let time = query.time()?;
    let body = query.body.as_deref().filter(|body| !body.is_empty());
    let sky = context.read_universe(visitor, universe, time, body, query.cursor.as_deref()).await?;
    let may_write = place.is_led_by(visitor);
    let path = place.item_path(universe_id);
    if visitor.browser.wants_fragment && refused.is_none() {
        return Ok(html_response(universe_parts(&sky, &path, may_write, None)));
    }
    let map = context.draw_map(visitor, universe_id, sky.time).await?;
    let layout = place.layout(&sky.universe.name, visitor).style("picture.css").style("sky.css").script("sky.js");
    let mut response = layout.render(html! {
        div.sky #sky data-path=(path) data-live={ (path) "/events" } {
            div.sky-head {
                p { a href=(place.list_path()) { "All universes" } }
                h1 dir="auto" { (sky.universe.name) }
            }
            @if let Some(refused) = refused { (fault_box(&refused.fault)) }
            p.warning #sky-fault role="status" hidden {}
            div.sky-columns {
                div.sky-main {
                    section.card.sky-card aria-label="Map" { (map_frame(&map)) (time_bar(&sky, &path)) }
                }
                (universe_parts(&sky, &path, may_write, refused))
            }
        }
    });
    if let Some(refused) = refused {
        *response.status_mut() = status(refused.fault.class());
    }
    Ok(response)
}

/// The map. A script makes it one to pan, zoom and choose from; its buttons are hidden where none runs.
fn map_frame(map: &str) -> Markup {
    html! {
        div.map-tools hidden data-map-tools role="group" aria-label="Zoom" {
            button type="button" data-zoom="in" aria-label="Zoom in" { "+" }
            button type="button" data-zoom="out" aria-label="Zoom out" { "−" }
            button type="button" data-zoom="all" { "Whole sky" }
        }
        div.map-frame #map tabindex="0" role="group" aria-label="Map of the sky" aria-describedby="map-keys" { (inline_picture(map)) }
        p.visually-hidden #map-keys { "Arrow keys choose a body, plus and minus zoom, zero shows the whole sky, Enter opens what is chosen." }
        p.visually-hidden #map-said aria-live="polite" {}
    }
}

/// The moment that is shown. Looking at another one changes nothing.
fn time_bar(sky: &UniverseAnswers, path: &str) -> Markup {
    let days = sky.time / DAY_SECONDS;
    let longest = sky.bodies.items.iter().filter_map(|body| body.orbital_period_days).map(f64::abs);
    let span = longest.filter(|days| days.is_finite()).fold(0.0, f64::max);
    let span = if span > 0.0 { span } else { STILL_SPAN_DAYS };
    let now = sky.summary.time / DAY_SECONDS;
    html! {
        div.time-bar {
            div.time-play hidden data-time-tools {
                button.primary type="button" #play aria-pressed="false" { "Play" }
                label.visually-hidden for="speed" { "Speed" }
                select #speed {
                    option value="0.25" { "6 hours a second" }
                    option value="1" { "a day a second" }
                    option value="7" selected { "a week a second" }
                    option value="30" { "a month a second" }
                    option value="365" { "a year a second" }
                }
                label.visually-hidden for="moment" { "Moment, in days" }
                input #moment type="range" min=(now - span) max=(now + span) step="any" value=(days);
            }
            form.inline-form.time-form method="get" action=(path) {
                div.field { label for="days" { "Day" } input #days type="number" step="any" name="days" value=(figure(days)); }
                button { "Show" }
                @if !sky.is_now { a.button href=(path) { "Now" } }
            }
            p.muted #moment-said {
                @if sky.is_now { "Now, day " (figure(days)) "." } @else { "Day " (figure(days)) "; the universe itself stands at day " (figure(now)) ". Looking changes nothing." }
            }
        }
    }
}

/// The parts that a script replaces when the universe changes, or another body is chosen.
fn universe_parts(sky: &UniverseAnswers, path: &str, may_write: bool, refused: Option<&RefusedCommand<'_>>) -> Markup {
    html! {
        div.sky-side {
            div #sky-body data-now=(sky.summary.time) data-body=[sky.selected.as_ref().map(|body| &body.body.id)] {
                @if let Some(body) = &sky.selected { (body_panel(body, sky, path, may_write, refused)) }
            }
            section.card #sky-bodies {
                h2 { (count(sky.summary.body_count, "body", "bodies")) }
                (body_list(sky, path))
            }
            @if may_write {
                section.card #sky-forms { h2 { "Change the sky" } (tick_form(sky, path, refused)) (add_form(sky, path, refused)) }
            }
        }
    }
}

fn body_list(sky: &UniverseAnswers, path: &str) -> Markup {
    let chosen = sky.selected.as_ref().map(|body| body.body.id.as_str());
    let moment = if sky.is_now { String::new() } else { format!("&t={}", sky.time) };
    let known = |id: &str| sky.bodies.items.iter().find(|body| body.id == id);
    html! {
        @if sky.bodies.items.is_empty() {
            (empty_state("An empty sky", &html! { p { "Nothing shines here yet. The first star goes below." } }))
        } @else {
            ul.bodies {
                @for body in &sky.bodies.items {
                    li {
                        a.body-link href={ (path) "?body=" (encode(&body.id)) (moment) "#sky-body" } data-body-link=(body.id)
                            aria-current=[(chosen == Some(&*body.id)).then_some("true")] {
                            (swatch(&body.color))
                            span.body-name dir="auto" { (body.name) }
                            span.muted {
                                (kind_words(&body.kind))
                                @if let Some(parent) = &body.parent_id { " of " span dir="auto" { (known(parent).map_or(parent, |body| &body.name)) } }
                            }
                        }
                    }
                }
            }
            @let body = chosen.map(|id| format!("&body={}", encode(id))).unwrap_or_default();
            @let shown = format!("{moment}{body}");
            @let join = if shown.is_empty() { "" } else { "?" };
            (next_page(&format!("{path}{join}{}", shown.trim_start_matches('&')), sky.bodies.next_cursor.as_deref()))
        }
    }
}

/// A dot in the colour of a body. The colour is checked, and an attribute of SVG is no style.
pub(super) fn swatch(color: &str) -> Markup {
    let is_color = color.strip_prefix('#').is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
    html! {
        svg.swatch viewBox="0 0 12 12" width="12" height="12" aria-hidden="true" {
            circle cx="6" cy="6" r="5" fill=(if is_color { color } else { "#888888" }) {}
        }
    }
}

#[derive(Debug, Deserialize)]
pub(crate) struct FramesQuery {
    t: Option<f64>,
    /// Simulated seconds from one picture to the next.
    #[serde(default)]
    step: f64,
    frames: Option<u32>,
}

/// `GET …/map?t=&step=&frames=`: pictures of the sky, one after the other, for a script that plays them.
pub(crate) async fn universe_map(
    State(context): State<SharedContext>,
    visitor: Visitor,
    PagePath(address): PagePath<UniverseAddress>,
    PageQuery(query): PageQuery<FramesQuery>,
) -> Result<Response, PageError> {
    let place = context.place_of_universe(&visitor, address.campaign.as_deref()).await?;
    let universe_id = address.universe;
    let universe = context.universe_of(&visitor, &place, &universe_id).await?;
    let first = match query.t {
        Some(first) => first,
        None => context.read_universe(&visitor, universe, None, None, None).await?.time,
    };
    let frames = query.frames.unwrap_or(1);
    if frames == 0 || frames > FRAMES_MAX {
        let fault = Fault::new(Code::InvalidParams, format!("frames is {frames}, allowed: 1 to {FRAMES_MAX}"));
        return Err(fault.with_path("/frames").hint("ask for fewer at once").into());
    }
    let mut pictures = Vec::new();
    for frame in 0..frames {
        let time = first + query.step * f64::from(frame);
        pictures.push((time, context.draw_map(&visitor, &universe_id, time).await?));
    }
    Ok(html_response(html! {
        @for (time, picture) in &pictures { div.frame data-t=(time) { (inline_picture(picture)) } }
    }))
}

/// `GET …/events`: says when the universe has changed.
pub(crate) async fn universe_events(
    State(context): State<SharedContext>,
    visitor: Visitor,
    headers: HeaderMap,
    PagePath(address): PagePath<UniverseAddress>,
) -> Result<Response, PageError> {
    let place = context.place_of_universe(&visitor, address.campaign.as_deref()).await?;
    let universe_id = address.universe;
    let universe = context.universe_of(&visitor, &place, &universe_id).await?;
    let uri = format!("universe://{}", percent_encode(&universe.id));
    Ok(stream_changes(&context, &visitor, &headers, vec![uri]).await)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_told_in_seconds_or_days() {
        let query = |t: Option<&str>, days: Option<&str>| UniverseQuery {
            t: t.map(str::to_owned),
            days: days.map(str::to_owned),
            ..UniverseQuery::default()
        };
        assert_eq!(query(None, None).time().expect("none"), None);
        assert_eq!(query(Some("-60"), Some("1")).time().expect("a time"), Some(-60.0));
        assert_eq!(query(Some(" "), Some("2")).time().expect("a time"), Some(172_800.0));
        for bad in ["soon", "NaN", "1e999"] {
            assert_eq!(query(None, Some(bad)).time().expect_err(bad).body().path.as_deref(), Some("/days"));
        }
    }

    #[test]
    fn a_colour_that_is_none_paints_nothing_else() {
        assert!(swatch("#2E86DE").into_string().contains("fill=\"#2E86DE\""));
        assert!(swatch("url(//evil.example)").into_string().contains("fill=\"#888888\""));
    }
}
