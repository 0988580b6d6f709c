//! `timeline`: adds, changes, removes and queries events, with what the journal recorded beside what was written.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::lore::{
    DatePrecision, DaySpan, LoreCommand, LoreEvent, LoreSubject, NewTimelineEvent, SortDate, TimelineCommand,
    TimelineEventChange,
};
use skald_domain::visibility::{Visibility, VisibilityStep};
use skald_markup::Entry;

use super::access::EnteredLore;
use super::batch::is_unchanged;
use super::entity_fields::clearable;
use super::entity_reference::EntityReference;
use super::stream::LoreStream;
use super::texts::NewText;
use super::timeline_rows::{RowPlace, TimelineFilter, TimelineRow};
use crate::execute_command::CommandTerms;
use crate::list_page::{check_page_limit, invalid_cursor_fault};
use crate::method_fields::MethodFields;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, CommandAnswer, Completion, CompletionRequest, Exposed, Fault,
    Operation, OperationKind, PermissionClass, Route, Toolset, limits, truncate_for_message,
};
use skald_journal::Applied;

pub(super) struct TimelineOperation;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum TimelineMethod {
    #[default]
    Query,
    Add,
    Update,
    Remove,
}

/// What a query lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum TimelineInclude {
    /// What was written, and when sessions began and ended.
    #[default]
    Story,
    Written,
    /// Sessions, scenes, rolls, gates passed, the time of universes.
    Recorded,
    All,
}

const WRITTEN_FIELDS: [&str; 8] =
    ["date", "sort", "precision", "description", "entity_ids", "session_id", "is_player_known", "visible_to"];

impl TimelineMethod {
    fn fields(self) -> MethodFields {
        let (method, takes): (_, &'static [&'static str]) = match self {
            Self::Query => (
                "query",
                &["event_id", "start_date", "end_date", "entity_ids", "session_id", "include", "cursor", "limit"],
            ),
            Self::Add => ("add", &WRITTEN_FIELDS),
            Self::Update => (
                "update",
                &[
                    "event_id",
                    "date",
                    "sort",
                    "precision",
                    "description",
                    "entity_ids",
                    "session_id",
                    "is_player_known",
                    "visible_to",
                ],
            ),
            Self::Remove => ("remove", &["event_id"]),
        };
        MethodFields { method, takes }
    }

    fn required(self) -> &'static [&'static str] {
        match self {
            Self::Query => &[],
            Self::Add => &["description"],
            Self::Update | Self::Remove => &["event_id"],
        }
    }
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TimelineInput {
    /// query if left out.
    #[serde(default)]
    method: TimelineMethod,
    /// Which one; query: the whole text of it.
    event_id: Option<u64>,
    /// As the table writes it: 3rd of Rain, 1204.
    date: Option<String>,
    /// 1204, 1204-03 or -44-03-15; read from date if it can be.
    sort: Option<String>,
    /// How exact the date is.
    precision: Option<DatePrecision>,
    /// What happened.
    description: Option<String>,
    /// Who and what it is about.
    entity_ids: Option<Vec<EntityReference>>,
    /// The session in which it happened.
    session_id: Option<String>,
    /// false (default): for game masters alone.
    is_player_known: Option<bool>,
    /// gm, table, or people.
    visible_to: Option<Vec<String>>,
    /// From this sort date on.
    start_date: Option<String>,
    /// Up to this one.
    end_date: Option<String>,
    /// story: written and sessions.
    include: Option<TimelineInclude>,
    /// The `next_cursor`.
    cursor: Option<String>,
    /// Rows.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<usize>,
    /// The context's if left out.
    campaign_id: Option<String>,
}

impl TimelineInput {
    fn check_fields(&self) -> Result<(), Fault> {
        let given = [
            ("event_id", self.event_id.is_some()),
            ("date", self.date.is_some()),
            ("sort", self.sort.is_some()),
            ("precision", self.precision.is_some()),
            ("description", self.description.is_some()),
            ("entity_ids", self.entity_ids.is_some()),
            ("session_id", self.session_id.is_some()),
            ("is_player_known", self.is_player_known.is_some()),
            ("visible_to", self.visible_to.is_some()),
            ("start_date", self.start_date.is_some()),
            ("end_date", self.end_date.is_some()),
            ("include", self.include.is_some()),
            ("cursor", self.cursor.is_some()),
            ("limit", self.limit.is_some()),
        ];
        let fields = self.method.fields();
        fields.check(&given)?;
        let required: Vec<_> = given.into_iter().filter(|(field, _)| self.method.required().contains(field)).collect();
        fields.check_required(&required)
    }
}

