//! Views for reading a part of a universe: summary, bodies, groups, positions, by id or page by page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skald_domain::universe::{BodyRow, BodyView, GroupRow, Id, Number, Placed, Snapshot, Star, Summary, UniverseState};

use super::access::FoundUniverse;
use crate::list_page::{bad_cursor, page_limit};
use crate::{Code, Fault, input, limits, short};

/// Maximum children of a body or group in a list; the view `body` pages through all of them.
const CHILDREN_SHOWN: usize = limits::PAGE_DEFAULT;
/// Maximum ids that are searched for the nearest one to an unknown id.
const NEAREST_AMONG: usize = 2_000;

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
    fn word(self) -> &'static str {
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
    fn takes(self) -> &'static [&'static str] {
        match self {
            Self::Full | Self::Summary => &[],
            Self::Bodies | Self::Groups => &["ids", "cursor", "limit"],
            Self::Body | Self::Positions => &["ids", "cursor", "limit", "t"],
        }
    }
}

/// The parameters of a read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Ask<'a> {
    pub view: Option<View>,
    pub ids: Option<&'a [String]>,
    pub cursor: Option<&'a str>,
    pub limit: Option<usize>,
    pub t: Option<f64>,
}

impl Ask<'_> {
    /// The view to read. Refuses parameters that the view does not take.
    fn view(&self) -> Result<View, Fault> {
        let view = self.view.unwrap_or(if self.ids.is_some() { View::Bodies } else { View::Full });
        let given = [
            ("ids", self.ids.is_some()),
            ("cursor", self.cursor.is_some()),
            ("limit", self.limit.is_some()),
            ("t", self.t.is_some()),
        ];
        let is_odd = |(field, is_given): &(&str, bool)| *is_given && !view.takes().contains(field);
        if let Some((field, _)) = given.into_iter().find(is_odd) {
            let message = match self.view {
                None if self.ids.is_none() => format!("{field} goes with a view, and none is given"),
                _ => format!("the view {} takes no {field}", view.word()),
            };
            let hint = match view.takes() {
                [] => format!("leave it out, or choose a view that takes {field}"),
                taken => format!("leave it out; it takes {}", taken.join(", ")),
            };
            return Err(Fault::new(Code::InvalidParams, message).at(format!("/{field}")).hint(hint));
        }
        let Some(ids) = self.ids else { return Ok(view) };
        let paged = [("cursor", self.cursor.is_some()), ("limit", self.limit.is_some())];
        if let Some((field, _)) = paged.into_iter().find(|(_, is_given)| *is_given && view != View::Body) {
            let fault = Fault::new(Code::InvalidParams, format!("{field} does not go with ids"));
            return Err(fault.at(format!("/{field}")).hint("leave one of them out: ids are answered at once"));
        }
        if ids.is_empty() || ids.len() > limits::PAGE_MAX {
            let message = format!("ids has {} entries, allowed: 1 to {}", ids.len(), limits::PAGE_MAX);
            return Err(Fault::new(Code::InvalidParams, message).at("/ids").hint("leave it out for all, page by page"));
        }
        Ok(view)
    }
}

/// A part of a universe, and how far the universe was when it was read.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Part {
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
    #[schemars(with = "Option<Map<String, Value>>")]
    summary: Option<Summary>,
    /// One body with those around it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    body: Option<Box<BodyView>>,
    /// Bodies, groups or positions, by id.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<Map<String, Value>>>")]
    items: Option<Items>,
    /// How many there are in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    /// Send it as cursor for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Items {
    Bodies(Vec<BodyRow>),
    Groups(Vec<GroupRow>),
    Positions(Vec<Placed>),
}

/// The part to read; `None` for the whole state.
pub(super) fn part(found_universe: &FoundUniverse, ask: &Ask<'_>) -> Result<Option<Part>, Fault> {
    narrowed(found_universe, ask).map_err(|fault| fault.universe(&found_universe.universe_id))
}

