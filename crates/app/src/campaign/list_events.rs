//! `events_list`: the history of a campaign, read from its journal page by page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skald_domain::Moment;
use skald_domain::campaign::{CampaignEvent, People, describe_events};

use super::access::{EnteredCampaign, parse_id};
use super::tracker_lines::describe_changes;
use crate::list_page::{check_page_limit, invalid_cursor_fault};
use crate::redaction::Redaction;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, Fault, Operation, OperationKind, PermissionClass, Route, Toolset,
    limits,
};
use skald_journal::Record;

/// Journal records per read.
const RECORDS_PER_READ: usize = 500;

pub(super) struct EventsList;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum EventOrder {
    #[default]
    Newest,
    Oldest,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EventsListInput {
    /// The context's if left out.
    campaign_id: Option<String>,
    /// Only events of these types, or that begin so: roll, session., actor.added.v1.
    #[serde(default)]
    types: Vec<String>,
    /// Only events of this session.
    session_id: Option<String>,
    /// Only events about this actor.
    actor_id: Option<String>,
    /// From this time on: RFC 3339, or a day.
    from: Option<String>,
    /// Up to this time or day.
    to: Option<String>,
    /// One line for each event: revision, time, what happened.
    #[serde(default)]
    compact: bool,
    /// Only events by this principal.
    by: Option<String>,
    /// Only events after this revision.
    after_revision: Option<u64>,
    /// Newest first if left out.
    #[serde(default)]
    order: EventOrder,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
    /// Rows of a page.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<usize>,
}

/// An event with its place in the history.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct LoggedEvent {
    /// The command it belongs to; several events may share one. Guests do not get it.
    #[serde(rename = "revision", skip_serializing_if = "Option::is_none")]
    pub shown_revision: Option<u64>,
    pub at: Moment,
    pub by: String,
    pub event: CampaignEvent,
    /// The moment to its full precision.
    #[serde(skip)]
    pub recorded_at: jiff::Timestamp,
    #[serde(skip)]
    pub revision: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EventsListOutput {
    /// Left out in the compact form.
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<Vec<LoggedEvent>>,
    /// The compact form: revision, time and what happened. The whole event is the one after the revision before.
    #[serde(skip_serializing_if = "Option::is_none")]
    lines: Option<Vec<String>>,
    /// Where the history ends now. Guests do not get it.
    #[serde(skip_serializing_if = "Option::is_none")]
    revision: Option<u64>,
    /// Send it as cursor for the next page; absent on the last. A page may be short, or empty, and still have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Operation for EventsList {
    const NAME: &'static str = "events_list";
    const TITLE: &'static str = "List what happened";
    const SUMMARY: &'static str =
        "The history of a campaign, event by event, by type, session, actor, principal or time. Newest first.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Read;
    const LISTS: bool = true;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/campaigns/{campaign_id}/events")];
    type Input = EventsListInput;
    type Output = EventsListOutput;

    async fn run(app: &App, call: &Call<'_>, mut input: EventsListInput) -> Result<EventsListOutput, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        let limit = check_page_limit(input.limit)?;
        check_types(&input.types)?;
        let state = entered_campaign.state();
        input.session_id =
            entered_campaign.resolve_optional_id(call, "session_id", input.session_id.as_deref(), state.sessions())?;
        input.actor_id =
            entered_campaign.resolve_optional_id(call, "actor_id", input.actor_id.as_deref(), state.actors())?;
        let filter = EventFilter::from_input(&input)?;
        let revision = entered_campaign.shown_revision();
        if let (Some(after), None) = (input.after_revision, revision) {
            let fault = Fault::new(Code::Forbidden, "after_revision is for players, and you are a guest");
            return Err(fault.with_path("/after_revision").value(&after.into()).hint("send from, a time"));
        }
        let pages = EventPager {
            app,
            redaction: entered_campaign.redaction(call.caller),
            entered_campaign: &entered_campaign,
            order: input.order,
            after: input.after_revision.unwrap_or(0),
            last: entered_campaign.committed.revision(),
        };
        let from = match input.cursor.as_deref() {
            None => None,
            Some(cursor) => {
                let cursor =
                    EventCursor::decode(cursor, revision.is_some()).ok_or_else(|| invalid_cursor_fault(cursor))?;
                Some(cursor)
            }
        };
        let (mut events, next) = pages.read_page(from, limit, &filter, input.compact).await?;
        let next_cursor = next.map(EventCursor::encode);
        if revision.is_none() {
            for logged in &mut events {
                logged.shown_revision = None;
            }
        }
        let (events, lines) = if input.compact {
            let redaction = entered_campaign.redaction(call.caller);
            (None, Some(compact_lines(&events, &redaction.redact_people(entered_campaign.state()))))
        } else {
            (Some(events), None)
        };
        Ok(EventsListOutput { events, lines, revision, next_cursor })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        match field {
            "types" => Some(CampaignEvent::KINDS.iter().map(|kind| (*kind).to_owned()).collect()),
            _ => app.complete_id_field(caller, field).await,
        }
    }
}

fn check_types(types: &[String]) -> Result<(), Fault> {
    let is_known = |asked: &String| CampaignEvent::KINDS.iter().any(|kind| kind.starts_with(asked.as_str()));
    match types.iter().position(|asked| !is_known(asked)) {
        None => Ok(()),
        Some(at) => Err(Fault::new(
            Code::InvalidParams,
            format!("no event has the type {:?}", crate::truncate_for_message(&types[at])),
        )
        .with_path(format!("/types/{at}"))
        .hint("send a type, or what several begin with")
        .allowed(CampaignEvent::KINDS.to_vec())),
    }
}

/// One line for each event: revision, if the caller may know it, time in UTC, what happened.
fn compact_lines(events: &[LoggedEvent], people: &dyn People) -> Vec<String> {
    let described = describe_events(people, events.iter().map(|logged| &logged.event));
    let lines = events.iter().zip(described).map(|(logged, text)| {
        let time = logged.recorded_at.strftime("%Y-%m-%d %H:%M");
        let revision = logged.shown_revision.map(|revision| format!("{revision} ")).unwrap_or_default();
        format!("{revision}{time} {}", with_tracker_changes(&logged.event, text, people))
    });
    lines.collect()
}

/// The line of an event with the trackers that it changed, or with who is up.
fn with_tracker_changes(event: &CampaignEvent, text: String, people: &dyn People) -> String {
    let changes = describe_changes(std::slice::from_ref(event), people).join("; ");
    match event {
        CampaignEvent::TrackerChanged { reason, .. } if !reason.is_empty() => format!("{changes} ({reason})"),
        CampaignEvent::RollRecorded(_) if !changes.is_empty() => format!("{text}; {changes}"),
        CampaignEvent::SpotlightSet { scene, up, .. } => {
            let name = |id: &str| people.actor(id).map_or_else(|| id.to_owned(), |actor| actor.name.clone());
            let scene = scene.as_ref().map(|scene| format!("scene: {scene}"));
            let up = up.as_ref().map(|up| format!("spotlight: {}", name(up)));
            scene.into_iter().chain(up).collect::<Vec<_>>().join(", ")
        }
        _ if changes.is_empty() => text,
        _ => changes,
    }
}

/// Which events are wanted.
struct EventFilter<'a> {
    types: &'a [String],
    by: Option<&'a str>,
    /// Ids that the event must mention: of a session, of an actor.
    mentioned_ids: Vec<&'a str>,
    from: Option<Moment>,
    to: Option<Moment>,
}

