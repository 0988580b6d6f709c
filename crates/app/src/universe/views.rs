//! Views for reading a part of a universe: summary, bodies, groups, positions, by id or page by page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skald_domain::universe::{
    BodyPosition, BodyRow, BodyView, GroupRow, Id, Number, Snapshot, Star, Summary, UniverseState, days,
};

use super::access::FoundUniverse;
use super::nearest_id::{did_you_mean, nearest_body_ids, nearest_group_ids};
use crate::list_page::{check_page_limit, invalid_cursor_fault};
use crate::method_fields::MethodFields;
use crate::{Code, Fault, limits, truncate_for_message};

/// Maximum children of a body or group in a list; the view `body` pages through all of them.
const CHILDREN_SHOWN: usize = limits::PAGE_DEFAULT;

/// What to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum View {
    Full,
    Summary,
    Bodies,
    Body,
    Groups,
    Positions,
}

impl View {
    fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Summary => "summary",
            Self::Bodies => "bodies",
            Self::Body => "body",
            Self::Groups => "groups",
            Self::Positions => "positions",
        }
    }

    /// The input fields of the view.
    fn fields(self) -> MethodFields {
        let takes: &[&str] = match self {
            Self::Full | Self::Summary => &[],
            Self::Bodies | Self::Groups => &["ids", "cursor", "limit"],
            Self::Body | Self::Positions => &["ids", "cursor", "limit", "t"],
        };
        MethodFields { method: self.as_str(), takes }
    }
}

/// The parameters of a read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ViewRequest<'a> {
    pub view: Option<View>,
    pub ids: Option<&'a [String]>,
    pub cursor: Option<&'a str>,
    pub limit: Option<usize>,
    pub t: Option<f64>,
}

impl ViewRequest<'_> {
    /// The view to read. Refuses parameters that the view does not take.
    fn checked_view(&self) -> Result<View, Fault> {
        let view = self.view.unwrap_or(if self.ids.is_some() { View::Bodies } else { View::Full });
        let given = [
            ("ids", self.ids.is_some()),
            ("cursor", self.cursor.is_some()),
            ("limit", self.limit.is_some()),
            ("t", self.t.is_some()),
        ];
        let fields = view.fields();
        if let Some(field) = fields.find_unexpected(&given) {
            let message = match self.view {
                None if self.ids.is_none() => format!("{field} goes with a view, and none is given"),
                _ => format!("the view {} takes no {field}", fields.method),
            };
            let hint = match fields.takes {
                [] => format!("leave it out, or choose a view that takes {field}"),
                takes => format!("leave it out; it takes {}", takes.join(", ")),
            };
            return Err(Fault::new(Code::InvalidParams, message).with_path(format!("/{field}")).hint(hint));
        }
        let Some(ids) = self.ids else { return Ok(view) };
        let paged = [("cursor", self.cursor.is_some()), ("limit", self.limit.is_some())];
        if let Some((field, _)) = paged.into_iter().find(|(_, is_given)| *is_given && view != View::Body) {
            let fault = Fault::new(Code::InvalidParams, format!("{field} does not go with ids"));
            return Err(fault.with_path(format!("/{field}")).hint("leave one of them out: ids are answered at once"));
        }
        if ids.is_empty() || ids.len() > limits::PAGE_MAX {
            let message = format!("ids has {} entries, allowed: 1 to {}", ids.len(), limits::PAGE_MAX);
            return Err(Fault::new(Code::InvalidParams, message)
                .with_path("/ids")
                .hint("leave it out for all, page by page"));
        }
        Ok(view)
    }
}

/// A part of a universe, and how far the universe was when it was read.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct StatePart {
    universe_id: String,
    /// How often it was changed.
    revision: u64,
    #[schemars(with = "String")]
    view: View,
    /// Simulated seconds; with positions, when they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>")]
    time: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>")]
    time_days: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    summary: Option<Summary>,
    /// One body with those around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    body: Option<Box<BodyView>>,
    /// Bodies, groups or positions, by id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Map<String, Value>>>")]
    items: Option<ViewRows>,
    /// How many there are in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    /// Send it as cursor for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ViewRows {
    Bodies(Vec<BodyRow>),
    Groups(Vec<GroupRow>),
    Positions(Vec<BodyPosition>),
}

