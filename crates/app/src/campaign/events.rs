//! `events_list`: the history of a campaign, read from its journal page by page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::Moment;
use skald_domain::campaign::CampaignEvent;

use super::access::EnteredCampaign;
use crate::list_page::{check_page_limit, invalid_cursor_fault};
use crate::redaction::Redaction;
use crate::{Allowed, App, Call, Caller, CampaignRole, Code, Fault, Operation, OperationKind, Route, Toolset, limits};
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
    /// The campaign of the context if left out.
    campaign_id: Option<String>,
    /// Only events of these types, or that begin so: roll, session., actor.added.v1.
    #[serde(default)]
    types: Vec<String>,
    /// Only events of this session.
    session_id: Option<String>,
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
    /// The command it belongs to; several events may share one.
    revision: u64,
    at: Moment,
    pub by: String,
    pub event: CampaignEvent,
    /// The moment to its full precision.
    #[serde(skip)]
    pub recorded_at: jiff::Timestamp,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EventsListOutput {
    events: Vec<LoggedEvent>,
    /// Where the history ends now.
    revision: u64,
    /// Send it as cursor for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Operation for EventsList {
    const NAME: &'static str = "events_list";
    const TITLE: &'static str = "List what happened";
    const SUMMARY: &'static str =
        "The history of a campaign, event by event, by type, session or principal. Newest first unless told otherwise.";
    const TOOLSET: Toolset = Toolset::Campaign;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/campaigns/{campaign_id}/events")];
    type Input = EventsListInput;
    type Output = EventsListOutput;

    async fn run(app: &App, call: &Call<'_>, input: EventsListInput) -> Result<EventsListOutput, Fault> {
        let entered_campaign = app.enter_campaign::<Self>(call, input.campaign_id.as_deref()).await?;
        let limit = check_page_limit(input.limit)?;
        check_types(&input.types)?;
        let after = input.after_revision.unwrap_or(0);
        let revision = entered_campaign.committed.revision();
        let from = match input.cursor.as_deref() {
            None => None,
            Some(cursor) => Some(cursor.parse::<u64>().map_err(|_| invalid_cursor_fault(cursor))?),
        };
        let pages = EventPager {
            app,
            caller: call.caller,
            entered_campaign: &entered_campaign,
            order: input.order,
            after,
            last: revision,
        };
        let (events, next) = pages.read_page(from, limit, &input).await?;
        let next_cursor = next.map(|revision| revision.to_string());
        Ok(EventsListOutput { events, revision, next_cursor })
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

impl EventsListInput {
    fn matches(&self, logged: &LoggedEvent) -> bool {
        let kind = logged.event.kind();
        (self.types.is_empty() || self.types.iter().any(|asked| kind.starts_with(asked.as_str())))
            && self.by.as_ref().is_none_or(|by| *by == logged.by)
            && self.session_id.as_ref().is_none_or(|id| event_session_id(&logged.event) == Some(id.trim()))
    }
}

fn event_session_id(event: &CampaignEvent) -> Option<&str> {
    match event {
        CampaignEvent::SessionStarted { session_id, .. }
        | CampaignEvent::SessionEnded { session_id }
        | CampaignEvent::SpotlightSet { session_id, .. } => Some(session_id),
        CampaignEvent::NoteAdded { session_id, .. } => session_id.as_deref(),
        CampaignEvent::RollRecorded(roll) => roll.session_id.as_deref(),
        CampaignEvent::TrackerSet { session_id, .. } | CampaignEvent::TrackerChanged { session_id, .. } => {
            session_id.as_deref()
        }
        _ => None,
    }
}

/// Reads a history in pieces, in either direction.
struct EventPager<'a> {
    app: &'a App,
    caller: &'a Caller,
    entered_campaign: &'a EnteredCampaign,
    order: EventOrder,
    /// Only revisions after this one, up to `last`, are read.
    after: u64,
    last: u64,
}

impl EventPager<'_> {
    /// The events from a revision on, and the revision at which the next page starts. The events of one command stay
    /// together, so a page may be a little longer than the limit.
    async fn read_page(
        &self,
        from: Option<u64>,
        limit: usize,
        input: &EventsListInput,
    ) -> Result<(Vec<LoggedEvent>, Option<u64>), Fault> {
        let mut found: Vec<LoggedEvent> = Vec::new();
        let mut at = from.unwrap_or(match self.order {
            EventOrder::Newest => self.last,
            EventOrder::Oldest => self.after + 1,
        });
        while at > self.after && at <= self.last {
            let (first, last) = match self.order {
                EventOrder::Oldest => (at, (at + RECORDS_PER_READ as u64 - 1).min(self.last)),
                EventOrder::Newest => (at.saturating_sub(RECORDS_PER_READ as u64 - 1).max(self.after + 1), at),
            };
            let count = usize::try_from(last - first + 1).unwrap_or(RECORDS_PER_READ);
            let events = self.app.read_events(self.caller, self.entered_campaign, first - 1, count).await?;
            let mut commands: Vec<&[LoggedEvent]> =
                events.chunk_by(|one, other| one.revision == other.revision).collect();
            if self.order == EventOrder::Newest {
                commands.reverse();
            }
            for command in commands {
                if found.len() >= limit {
                    return Ok((found, command.first().map(|event| event.revision)));
                }
                found.extend(command.iter().filter(|event| input.matches(event)).cloned());
            }
            at = match self.order {
                EventOrder::Oldest => last + 1,
                EventOrder::Newest => first - 1,
            };
        }
        Ok((found, None))
    }
}

impl App {
    /// The events of up to `records` records after a revision, redacted for the caller.
    pub(super) async fn read_events(
        &self,
        caller: &Caller,
        entered_campaign: &EnteredCampaign,
        after: u64,
        records: usize,
    ) -> Result<Vec<LoggedEvent>, Fault> {
        let seen = Redaction::for_caller(caller, &entered_campaign.campaign_id);
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
                events.extend(seen.redact_all(self.parse_record_events(&record)?));
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
        caller: &Caller,
        entered_campaign: &EnteredCampaign,
        session: &str,
    ) -> Result<Vec<LoggedEvent>, Fault> {
        let (mut events, mut last) = (Vec::new(), entered_campaign.committed.revision());
        while last > 0 {
            let after = last.saturating_sub(RECORDS_PER_READ as u64);
            let mut earlier = self.read_events(caller, entered_campaign, after, RECORDS_PER_READ).await?;
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

    fn parse_record_events(&self, record: &Record) -> Result<Vec<LoggedEvent>, Fault> {
        let events: Vec<CampaignEvent> =
            serde_json::from_str(&record.body).map_err(|error| Fault::internal(error, self.new_request_id()))?;
        let logged = |event| LoggedEvent {
            revision: record.revision,
            at: Moment::from(record.at),
            by: record.by.clone(),
            event,
            recorded_at: record.at,
        };
        Ok(events.into_iter().map(logged).collect())
    }
}