impl<'a> EventFilter<'a> {
    fn from_input(input: &'a EventsListInput) -> Result<Self, Fault> {
        let ids = [("session_id", &input.session_id), ("actor_id", &input.actor_id)];
        let ids = ids.into_iter().map(|(field, id)| parse_id(field, id.as_deref()));
        let from = input.from.as_deref().map(|text| parse_time("from", text, DayPart::Start)).transpose()?;
        let to = input.to.as_deref().map(|text| parse_time("to", text, DayPart::End)).transpose()?;
        if let (Some(from), Some(to)) = (from, to)
            && to < from
        {
            let fault = Fault::new(Code::InvalidParams, format!("to is {to}, before from, which is {from}"));
            return Err(fault.with_path("/to").hint("send a from that is not after to"));
        }
        Ok(Self {
            types: &input.types,
            by: input.by.as_deref(),
            mentioned_ids: ids.filter_map(Result::transpose).collect::<Result<_, Fault>>()?,
            from,
            to,
        })
    }

    fn matches(&self, logged: &LoggedEvent) -> bool {
        let kind = logged.event.kind();
        (self.types.is_empty() || self.types.iter().any(|asked| kind.starts_with(asked.as_str())))
            && self.by.is_none_or(|by| by == logged.by)
            && self.from.is_none_or(|from| logged.at >= from)
            && self.to.is_none_or(|to| logged.at <= to)
            && self.mentions_ids(&logged.event)
    }