/// The part to read; `None` for the whole state.
pub(super) fn read_part(found_universe: &FoundUniverse, ask: &ViewRequest<'_>) -> Result<Option<StatePart>, Fault> {
    try_read_part(found_universe, ask).map_err(|fault| fault.universe(&found_universe.universe_id))
}

fn try_read_part(found_universe: &FoundUniverse, ask: &ViewRequest<'_>) -> Result<Option<StatePart>, Fault> {
    let view = ask.checked_view()?;
    if view == View::Full {
        return Ok(None);
    }
    let universe = found_universe.universe()?;
    let (state, snapshot) = (universe.state(), universe.state().snapshot());
    let limit = check_page_limit(ask.limit)?;
    let mut part = StatePart {
        universe_id: found_universe.universe_id.clone(),
        revision: found_universe.committed.revision(),
        view,
        time: None,
        time_days: None,
        summary: None,
        body: None,
        items: None,
        total: None,
        next_cursor: None,
    };
    match view {
        View::Full => return Ok(None),
        View::Summary => part.summary = Some(state.summary()),
        View::Body => read_body(state, ask, limit, &mut part)?,
        View::Bodies => {
            let page = ViewPage::new(ask, "bodies", limit)?;
            let stars = match ask.ids {
                Some(ids) => find_bodies(snapshot, ids)?,
                None => snapshot.bodies_after(page.after).take(limit + 1).collect(),
            };
            let stars = page.cut_to_page(stars, |star| &star.id, &mut part);
            part.items = Some(ViewRows::Bodies(stars.iter().map(|star| BodyRow::new(star, CHILDREN_SHOWN)).collect()));
            part.total = Some(snapshot.bodies().len());
        }
        View::Groups => {
            let page = ViewPage::new(ask, "groups", limit)?;
            let groups = match ask.ids {
                Some(ids) => find_all(ids, |id| snapshot.group(id), |id| no_group_fault(snapshot, id))?,
                None => snapshot.groups_after(page.after).take(limit + 1).collect(),
            };
            let groups = page.cut_to_page(groups, |group| &group.id, &mut part);
            part.items =
                Some(ViewRows::Groups(groups.iter().map(|group| GroupRow::new(group, CHILDREN_SHOWN)).collect()));
            part.total = Some(snapshot.groups().len());
        }
        View::Positions => read_positions(state, ask, limit, &mut part)?,
    }
    Ok(Some(part))
}

/// One body, with a page of its children.
fn read_body(state: &UniverseState, ask: &ViewRequest<'_>, limit: usize, part: &mut StatePart) -> Result<(), Fault> {
    let Some([id]) = ask.ids else {
        let fault = Fault::new(Code::InvalidParams, "the view body is of one body");
        return Err(fault.with_path("/ids").hint("send its id as the only one of ids; the view bodies takes several"));
    };
    let snapshot = state.snapshot();
    let Some(star) = snapshot.body(id) else { return Err(no_body_fault(snapshot, id).with_path("/ids/0")) };
    // The cursor is the id of a child, so it stays valid if other children come or go.
    let list = format!("children:{id}");
    let page = ViewPage::new(ask, &list, limit)?;
    let is_child = |after: &str| snapshot.body(after).is_some_and(|child| child.parent_id.as_ref() == Some(&star.id));
    if let Some(after) = page.after.filter(|after| !is_child(after)) {
        let fault = Fault::new(
            Code::InvalidParams,
            format!("{:?} is no child of {:?}", truncate_for_message(after), truncate_for_message(id)),
        );
        return Err(fault.with_path("/cursor").hint("it has gone since; begin again without a cursor"));
    }
    let view = state.body_view(id, ask.t, page.after, limit);
    part.next_cursor = view.as_ref().and_then(|view| view.next_child_after.as_ref()).map(|id| format!("{list}:{id}"));
    part.body = view.map(Box::new);
    Ok(())
}

