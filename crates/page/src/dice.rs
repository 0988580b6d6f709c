//! `/dice`: an odds explorer. One expression or two, exactly, at least or at most; the address reproduces it.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};
use skald_app::Fault;

use crate::SharedContext;
use crate::components::{encode, fault_box, percent};
use crate::extractors::PageQuery;
use crate::inline_picture::picture_response;
use crate::layout::{MainPart, PageLayout, html_response};
use crate::middleware::PageError;
use crate::visitor::Visitor;

/// Expressions that show what can be written.
const EXAMPLES: [&str; 6] = ["duality(+2, dc 14)", "2d20kh1+5 >= 15", "4d6kh3", "5d10cs>=8", "3d6!", "2d6+3 vs 1d20"];

#[derive(Debug, Deserialize)]
pub(crate) struct DiceQuery {
    #[serde(default)]
    e: String,
    #[serde(default)]
    e2: String,
    #[serde(default)]
    mode: String,
}

impl DiceQuery {
    fn mode(&self) -> &'static str {
        match self.mode.as_str() {
            "at_least" => "at_least",
            "at_most" => "at_most",
            "exactly" => "exactly",
            _ => "",
        }
    }

    fn against(&self) -> Option<&str> {
        Some(self.e2.trim()).filter(|text| !text.is_empty())
    }

    /// The query of an address that shows the same.
    fn link(&self) -> String {
        let mut query = format!("?e={}", encode(self.e.trim()));
        if let Some(against) = self.against() {
            query.push_str("&e2=");
            query.push_str(&encode(against));
        }
        if !self.mode().is_empty() {
            query.push_str("&mode=");
            query.push_str(self.mode());
        }
        query
    }
}

/// `GET /dice?e=&e2=&mode=`.
pub(crate) async fn show(
    State(context): State<SharedContext>,
    PageQuery(query): PageQuery<DiceQuery>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let found = if query.e.trim().is_empty() {
        None
    } else {
        let input = json!({"expression": query.e.trim(), "against": query.against(), "detail": "table"});
        Some(context.read::<Value>(&visitor.caller, "odds", input).await)
    };
    let results = results(&query, found.as_ref());
    if visitor.browser.wants_fragment {
        return Ok(html_response(results));
    }
    let layout = PageLayout::for_visitor("Dice", &visitor).part(MainPart::Dice);
    Ok(layout.render(html! {
        div.stack {
            h1 { "Odds" }
            (form(&query))
            div #results aria-live="polite" { (results) }
        }
    }))
}

fn form(query: &DiceQuery) -> Markup {
    let field = |name: &str, label: &str, value: &str, placeholder: &str| {
        html! {
            div.field.grow {
                label for=(name) { (label) }
                input id=(name) name=(name) value=(value) placeholder=(placeholder) autocomplete="off" spellcheck="false" autocapitalize="off";
            }
        }
    };
    html! {
        form.card #dice method="get" action="/dice" hx-get="/dice" hx-target="#results" hx-replace-url="true"
            hx-trigger="submit, input delay:200ms" {
            div.roll-line {
                (field("e", "Dice", &query.e, "2d6+3"))
                (field("e2", "Compared with", &query.e2, "another expression"))
            }
            div.roll-line {
                fieldset.choices {
                    legend.label { "The bars stand for" }
                    @for (value, title) in [("", "best view"), ("exactly", "exactly"), ("at_least", "at least"), ("at_most", "at most")] {
                        label.choice { input type="radio" name="mode" value=(value) checked[query.mode() == value]; (title) }
                    }
                }
                button.primary { "Show" }
            }
        }
    }
}

fn results(query: &DiceQuery, found: Option<&Result<Value, Fault>>) -> Markup {
    html! {
        @match found {
            None => section.card {
                h2 { "Try one" }
                ul.examples { @for example in EXAMPLES { li { a.button href={ "/dice?e=" (encode(example)) } { code { (example) } } } } }
                p.muted { "Keep, drop, explode, reroll, count, compare, repeat, and Duality dice. Every chance is counted, none is estimated." }
            },
            Some(Err(fault)) => (fault_box(fault)),
            Some(Ok(odds)) => (answer(query, odds)),
        }
    }
}

fn answer(query: &DiceQuery, odds: &Value) -> Markup {
    let text = |field: &str| odds.get(field).and_then(Value::as_str).unwrap_or_default();
    let link = query.link();
    html! {
        div.dice-answer {
            section.card {
                // The three large figures below say the same.
                p.odds-summary.visually-hidden[odds.get("compared").is_some()] { strong { (text("summary")) } }
                (comparison(odds))
                figure {
                    img.chart data-themed src={ "/dice/odds.svg" (link) } width="720" height="420"
                        alt={ "The odds of " (query.e) @if let Some(against) = query.against() { " and of " (against) } ": " (text("summary")) };
                }
                p.muted { a href={ "/dice" (link) } { "Link to this" } }
            }
            (table(odds))
        }
    }
}

fn chance(value: &Value, field: &str) -> Option<f64> {
    value.get(field)?.get("decimal")?.as_f64()
}

/// How two expressions compare, as one bar.
fn comparison(odds: &Value) -> Markup {
    html! {
        @if let Some(compared) = odds.get("compared") {
            @let parts = [("higher", "first is higher"), ("equal", "equal"), ("lower", "second is higher")];
            dl.compared {
                @for (field, title) in parts {
                    div class={ "compared-" (field) } {
                        dt { (title) } dd { (percent(chance(compared, field).unwrap_or_default())) }
                    }
                }
            }
        }
    }
}

fn table(odds: &Value) -> Markup {
    let values = odds.get("values").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    html! {
        @if !values.is_empty() {
            details.card open[values.len() <= 24] {
                summary { "Every value" }
                div.scroll tabindex="0" role="region" aria-label="Every value" {
                    table.numbers {
                        thead { tr { th scope="col" { "Total" } th scope="col" { "Exactly" } th scope="col" { "At least" } th scope="col" { "At most" } } }
                        tbody {
                            @for row in values {
                                tr {
                                    th scope="row" { (row.get("value").and_then(Value::as_i64).unwrap_or_default()) }
                                    @for field in ["exactly", "at_least", "at_most"] {
                                        td { (percent(chance(row, field).unwrap_or_default())) }
                                    }
                                }
                            }
                        }
                    }
                }
                @if odds.get("truncated").and_then(Value::as_bool) == Some(true) {
                    p.muted { "The values in the middle are shown." }
                }
            }
        }
    }
}

#[derive(Debug, Deserialize)]
struct PictureAnswer {
    text: String,
}

/// `GET /dice/odds.svg?e=&e2=&mode=`.
pub(crate) async fn picture(
    State(context): State<SharedContext>,
    PageQuery(query): PageQuery<DiceQuery>,
    visitor: Visitor,
) -> Result<Response, PageError> {
    let mut input = json!({"expression": query.e.trim(), "against": query.against()});
    if !query.mode().is_empty() {
        input["mode"] = query.mode().into();
    }
    if let Some(theme) = visitor.browser.theme.attribute() {
        input["theme"] = theme.into();
    }
    let picture: PictureAnswer = context.read(&visitor.caller, "odds_picture", input).await?;
    Ok(picture_response(picture.text))
}