    /// Ids are unique, so an event is about a thing if its id is the value of any field.
    fn mentions_ids(&self, event: &CampaignEvent) -> bool {
        self.mentioned_ids.is_empty()
            || serde_json::to_value(event).is_ok_and(|event| self.mentioned_ids.iter().all(|id| mentions(&event, id)))
    }

    /// Whether all events that follow are outside the wanted time. Clocks of several servers differ a little, so events
    /// must be a day off before the rest of the history is skipped.
    fn is_past(&self, events: &[LoggedEvent], order: EventOrder) -> bool {
        let day = jiff::SignedDuration::from_hours(24);
        let bound = match order {
            EventOrder::Newest => self.from.and_then(|from| from.timestamp().checked_sub(day).ok()),
            EventOrder::Oldest => self.to.and_then(|to| to.timestamp().checked_add(day).ok()),
        };
        let Some(bound) = bound.filter(|_| !events.is_empty()) else { return false };
        events.iter().all(|logged| match order {
            EventOrder::Newest => logged.recorded_at < bound,
            EventOrder::Oldest => logged.recorded_at > bound,
        })
    }
}

/// The length of an event as JSON. An event that cannot be serialized counts as empty here: the answer reports the error.
fn json_bytes(event: &LoggedEvent) -> usize {
    serde_json::to_string(event).map_or(0, |text| text.len())
}

