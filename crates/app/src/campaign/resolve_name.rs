//! Resolves the names that people say to ids: of campaigns, and of participants, actors and sessions in a campaign.
//!
//! A text that is an id, or looks like one, is never taken for a name. URIs take ids alone: a resource has one URI.

use skald_domain::campaign::{Actor, Campaign, CampaignStatus, HasId, InsertionOrderedMap, Participant, Session};
use skald_domain::id;

use super::access::{EnteredCampaign, parse_id};
use crate::redaction::Redact;
use crate::{App, Call, Code, Fault, limits, truncate_for_message};

/// The most candidates that an error lists.
const CANDIDATES_MAX: usize = 10;

/// A thing in a campaign that people call by its name.
pub(super) trait HasName: HasId + Redact {
    const THING: &'static str;
    const ID_PREFIX: &'static str;
    fn name(&self) -> &str;
}

impl HasName for Participant {
    const THING: &'static str = "participant";
    const ID_PREFIX: &'static str = id::PARTICIPANT;

    fn name(&self) -> &str {
        &self.display_name
    }
}

impl HasName for Actor {
    const THING: &'static str = "actor";
    const ID_PREFIX: &'static str = id::ACTOR;

    fn name(&self) -> &str {
        &self.name
    }
}

impl HasName for Session {
    const THING: &'static str = "session";
    const ID_PREFIX: &'static str = id::SESSION;

    fn name(&self) -> &str {
        &self.name
    }
}

pub(crate) fn is_same_name(left: &str, right: &str) -> bool {
    left.trim().to_lowercase() == right.trim().to_lowercase()
}

/// The id of the thing that an id or a unique name stands for, among those that the caller sees. A text that is neither is
/// returned as it is: the rules refuse it.
pub(super) fn find_id_by_name<T: HasName>(
    map: &InsertionOrderedMap<T>,
    pointer: &str,
    given: &str,
    is_visible: impl Fn(&T) -> bool,
) -> Result<String, Fault> {
    let text = given.trim();
    if text.is_empty() || map.contains(text) || text.starts_with(T::ID_PREFIX) {
        return Ok(text.to_owned());
    }
    let named = map.newest_first().filter(|item| is_same_name(item.name(), text) && is_visible(item));
    let found: Vec<&T> = named.take(CANDIDATES_MAX).collect();
    match &found[..] {
        [] => Ok(text.to_owned()),
        [one] => Ok(one.id().to_owned()),
        several => {
            let candidates = several.iter().map(|item| (item.name(), item.id()));
            Err(ambiguous_name_fault(pointer, text, T::THING, candidates))
        }
    }
}

impl EnteredCampaign {
    /// The id of a thing that a call names by its id or its unique name. A text that is neither is returned as it is: the
    /// rules refuse it.
    pub(super) fn resolve_id<T: HasName>(
        &self,
        call: &Call<'_>,
        field: &str,
        given: &str,
        map: &InsertionOrderedMap<T>,
    ) -> Result<String, Fault> {
        if call.control.takes_only_ids {
            return Ok(given.trim().to_owned());
        }
        let redaction = self.redaction(call.caller);
        find_id_by_name(map, &format!("/{field}"), given, |item| redaction.redact_ref(item).is_some())
    }

    /// Like `resolve_id`, for a field that may be left out.
    pub(super) fn resolve_optional_id<T: HasName>(
        &self,
        call: &Call<'_>,
        field: &str,
        given: Option<&str>,
        map: &InsertionOrderedMap<T>,
    ) -> Result<Option<String>, Fault> {
        let Some(given) = given else { return Ok(None) };
        if given.trim().is_empty() {
            parse_id(field, Some(given))?;
        }
        self.resolve_id(call, field, given, map).map(Some)
    }
}

impl App {
    /// The id of a campaign that a call names by its id, its number or its unique name. Archived campaigns do not make a
    /// name ambiguous.
    pub(crate) async fn resolve_campaign_id(&self, call: &Call<'_>, given: &str) -> Result<String, Fault> {
        let text = given.trim();
        if let Some(campaign_id) = self.campaign_of_number(call.caller, text).await? {
            return Ok(campaign_id);
        }
        if call.control.takes_only_ids || text.is_empty() || text.starts_with(id::CAMPAIGN) {
            return parse_id("campaign_id", Some(given)).map(|id| id.unwrap_or_default().to_owned());
        }
        let (mut found, mut cursor): (Vec<Campaign>, Option<String>) = (Vec::new(), None);
        loop {
            let page = self.list_campaigns(call.caller, cursor.as_deref(), limits::PAGE_MAX).await?;
            if let Some(by_id) = page.items.iter().find(|campaign| campaign.id == text) {
                return Ok(by_id.id.clone());
            }
            found.extend(page.items.into_iter().filter(|campaign| is_same_name(&campaign.name, text)));
            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        if found.iter().any(|campaign| campaign.status != CampaignStatus::Archived) {
            found.retain(|campaign| campaign.status != CampaignStatus::Archived);
        }
        match &found[..] {
            [] => Ok(text.to_owned()),
            [one] => Ok(one.id.clone()),
            several => {
                let candidates = several.iter().map(|campaign| (campaign.name.as_str(), campaign.id.as_str()));
                Err(ambiguous_name_fault("/campaign_id", text, "campaign", candidates.take(CANDIDATES_MAX)))
            }
        }
    }
}

fn ambiguous_name_fault<'a>(
    pointer: &str,
    text: &str,
    thing: &str,
    candidates: impl Iterator<Item = (&'a str, &'a str)>,
) -> Fault {
    let candidates: Vec<(&str, &str)> = candidates.collect();
    let listed: Vec<String> = candidates.iter().map(|(name, id)| format!("{name} ({id})")).collect();
    let message =
        format!("{:?} is the name of more than one {thing}: {}", truncate_for_message(text), listed.join(", "));
    Fault::new(Code::InvalidParams, message)
        .with_path(pointer)
        .value(&text.into())
        .allowed(candidates.iter().map(|(_, id)| *id))
        .hint("send one of these ids")
}