/// The positions of bodies. All pages have the time of the first one.
fn read_positions(
    state: &UniverseState,
    ask: &ViewRequest<'_>,
    limit: usize,
    part: &mut StatePart,
) -> Result<(), Fault> {
    let snapshot = state.snapshot();
    let begun = ask.cursor.map(|cursor| cursor_time(cursor).ok_or_else(|| invalid_cursor_fault(cursor))).transpose()?;
    let time = match (begun, ask.t) {
        (Some(begun), Some(t)) if begun.to_bits() != t.to_bits() => {
            let fault = Fault::new(Code::InvalidParams, format!("t is {t}, and the pages began at {begun}"));
            return Err(fault.with_path("/t").hint("leave it out with a cursor, or begin again without one"));
        }
        (begun, t) => begun.or(t).unwrap_or_else(|| state.time()),
    };
    let list = format!("positions:{time:e}");
    let page = ViewPage::new(ask, &list, limit)?;
    let stars = match ask.ids {
        Some(ids) => find_bodies(snapshot, ids)?,
        None => snapshot.bodies_after(page.after).take(limit + 1).collect(),
    };
    let stars = page.cut_to_page(stars, |star| &star.id, part);
    part.items = Some(ViewRows::Positions(snapshot.world_positions_of(stars.into_iter(), time).collect()));
    part.total = Some(snapshot.bodies().len());
    (part.time, part.time_days) = (Some(Number(time)), Some(days(time)));
    Ok(())
}

/// The time in a cursor of positions.
fn cursor_time(cursor: &str) -> Option<f64> {
    let (time, _) = cursor.strip_prefix("positions:")?.split_once(':')?;
    time.parse().ok().filter(|time: &f64| time.is_finite())
}

/// One page of a list. Its cursor names the list and the last row of the page before, which may have been removed
/// since.
struct ViewPage<'a> {
    list: &'a str,
    after: Option<&'a str>,
    /// `None` for a read by ids, which has no pages.
    limit: Option<usize>,
}

impl<'a> ViewPage<'a> {
    fn new(ask: &ViewRequest<'a>, list: &'a str, limit: usize) -> Result<Self, Fault> {
        let after = ask.cursor.map(|cursor| {
            let after = cursor.strip_prefix(list).and_then(|rest| rest.strip_prefix(':'));
            after.ok_or_else(|| invalid_cursor_fault(cursor))
        });
        let is_paged = ask.ids.is_none();
        Ok(Self { list, after: after.transpose()?, limit: is_paged.then_some(limit) })
    }

    /// Cuts the rows, of which there may be one too many, to the page, and sets the cursor of the next page.
    fn cut_to_page<'r, T>(&self, mut rows: Vec<&'r T>, id: impl Fn(&T) -> &Id, part: &mut StatePart) -> Vec<&'r T> {
        if let Some(limit) = self.limit.filter(|limit| rows.len() > *limit) {
            rows.truncate(limit);
            part.next_cursor = rows.last().map(|row| format!("{}:{}", self.list, id(row)));
        }
        rows
    }
}

fn find_bodies<'a>(snapshot: &'a Snapshot, ids: &[String]) -> Result<Vec<&'a Star>, Fault> {
    find_all(ids, |id| snapshot.body(id), |id| no_body_fault(snapshot, id))
}

/// Looks up things by id, in the order of the ids. A missing one is a fault.
fn find_all<'a, T>(
    ids: &[String],
    get: impl Fn(&str) -> Option<&'a T>,
    missing: impl Fn(&str) -> Fault,
) -> Result<Vec<&'a T>, Fault> {
    let each = ids.iter().enumerate();
    each.map(|(number, id)| get(id).ok_or_else(|| missing(id).with_path(format!("/ids/{number}")))).collect()
}

fn no_body_fault(snapshot: &Snapshot, id: &str) -> Fault {
    if snapshot.group(id).is_some() {
        return absent_fault("body", id, "it is a group: the view groups has it".to_owned());
    }
    absent_fault("body", id, did_you_mean_hint(&nearest_body_ids(snapshot, id), "bodies"))
}

fn no_group_fault(snapshot: &Snapshot, id: &str) -> Fault {
    if snapshot.body(id).is_some() {
        return absent_fault("group", id, "it is a body: the view bodies has it".to_owned());
    }
    absent_fault("group", id, did_you_mean_hint(&nearest_group_ids(snapshot, id), "groups"))
}

fn did_you_mean_hint(ids: &[&str], view: &str) -> String {
    match did_you_mean(ids) {
        Some(meant) => format!("{meant} the view {view} lists them all"),
        None => format!("the view {view} lists those that are there"),
    }
}

fn absent_fault(thing: &str, id: &str, hint: String) -> Fault {
    let fault =
        Fault::new(Code::NotFound, format!("there is no {thing} {:?} in this universe", truncate_for_message(id)));
    fault.value(&id.into()).hint(hint)
}