fn narrowed(found_universe: &FoundUniverse, ask: &Ask<'_>) -> Result<Option<Part>, Fault> {
    let view = ask.view()?;
    if view == View::Full {
        return Ok(None);
    }
    let universe = found_universe.universe()?;
    let (state, snapshot) = (universe.state(), universe.state().snapshot());
    let limit = page_limit(ask.limit)?;
    let mut part = Part {
        universe_id: found_universe.universe_id.clone(),
        revision: found_universe.committed.revision(),
        view,
        time: None,
        summary: None,
        body: None,
        items: None,
        total: None,
        next_cursor: None,
    };
    match view {
        View::Full => return Ok(None),
        View::Summary => part.summary = Some(state.summary()),
        View::Body => one(state, ask, limit, &mut part)?,
        View::Bodies => {
            let page = ViewPage::of(ask, "bodies", limit)?;
            let stars = match ask.ids {
                Some(ids) => bodies_of(snapshot, ids)?,
                None => snapshot.bodies_after(page.after).take(limit + 1).collect(),
            };
            let stars = page.cut(stars, |star| &star.id, &mut part);
            part.items = Some(Items::Bodies(stars.iter().map(|star| BodyRow::of(star, CHILDREN_SHOWN)).collect()));
            part.total = Some(snapshot.bodies().len());
        }
        View::Groups => {
            let page = ViewPage::of(ask, "groups", limit)?;
            let groups = match ask.ids {
                Some(ids) => found(ids, |id| snapshot.group(id), |id| no_group(snapshot, id))?,
                None => snapshot.groups_after(page.after).take(limit + 1).collect(),
            };
            let groups = page.cut(groups, |group| &group.id, &mut part);
            part.items = Some(Items::Groups(groups.iter().map(|group| GroupRow::of(group, CHILDREN_SHOWN)).collect()));
            part.total = Some(snapshot.groups().len());
        }
        View::Positions => positions(state, ask, limit, &mut part)?,
    }
    Ok(Some(part))
}

/// One body, with a page of its children.
fn one(state: &UniverseState, ask: &Ask<'_>, limit: usize, part: &mut Part) -> Result<(), Fault> {
    let Some([id]) = ask.ids else {
        let fault = Fault::new(Code::InvalidParams, "the view body is of one body");
        return Err(fault.at("/ids").hint("send its id as the only one of ids; the view bodies takes several"));
    };
    let snapshot = state.snapshot();
    let Some(star) = snapshot.body(id) else { return Err(no_body(snapshot, id).at("/ids/0")) };
    // The cursor is the id of a child, so it stays valid if other children come or go.
    let list = format!("children:{id}");
    let page = ViewPage::of(ask, &list, limit)?;
    let is_child = |after: &str| snapshot.body(after).is_some_and(|child| child.parent_id.as_ref() == Some(&star.id));
    if let Some(after) = page.after.filter(|after| !is_child(after)) {
        let fault = Fault::new(Code::InvalidParams, format!("{:?} is no child of {:?}", short(after), short(id)));
        return Err(fault.at("/cursor").hint("it has gone since; begin again without a cursor"));
    }
    let view = state.body(id, ask.t, page.after, limit);
    part.next_cursor = view.as_ref().and_then(|view| view.next_child_after.as_ref()).map(|id| format!("{list}:{id}"));
    part.body = view.map(Box::new);
    Ok(())
}

/// The positions of bodies. All pages have the time of the first one.
fn positions(state: &UniverseState, ask: &Ask<'_>, limit: usize, part: &mut Part) -> Result<(), Fault> {
    let snapshot = state.snapshot();
    let begun = ask.cursor.map(|cursor| begun_at(cursor).ok_or_else(|| bad_cursor(cursor))).transpose()?;
    let time = match (begun, ask.t) {
        (Some(begun), Some(t)) if begun.to_bits() != t.to_bits() => {
            let fault = Fault::new(Code::InvalidParams, format!("t is {t}, and the pages began at {begun}"));
            return Err(fault.at("/t").hint("leave it out with a cursor, or begin again without one"));
        }
        (begun, t) => begun.or(t).unwrap_or_else(|| state.time()),
    };
    let list = format!("positions:{time:e}");
    let page = ViewPage::of(ask, &list, limit)?;
    let stars = match ask.ids {
        Some(ids) => bodies_of(snapshot, ids)?,
        None => snapshot.bodies_after(page.after).take(limit + 1).collect(),
    };
    let stars = page.cut(stars, |star| &star.id, part);
    part.items = Some(Items::Positions(snapshot.placed(stars.into_iter(), time).collect()));
    part.total = Some(snapshot.bodies().len());
    part.time = Some(Number(time));
    Ok(())
}