#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct TimelineOutput {
    /// What was found or done.
    summary: String,
    events: Vec<TimelineRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<usize>,
    /// Older rolls, gates or universes were left out; ask by session.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

impl Operation for TimelineOperation {
    const NAME: &'static str = "timeline";
    const TITLE: &'static str = "Timeline";
    const SUMMARY: &'static str = "When what happened, in the table's own calendar, by date, entity or session; game masters add, \
        update, remove.";
    const TOOLSET: Toolset = Toolset::Canon;
    const KIND: OperationKind = OperationKind::Command;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::RelationshipsAndTimeline;
    const DESTRUCTIVE: bool = true;
    const GAME_MASTER_METHODS: &'static [&'static str] = &["add", "update", "remove"];
    type Input = TimelineInput;
    type Output = CommandAnswer<TimelineOutput>;

    async fn run(app: &App, call: &Call<'_>, input: TimelineInput) -> Result<Self::Output, Fault> {
        input.check_fields()?;
        let lore = app.enter_lore::<Self>(call, input.campaign_id.as_deref()).await?;
        if input.method == TimelineMethod::Query {
            return app.query_timeline::<Self>(call, &lore, &input).await.map(CommandAnswer::Now);
        }
        let name = format!("{} with method {}", Self::NAME, input.method.fields().method);
        app.enter_campaign_as(call.caller, &name, Allowed::InCampaign(CampaignRole::Gm), &lore.campaign_id).await?;
        app.write_timeline(call, &lore, &input).await
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }
}

/// The reading half of `timeline`, as a resource and a route.
pub(super) struct ReadTimeline;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadTimelineInput {
    /// The campaign.
    campaign_id: String,
    /// From this day on, such as 1204-03.
    start_date: Option<String>,
    /// Up to this day.
    end_date: Option<String>,
    /// Only what it is about.
    entity_id: Option<EntityReference>,
    /// Only of this session.
    session_id: Option<String>,
    /// story: what was written, and sessions.
    include: Option<TimelineInclude>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
    /// Rows of a page.
    #[schemars(range(min = 1, max = limits::PAGE_MAX))]
    limit: Option<usize>,
}

impl Operation for ReadTimeline {
    const NAME: &'static str = "read_timeline";
    const TITLE: &'static str = "The timeline of a campaign";
    const SUMMARY: &'static str = "What happened, in the order of its days, page by page.";
    const TOOLSET: Toolset = Toolset::Canon;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadCampaign;
    const LISTS: bool = true;
    const EXPOSED: Exposed = Exposed::NotAsTool;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/campaigns/{campaign_id}/timeline")];
    type Input = ReadTimelineInput;
    type Output = TimelineOutput;

    async fn run(app: &App, call: &Call<'_>, input: ReadTimelineInput) -> Result<TimelineOutput, Fault> {
        let query = TimelineInput {
            start_date: input.start_date,
            end_date: input.end_date,
            entity_ids: input.entity_id.map(|id| vec![id]),
            session_id: input.session_id,
            include: input.include,
            cursor: input.cursor,
            limit: input.limit,
            ..TimelineInput::default()
        };
        let lore = app.enter_lore::<Self>(call, Some(&input.campaign_id)).await?;
        app.query_timeline::<Self>(call, &lore, &query).await
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        app.complete_id_field(caller, field).await
    }

    async fn complete_from_arguments(app: &App, caller: &Caller, request: &CompletionRequest) -> Option<Completion> {
        app.complete_lore_argument(caller, request).await
    }
}

/// A date of the calendar in which events are sorted.
fn parse_sort_date(field: &str, text: &str) -> Result<SortDate, Fault> {
    SortDate::read(text).ok_or_else(|| {
        let message = format!("{field} is {:?}, no date that sorts", truncate_for_message(text));
        let fault = Fault::new(Code::InvalidParams, message).with_path(format!("/{field}")).value(&text.into());
        fault.hint("send year[-month[-day]], such as 1204, 1204-03 or -44-03-15")
    })
}