fn mentions(value: &Value, id: &str) -> bool {
    match value {
        Value::String(text) => text == id,
        Value::Array(items) => items.iter().any(|item| mentions(item, id)),
        Value::Object(fields) => fields.values().any(|field| mentions(field, id)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Which moment of a day is meant where only the day is given.
#[derive(Clone, Copy)]
enum DayPart {
    Start,
    End,
}

/// Parses a time in RFC 3339, or a day in UTC.
fn parse_time(field: &str, text: &str, part: DayPart) -> Result<Moment, Fault> {
    if let Ok(time) = text.trim().parse::<jiff::Timestamp>() {
        return Ok(time.into());
    }
    let time = match part {
        DayPart::Start => jiff::civil::time(0, 0, 0, 0),
        DayPart::End => jiff::civil::time(23, 59, 59, 0),
    };
    let day = text.trim().parse::<jiff::civil::Date>().ok();
    let moment = day.and_then(|day| day.to_datetime(time).to_zoned(jiff::tz::TimeZone::UTC).ok());
    moment.map(|zoned| zoned.timestamp().into()).ok_or_else(|| {
        Fault::new(Code::InvalidParams, format!("{field} is {:?}, no time", crate::truncate_for_message(text)))
            .with_path(format!("/{field}"))
            .value(&text.into())
            .hint("send a time such as 2026-11-17T20:00:00Z, or a day such as 2026-11-17")
    })
}

/// Where a page of the history begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum EventCursor {
    /// At a revision.
    Revision(u64),
    /// For guests, who are told no revision: at a moment, after so many wanted commands of that moment.
    Moment { at: jiff::Timestamp, skipped: usize },
}

impl EventCursor {
    fn encode(self) -> String {
        match self {
            Self::Revision(revision) => revision.to_string(),
            Self::Moment { at, skipped } => format!("{}.{skipped}", at.as_microsecond()),
        }
    }

    /// A cursor with a revision is for those who may know it: others could try which events are after one.
    fn decode(cursor: &str, knows_revisions: bool) -> Option<Self> {
        if knows_revisions {
            return cursor.parse().ok().map(Self::Revision);
        }
        let (micros, skipped) = cursor.split_once('.')?;
        let at = jiff::Timestamp::from_microsecond(micros.parse().ok()?).ok()?;
        Some(Self::Moment { at, skipped: skipped.parse().ok()? })
    }
}

/// The wanted commands of one moment that a guest's pages have passed.
#[derive(Debug, Clone, Copy, Default)]
struct PassedMoment {
    at: Option<jiff::Timestamp>,
    commands: usize,
}

impl PassedMoment {
    fn count(&mut self, at: jiff::Timestamp, commands: usize) {
        if self.at != Some(at) {
            *self = Self { at: Some(at), commands: 0 };
        }
        self.commands += commands;
    }

    /// The cursor of a page that begins with a command of this moment.
    fn cursor_at(self, at: jiff::Timestamp) -> EventCursor {
        let skipped = if self.at == Some(at) { self.commands } else { 0 };
        EventCursor::Moment { at, skipped }
    }
}

/// Reads a history in pieces, in either direction.
struct EventPager<'a> {
    app: &'a App,
    redaction: Redaction,
    entered_campaign: &'a EnteredCampaign,
    order: EventOrder,
    /// Only revisions after this one, up to `last`, are read.
    after: u64,
    last: u64,
}

impl EventPager<'_> {
    /// The wanted events from a cursor on, and the cursor of the next page. The events of one command stay together, so a
    /// page may be a little longer than the limit. If little of a long history is wanted, the page ends before it is
    /// full, so that no call reads without bound.
    ///
    /// A guest must not find out how many hidden commands there are: cursors of guests are moments of events that they
    /// see, and only these events count as read.
    async fn read_page(
        &self,
        from: Option<EventCursor>,
        limit: usize,
        filter: &EventFilter<'_>,
        is_compact: bool,
    ) -> Result<(Vec<LoggedEvent>, Option<EventCursor>), Fault> {
        let is_guest = self.entered_campaign.shown_revision().is_none();
        let mut found: Vec<LoggedEvent> = Vec::new();
        let (mut scanned, mut page_bytes) = (0, 0);
        let (mut at, mut skipped, mut passed) = match from {
            Some(EventCursor::Revision(revision)) => (revision, 0, PassedMoment::default()),
            Some(EventCursor::Moment { at, skipped }) => {
                let passed = PassedMoment { at: Some(at), commands: skipped };
                (self.revision_at(at).await?, skipped, passed)
            }
            None => {
                let revision = match self.order {
                    EventOrder::Newest => self.last,
                    EventOrder::Oldest => self.after + 1,
                };
                (revision, 0, PassedMoment::default())
            }
        };
        let start = passed.at;
        while at > self.after && at <= self.last {
            if scanned >= limits::EVENTS_SCANNED_MAX {
                match passed.at.filter(|_| is_guest) {
                    None if !is_guest => return Ok((found, Some(EventCursor::Revision(at)))),
                    Some(moment) if start != Some(moment) => return Ok((found, Some(passed.cursor_at(moment)))),
                    // A cursor to the moment where this page began would lead here again.
                    _ => {}
                }
            }
            let (first, last) = match self.order {
                EventOrder::Oldest => (at, (at + RECORDS_PER_READ as u64 - 1).min(self.last)),
                EventOrder::Newest => (at.saturating_sub(RECORDS_PER_READ as u64 - 1).max(self.after + 1), at),
            };
            let count = usize::try_from(last - first + 1).unwrap_or(RECORDS_PER_READ);
            let events = self.app.read_events(&self.redaction, self.entered_campaign, first - 1, count).await?;
            let mut commands: Vec<&[LoggedEvent]> =
                events.chunk_by(|one, other| one.revision == other.revision).collect();
            if self.order == EventOrder::Newest {
                commands.reverse();
            }
            for command in commands {
                let Some(moment) = command.first().map(|event| event.recorded_at) else { continue };
                let is_wanted = command.iter().any(|event| filter.matches(event));
                if is_wanted && skipped > 0 && start == Some(moment) {
                    skipped -= 1;
                    continue;
                }
                for (index, event) in command.iter().filter(|event| filter.matches(event)).enumerate() {
                    let bytes = if is_compact { 0 } else { json_bytes(event) };
                    let is_full = found.len() >= limit || page_bytes + bytes > limits::EVENTS_PAGE_BYTES_MAX;
                    if index == 0 && is_full && !found.is_empty() {
                        let revision = EventCursor::Revision(event.revision);
                        return Ok((found, Some(if is_guest { passed.cursor_at(moment) } else { revision })));
                    }
                    page_bytes += bytes;
                    found.push(event.clone());
                }
                passed.count(moment, usize::from(is_wanted));
            }
            if filter.is_past(&events, self.order) {
                break;
            }
            scanned += if is_guest { events.len() } else { count };
            at = match self.order {
                EventOrder::Oldest => last + 1,
                EventOrder::Newest => first - 1,
            };
        }
        Ok((found, None))
    }

    /// The revision where a history that is read from a moment begins: the newest one that is not later, or the oldest
    /// one that is not earlier. Clocks of several servers may differ a little; then events of such a moment may come twice
    /// or not at all.
    async fn revision_at(&self, at: jiff::Timestamp) -> Result<u64, Fault> {
        let (mut low, mut high) = (1, self.last + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            let read = self.app.journal.read(&self.entered_campaign.stream, middle - 1, 1).await;
            let read = read.map_err(|error| self.app.store_fault(&error))?;
            let is_before = read.first().is_some_and(|record| match self.order {
                EventOrder::Newest => record.at <= at,
                EventOrder::Oldest => record.at < at,
            });
            if is_before {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(match self.order {
            EventOrder::Newest => low - 1,
            EventOrder::Oldest => low,
        })
    }
}

impl App {
    /// The events of up to `records` records after a revision, as far as they may be seen.
    pub(super) async fn read_events(
        &self,
        redaction: &Redaction,
        entered_campaign: &EnteredCampaign,
        after: u64,
        records: usize,
    ) -> Result<Vec<LoggedEvent>, Fault> {
        let (mut events, mut after, mut left) = (Vec::new(), after, records);
        while left > 0 {
            let wanted = left.min(RECORDS_PER_READ);
            let read = self
                .journal
                .read(&entered_campaign.stream, after, wanted)
                .await
                .map_err(|error| self.store_fault(&error))?;
            let is_last = read.len() < wanted;
            for record in read {
                after = record.revision;
                events.extend(redaction.redact_logged(entered_campaign.state(), self.parse_record_events(&record)?));
            }
            left -= wanted;
            if is_last {
                break;
            }
        }
        Ok(events)
    }

    /// The events from the start of a session on, and some earlier ones: the history is read in chunks from its end.
    pub(super) async fn read_events_since_session(
        &self,
        redaction: &Redaction,
        entered_campaign: &EnteredCampaign,
        session: &str,
    ) -> Result<Vec<LoggedEvent>, Fault> {
        let (mut events, mut last) = (Vec::new(), entered_campaign.committed.revision());
        while last > 0 {
            let after = last.saturating_sub(RECORDS_PER_READ as u64);
            let mut earlier = self.read_events(redaction, entered_campaign, after, RECORDS_PER_READ).await?;
            let starts = |event: &LoggedEvent| matches!(&event.event, CampaignEvent::SessionStarted { session_id, .. } if session_id == session);
            let has_begun = earlier.iter().any(starts);
            earlier.retain(|event| event.revision <= last);
            earlier.append(&mut events);
            events = earlier;
            if has_begun {
                break;
            }
            last = after;
        }
        Ok(events)
    }

    /// The events of the last so many records, and whether there are earlier ones. For a guest it is so many events that
    /// they see: otherwise each hidden command would push one of these out.
    pub(super) async fn read_newest_events(
        &self,
        redaction: &Redaction,
        entered_campaign: &EnteredCampaign,
        count: usize,
    ) -> Result<(Vec<LoggedEvent>, bool), Fault> {
        let mut last = entered_campaign.committed.revision();
        if entered_campaign.shown_revision().is_some() {
            let first = last.saturating_sub(count as u64);
            return Ok((self.read_events(redaction, entered_campaign, first, count).await?, first > 0));
        }
        let mut events = Vec::new();
        while last > 0 && events.len() <= count {
            let after = last.saturating_sub(RECORDS_PER_READ as u64);
            let records = usize::try_from(last - after).unwrap_or(RECORDS_PER_READ);
            let mut earlier = self.read_events(redaction, entered_campaign, after, records).await?;
            earlier.append(&mut events);
            (events, last) = (earlier, after);
        }
        let left_out = events.len().saturating_sub(count);
        events.drain(..left_out);
        Ok((events, left_out > 0))
    }

    fn parse_record_events(&self, record: &Record) -> Result<Vec<LoggedEvent>, Fault> {
        let events: Vec<CampaignEvent> =
            serde_json::from_str(&record.body).map_err(|error| Fault::internal(error, self.new_request_id()))?;
        let logged = |event| LoggedEvent {
            shown_revision: Some(record.revision),
            at: Moment::from(record.at),
            by: record.by.clone(),
            event,
            recorded_at: record.at,
            revision: record.revision,
        };
        Ok(events.into_iter().map(logged).collect())
    }
}