/// The time in a cursor of positions.
fn begun_at(cursor: &str) -> Option<f64> {
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
    fn of(ask: &Ask<'a>, list: &'a str, limit: usize) -> Result<Self, Fault> {
        let after = ask.cursor.map(|cursor| {
            let after = cursor.strip_prefix(list).and_then(|rest| rest.strip_prefix(':'));
            after.ok_or_else(|| bad_cursor(cursor))
        });
        let is_paged = ask.ids.is_none();
        Ok(Self { list, after: after.transpose()?, limit: is_paged.then_some(limit) })
    }

    /// Cuts the rows, of which there may be one too many, to the page, and sets the cursor of the next page.
    fn cut<'r, T>(&self, mut rows: Vec<&'r T>, id: impl Fn(&T) -> &Id, part: &mut Part) -> Vec<&'r T> {
        if let Some(limit) = self.limit.filter(|limit| rows.len() > *limit) {
            rows.truncate(limit);
            part.next_cursor = rows.last().map(|row| format!("{}:{}", self.list, id(row)));
        }
        rows
    }
}

fn bodies_of<'a>(snapshot: &'a Snapshot, ids: &[String]) -> Result<Vec<&'a Star>, Fault> {
    found(ids, |id| snapshot.body(id), |id| no_body(snapshot, id))
}

/// Looks up things by id, in the order of the ids. A missing one is a fault.
fn found<'a, T>(
    ids: &[String],
    get: impl Fn(&str) -> Option<&'a T>,
    missing: impl Fn(&str) -> Fault,
) -> Result<Vec<&'a T>, Fault> {
    let each = ids.iter().enumerate();
    each.map(|(number, id)| get(id).ok_or_else(|| missing(id).at(format!("/ids/{number}")))).collect()
}

fn no_body(snapshot: &Snapshot, id: &str) -> Fault {
    if snapshot.group(id).is_some() {
        return absent("body", id, "it is a group: the view groups has it".to_owned());
    }
    let things = || snapshot.bodies().iter().take(NEAREST_AMONG);
    let named = things().find(|(_, star)| star.name.trim().eq_ignore_ascii_case(id.trim())).map(|(id, _)| &**id);
    absent("body", id, meant(id, named, things().map(|(id, _)| id), "bodies"))
}

fn no_group(snapshot: &Snapshot, id: &str) -> Fault {
    if snapshot.body(id).is_some() {
        return absent("group", id, "it is a body: the view bodies has it".to_owned());
    }
    let things = || snapshot.groups().iter().take(NEAREST_AMONG);
    let named = things().find(|(_, group)| group.name.trim().eq_ignore_ascii_case(id.trim())).map(|(id, _)| &**id);
    absent("group", id, meant(id, named, things().map(|(id, _)| id), "groups"))
}

/// A hint with the id that was probably meant: that of the thing with this name, or the nearest.
fn meant<'a>(given: &str, named: Option<&str>, ids: impl Iterator<Item = &'a Id>, view: &str) -> String {
    let ids: Vec<&str> = ids.map(|id| &**id).collect();
    match named.or_else(|| input::nearest(given, &ids)) {
        Some(id) => format!("did you mean {:?}? the view {view} lists them all", short(id)),
        None => format!("the view {view} lists those that are there"),
    }
}

fn absent(thing: &str, id: &str, hint: String) -> Fault {
    let fault = Fault::new(Code::NotFound, format!("there is no {thing} {:?} in this universe", short(id)));
    fault.value(&id.into()).hint(hint)
}