impl App {
    async fn query_timeline<O: Operation>(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        input: &TimelineInput,
    ) -> Result<TimelineOutput, Fault> {
        if let Some(event_id) = input.event_id {
            return self.whole_timeline_event(lore, event_id).await;
        }
        let limit = check_page_limit(input.limit)?;
        let filter = self.timeline_filter(lore, input).await?;
        let after = match input.cursor.as_deref() {
            None => None,
            Some(cursor) => Some(RowPlace::decode(cursor).ok_or_else(|| invalid_cursor_fault(cursor))?),
        };
        let include = input.include.unwrap_or_default();
        let mut rows = if include == TimelineInclude::Recorded { Vec::new() } else { lore.written_rows(&filter) };
        let is_cut = if include == TimelineInclude::Written {
            false
        } else {
            let (events, is_cut) = self.recorded_events::<O>(call, lore, include, &filter).await?;
            rows.extend(lore.recorded_rows(events, &filter));
            is_cut
        };
        rows.sort_by_key(|(place, _)| *place);
        let total = rows.len();
        let (events, next) = cut_page(rows, after, limit);
        let noun = if total == 1 { "event" } else { "events" };
        let summary = format!("{total} {noun} of {}", lore.campaign_name);
        let next_cursor = next.map(RowPlace::encode);
        Ok(TimelineOutput { summary, events, total: Some(total), truncated: is_cut, next_cursor })
    }

    async fn timeline_filter(&self, lore: &EnteredLore, input: &TimelineInput) -> Result<TimelineFilter, Fault> {
        let date = |field: &str, text: Option<&String>| text.map(|text| parse_sort_date(field, text)).transpose();
        let start = date("start_date", input.start_date.as_ref())?.map(SortDate::span);
        let end = date("end_date", input.end_date.as_ref())?.map(SortDate::span);
        let (first, last) = (start.map_or(i64::MIN, |span| span.first), end.map_or(i64::MAX - 1, |span| span.last));
        if last < first {
            let fault = Fault::new(Code::InvalidParams, "end_date is before start_date").with_path("/end_date");
            return Err(fault.hint("send an end_date that is not before start_date"));
        }
        let span = (start.is_some() || end.is_some()).then_some(DaySpan { first, last });
        let session_id = match &input.session_id {
            Some(given) => Some(self.find_session(&lore.campaign_id, given, "/session_id").await?),
            None => None,
        };
        let entity_ids = lore.resolve_entities(input.entity_ids.as_deref().unwrap_or_default())?;
        Ok(TimelineFilter { span, entity_ids, session_id })
    }

    /// What the journal recorded, as far as it is asked for, and whether older events were left out.
    async fn recorded_events<O: Operation>(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        include: TimelineInclude,
        filter: &TimelineFilter,
    ) -> Result<(Vec<crate::campaign::RecordedEvent>, bool), Fault> {
        let campaign_id = lore.campaign_id.as_str();
        let mut events = self.recorded_sessions::<O>(call, campaign_id).await?;
        if include == TimelineInclude::Story {
            return Ok((events, false));
        }
        let played = self.recorded_play::<O>(call, campaign_id, filter.session_id.as_deref()).await?;
        events.extend(played.events);
        events.extend(self.recorded_lore_reveals(lore, filter).await?);
        let (gates, are_gates_cut) = self.recorded_gates(call.caller, campaign_id).await?;
        let (times, are_times_cut) = self.recorded_universe_times(campaign_id).await?;
        events.extend(gates.into_iter().chain(times));
        Ok((events, played.is_cut || are_gates_cut || are_times_cut))
    }

    /// What was revealed and hidden in the lore, for game masters.
    async fn recorded_lore_reveals(
        &self,
        lore: &EnteredLore,
        filter: &TimelineFilter,
    ) -> Result<Vec<crate::campaign::RecordedEvent>, Fault> {
        if !lore.sees_private {
            return Ok(Vec::new());
        }
        let state = lore.state();
        let steps = state.revealed_subjects().flat_map(|of| {
            let subject = match of {
                LoreSubject::Entity { entity_id } => format!("the entity {entity_id}"),
                LoreSubject::Post { post_id } => format!("the post {post_id}"),
                LoreSubject::TimelineEvent { event_id } => format!("the event {event_id}"),
                LoreSubject::Relationship { relationship_id } => format!("the relationship {relationship_id}"),
            };
            state.visibility_steps(of).iter().map(move |step| (subject.clone(), step.clone()))
        });
        let is_asked = |step: &VisibilityStep| filter.session_id.is_none() || step.session_id == filter.session_id;
        let steps = steps.filter(|(_, step)| is_asked(step)).collect();
        self.recorded_reveals(&lore.campaign_id, steps).await
    }

