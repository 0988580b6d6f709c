//! Reads the parts of the page of a universe from the engine.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::json;
use skald_app::{Class, Code, Fault, limits};

use crate::PageContext;
use crate::campaign_place::CampaignPlace;
use crate::visitor::Visitor;

/// Seconds of a day, as universes count them.
pub(super) const DAY_SECONDS: f64 = 86_400.0;

#[derive(Debug, Clone, Deserialize)]
pub(super) struct UniverseRow {
    pub id: String,
    pub name: String,
    #[serde(alias = "campaignId")]
    pub campaign_id: Option<String>,
    #[serde(alias = "updatedAt")]
    pub updated_at: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct UniverseList {
    universes: Vec<UniverseRow>,
    next_cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
struct SummaryPart {
    summary: UniverseSummary,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UniverseSummary {
    pub time: f64,
    pub body_count: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BodyList {
    pub items: Vec<ListedBody>,
    pub next_cursor: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListedBody {
    pub id: String,
    pub name: String,
    pub kind: String,
    pub color: String,
    pub parent_id: Option<String>,
    pub orbital_period_days: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct BodyPart {
    body: BodyAnswer,
}

/// One body and those around it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BodyAnswer {
    pub body: BodyFields,
    pub kind: String,
    pub parent: Option<Neighbour>,
    pub child_count: u64,
    #[serde(default)]
    pub children: Vec<Neighbour>,
    pub world_position: Coordinates,
    pub orbital_period_days: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BodyFields {
    pub id: String,
    pub name: String,
    pub color: String,
    pub mass: f64,
    pub radius: f64,
    #[serde(default)]
    pub orbital_distance: f64,
    pub semi_major_axis: Option<f64>,
    pub eccentricity: Option<f64>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Neighbour {
    pub id: String,
    pub name: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Coordinates {
    pub x: f64,
    pub y: f64,
    pub z: f64,
}

#[derive(Debug, Deserialize)]
struct MapText {
    text: String,
}

/// A universe at a moment, as a visitor sees it.
pub(super) struct UniverseAnswers {
    pub universe: UniverseRow,
    pub summary: UniverseSummary,
    pub bodies: BodyList,
    pub selected: Option<BodyAnswer>,
    /// The moment that is shown, in simulated seconds.
    pub time: f64,
    /// Whether the moment is the universe's own time.
    pub is_now: bool,
}

impl PageContext {
    /// The universes of a campaign, or those without one, from a cursor on, and the cursor of the next page.
    pub(super) async fn universes_of(
        &self,
        visitor: &Visitor,
        campaign_id: Option<&str>,
        limit: usize,
        cursor: Option<&str>,
    ) -> Result<(Vec<UniverseRow>, Option<String>), Fault> {
        // An empty id means the universes without a campaign.
        let campaign_id = campaign_id.unwrap_or_default();
        let mut input = json!({"view": "universes", "campaignId": campaign_id, "limit": limit});
        if let Some(cursor) = cursor {
            input["cursor"] = json!(cursor);
        }
        let page: UniverseList = self.read(&visitor.caller, "universe_read", input).await?;
        Ok((page.universes, page.next_cursor))
    }

    /// One universe of a campaign, or one without a campaign. `NOT_FOUND` for a universe of another campaign.
    pub(super) async fn universe_of(
        &self,
        visitor: &Visitor,
        place: &CampaignPlace,
        universe_id: &str,
    ) -> Result<UniverseRow, Fault> {
        let input = json!({"view": "universes", "universeId": universe_id});
        let found: Result<UniverseList, Fault> = self.read(&visitor.caller, "universe_read", input).await;
        let universes = match found {
            Ok(found) => found.universes,
            Err(fault) if fault.class() == Class::NotFound => Vec::new(),
            Err(fault) => return Err(fault),
        };
        let is_here = |universe: &UniverseRow| universe.campaign_id.as_deref() == place.campaign_id();
        universes.into_iter().find(is_here).ok_or_else(|| {
            let message = match place.campaign_id() {
                Some(_) => "there is no such universe in this campaign",
                None => "there is no such universe without a campaign",
            };
            let fault = Fault::new(Code::NotFound, message);
            fault.hint("the list has those that are")
        })
    }

    /// A universe at a moment, with one body if it is named.
    pub(super) async fn read_universe(
        &self,
        visitor: &Visitor,
        universe: UniverseRow,
        time: Option<f64>,
        body_id: Option<&str>,
        cursor: Option<&str>,
    ) -> Result<UniverseAnswers, Fault> {
        let (caller, id) = (&visitor.caller, universe.id.as_str());
        let input = json!({"view": "summary", "universeId": id});
        let SummaryPart { summary } = self.read(caller, "universe_read", input).await?;
        let mut input = json!({"view": "bodies", "universeId": id, "limit": limits::PAGE_MAX});
        if let Some(cursor) = cursor {
            input["cursor"] = json!(cursor);
        }
        let mut bodies: BodyList = self.read(caller, "universe_read", input).await?;
        bodies.items = order_by_parent(&bodies.items);
        let is_now = time.is_none_or(|time| time.to_bits() == summary.time.to_bits());
        let time = time.unwrap_or(summary.time);
        let selected = match body_id {
            Some(body_id) => {
                let input = json!({"view": "body", "universeId": id, "bodyId": body_id, "t": time});
                let BodyPart { body } = self.read(caller, "universe_read", input).await?;
                Some(body)
            }
            None => None,
        };
        Ok(UniverseAnswers { universe, summary, bodies, selected, time, is_now })
    }

    /// The map of a universe at a moment, as SVG.
    pub(super) async fn draw_map(&self, visitor: &Visitor, universe_id: &str, time: f64) -> Result<String, Fault> {
        let input = json!({"universeId": universe_id, "t": time});
        let MapText { text } = self.read(&visitor.caller, "universe_map", input).await?;
        Ok(text)
    }
}

/// Each body before those that move around it, the nearest of them first. Bodies whose parent is on another page come
/// last.
fn order_by_parent(bodies: &[ListedBody]) -> Vec<ListedBody> {
    let is_here = |id: &str| bodies.iter().any(|body| body.id == id);
    let is_root = |body: &ListedBody| body.parent_id.as_deref().is_none_or(|parent| !is_here(parent));
    let period = |body: &ListedBody| body.orbital_period_days.map_or(0.0, f64::abs);
    let mut by_period: Vec<&ListedBody> = bodies.iter().collect();
    by_period.sort_by(|one, other| period(one).total_cmp(&period(other)));
    let mut children: BTreeMap<&str, Vec<&ListedBody>> = BTreeMap::new();
    for body in by_period.iter().filter(|body| !is_root(body)) {
        children.entry(body.parent_id.as_deref().unwrap_or_default()).or_default().push(body);
    }
    let mut waiting: Vec<&ListedBody> = by_period.into_iter().filter(|body| is_root(body)).rev().collect();
    let mut ordered = Vec::with_capacity(bodies.len());
    while let Some(body) = waiting.pop() {
        ordered.push(body.clone());
        waiting.extend(children.remove(body.id.as_str()).unwrap_or_default().into_iter().rev());
    }
    ordered
}

/// A kind of body in words.
pub(super) fn kind_words(kind: &str) -> String {
    match kind {
        "lagrangePoint" | "lagrange_point" => "Lagrange point".to_owned(),
        "blackHole" | "black_hole" => "black hole".to_owned(),
        "unspecified" => "body".to_owned(),
        other => other.to_owned(),
    }
}

/// A number as people read it: few digits, none that mean nothing.
pub(super) fn figure(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let size = number.abs();
    if !(0.001..1e7).contains(&size) {
        return format!("{number:.3e}");
    }
    let digits = if size >= 1_000.0 {
        0
    } else if size >= 10.0 {
        1
    } else {
        3
    };
    let text = format!("{number:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_stands_before_its_moons() {
        let body = |id: &str, parent: Option<&str>, days: f64| ListedBody {
            id: id.to_owned(),
            name: id.to_owned(),
            kind: "planet".to_owned(),
            color: "#fff".to_owned(),
            parent_id: parent.map(str::to_owned),
            orbital_period_days: Some(days),
        };
        let listed = [
            body("far", Some("sun"), 900.0),
            body("moon", Some("near"), 3.0),
            body("near", Some("sun"), 80.0),
            body("stray", Some("elsewhere"), 1.0),
            body("sun", None, 0.0),
        ];
        let ordered: Vec<String> = order_by_parent(&listed).into_iter().map(|body| body.id).collect();
        assert_eq!(ordered, ["sun", "near", "moon", "far", "stray"]);
    }

    #[test]
    fn figures_have_few_digits() {
        let shown = [0.0, 1.0, 0.0123, 365.26, 60_190.4, 1.5e12].map(figure);
        assert_eq!(shown, ["0", "1", "0.012", "365.3", "60190", "1.500e12"]);
        assert_eq!(figure(-2.5), "-2.5");
    }
}