    async fn whole_timeline_event(&self, lore: &EnteredLore, event_id: u64) -> Result<TimelineOutput, Fault> {
        let event = lore.state().timeline().get(event_id).filter(|event| lore.redaction.is_visible(&***event));
        let Some(event) = event else { return Err(missing_event_fault(event_id)) };
        let texts = self.load_texts(&lore.campaign_id, event.text.iter()).await?;
        let mut row = lore.timeline_row(event);
        if event.text.is_some() {
            texts.markdown(event.text.as_ref()).clone_into(&mut row.description);
            row.truncated = false;
        }
        let summary = format!("event {event_id} of {}", lore.campaign_name);
        Ok(TimelineOutput { summary, events: vec![row], ..TimelineOutput::default() })
    }

    async fn write_timeline(
        &self,
        call: &Call<'_>,
        lore: &EnteredLore,
        input: &TimelineInput,
    ) -> Result<CommandAnswer<TimelineOutput>, Fault> {
        let (command, text) = self.timeline_command(lore, input).await?;
        let side_rows = text.into_iter().map(|text| text.row).collect();
        let terms = CommandTerms { side_rows, ..CommandTerms::of_call(call) };
        let command = LoreCommand::Timeline(command);
        let done = self.execute_with_terms::<TimelineOperation, _, _>(
            &self.lore,
            call,
            &lore.stream,
            command,
            terms,
            written_event,
        );
        match done.await {
            Ok((answered, _)) => Ok(answered),
            Err(not_done) if is_unchanged(&not_done.failure) => {
                let event = input.event_id.and_then(|id| lore.state().timeline().get(id));
                let events = event.map(|event| lore.timeline_row(event)).into_iter().collect();
                let summary = "nothing is different from what is stored".to_owned();
                Ok(CommandAnswer::Now(TimelineOutput { summary, events, ..TimelineOutput::default() }))
            }
            Err(not_done) => Err(self.lore_fault(not_done.failure)),
        }
    }

    async fn timeline_command(
        &self,
        lore: &EnteredLore,
        input: &TimelineInput,
    ) -> Result<(TimelineCommand, Option<NewText>), Fault> {
        let event_id = input.event_id.unwrap_or_default();
        if input.method == TimelineMethod::Remove {
            return Ok((TimelineCommand::Remove { event_id, expected_revision: None }, None));
        }
        let described = input.description.as_deref().map(|text| self.split_description(lore, text)).transpose()?;
        let (description, text) = described.map_or((None, None), |(summary, text)| (Some(summary), text));
        let date = clearable(input.date.as_ref());
        let sort = match clearable(input.sort.as_ref()) {
            Some(Some(text)) => Some(Some(parse_sort_date("sort", &text)?)),
            Some(None) => Some(None),
            // A new date without `sort` gets its sort date from the text: the old one would belong to the old date.
            None => date.as_ref().map(|date| date.as_deref().and_then(SortDate::read)),
        };
        let entity_ids = match &input.entity_ids {
            Some(references) => Some(lore.resolve_entities(references)?),
            None => None,
        };
        let session_id = match clearable(input.session_id.as_ref()) {
            Some(Some(given)) => Some(Some(self.find_session(&lore.campaign_id, &given, "/session_id").await?)),
            cleared => cleared,
        };
        let visible_to = self.timeline_visibility(lore, input).await?;
        let reference = text.as_ref().map(|text| text.reference.clone());
        let command = if input.method == TimelineMethod::Add {
            TimelineCommand::Add(Box::new(NewTimelineEvent {
                date: date.flatten(),
                sort: sort.flatten(),
                precision: input.precision.unwrap_or_default(),
                text: reference,
                entity_ids: entity_ids.unwrap_or_default(),
                session_id: session_id.flatten(),
                visible_to: visible_to.unwrap_or(Visibility::GameMasters),
                ..NewTimelineEvent::new(&description.unwrap_or_default())
            }))
        } else {
            let text = description.as_ref().map(|_| reference);
            let precision = input.precision;
            let change =
                TimelineEventChange { date, sort, precision, description, text, entity_ids, session_id, visible_to };
            TimelineCommand::Update { event_id, expected_revision: None, change: Box::new(change) }
        };
        Ok((command, text))
    }

    /// A description as it is stored: all of it if it is short, otherwise its beginning and a text.
    fn split_description(&self, lore: &EnteredLore, description: &str) -> Result<(String, Option<NewText>), Fault> {
        let description = description.trim();
        let (chars, chars_max) = (description.chars().count(), limits::TIMELINE_DESCRIPTION_CHARS_MAX);
        if chars > chars_max {
            let message = format!("description has at most {chars_max} characters, this one has {chars}");
            let fault = Fault::new(Code::InvalidParams, message).with_path("/description");
            return Err(fault.hint("put the rest into the entry of an entity and link it"));
        }
        let shown = limits::TIMELINE_SUMMARY_CHARS_MAX;
        if chars <= shown {
            return Ok((description.to_owned(), None));
        }
        let beginning: String = description.chars().take(shown - 1).collect();
        let text = self.new_text(&lore.campaign_id, Entry { markdown: description.to_owned(), html: None })?;
        Ok((format!("{}…", beginning.trim_end()), Some(text)))
    }

    /// Who may see an event: `is_player_known`, or people by name.
    async fn timeline_visibility(
        &self,
        lore: &EnteredLore,
        input: &TimelineInput,
    ) -> Result<Option<Visibility>, Fault> {
        match (input.is_player_known, &input.visible_to) {
            (Some(true), Some(_)) => {
                let fault = Fault::new(Code::InvalidParams, "is_player_known is true, and visible_to names people");
                Err(fault.with_path("/visible_to").hint("send one of the two"))
            }
            (_, Some(names)) => self.resolve_visible_to(lore, names).await.map(Some),
            (Some(true), None) => Ok(Some(Visibility::Table)),
            (Some(false), None) => Ok(Some(Visibility::GameMasters)),
            (None, None) => Ok(None),
        }
    }
}

impl EnteredLore {
    pub(super) fn resolve_entities(&self, references: &[EntityReference]) -> Result<Vec<u64>, Fault> {
        let resolved = references.iter().enumerate();
        resolved.map(|(index, reference)| self.resolve_entity(reference, &format!("/entity_ids/{index}"))).collect()
    }
}

/// The fault for an event that does not exist, or that the caller may not see: both look the same.
fn missing_event_fault(event_id: u64) -> Fault {
    Fault::new(Code::NotFound, format!("there is no event {event_id} on this campaign's timeline"))
        .with_path("/event_id")
        .value(&event_id.into())
        .hint("query the timeline for its ids")
}

/// The rows after a place, as many as fit a page, and the place of the last if there are more.
fn cut_page(
    rows: Vec<(RowPlace, TimelineRow)>,
    after: Option<RowPlace>,
    limit: usize,
) -> (Vec<TimelineRow>, Option<RowPlace>) {
    let mut rest = rows.into_iter().filter(|(place, _)| after.is_none_or(|after| *place > after)).peekable();
    let (mut page, mut bytes, mut last) = (Vec::new(), 0, None);
    while let Some((place, row)) = rest.peek() {
        bytes += serde_json::to_string(row).map_or(0, |text| text.len());
        if page.len() >= limit || (bytes > limits::EVENTS_PAGE_BYTES_MAX && !page.is_empty()) {
            return (page, last);
        }
        last = Some(*place);
        page.extend(rest.next().map(|(_, row)| row));
    }
    (page, None)
}

fn written_event(done: &Applied<LoreStream>) -> TimelineOutput {
    let state = &done.committed.state;
    let (word, event_id) = match done.events.first() {
        Some(LoreEvent::TimelineEventAdded { event_id, .. }) => ("added", *event_id),
        Some(LoreEvent::TimelineEventUpdated { event_id, .. }) => ("updated", *event_id),
        Some(LoreEvent::TimelineEventRemoved { event_id, .. }) => ("removed", *event_id),
        _ => return TimelineOutput::default(),
    };
    let event = state.timeline().get(event_id);
    let events = event.map(|event| TimelineRow::written(state, event, true, |_| true)).into_iter().collect();
    TimelineOutput { summary: format!("{word}: event {event_id}"), events, ..TimelineOutput::default() }
}
