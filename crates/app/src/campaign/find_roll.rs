//! Finds a recorded roll by its id: every die and the seed, which a roll's short answer leaves out.

use skald_domain::Moment;
use skald_domain::campaign::{CampaignEvent, LoggedRoll};

use super::access::{EnteredCampaign, parse_id};
use super::list_events::LoggedEvent;
use crate::{App, Caller, Code, Fault, truncate_for_message};

/// Journal records per read.
const RECORDS_PER_READ: u64 = 500;

impl App {
    /// The newest records are read first, since a roll is looked up soon after it was made.
    pub(super) async fn find_roll(
        &self,
        caller: &Caller,
        entered_campaign: &EnteredCampaign,
        roll_id: Option<&str>,
    ) -> Result<LoggedRoll, Fault> {
        let Some(roll_id) = parse_id("roll_id", roll_id)? else {
            return Err(Fault::new(Code::InvalidParams, "roll_id is missing, which view roll needs")
                .with_path("/roll_id")
                .hint(
                    "send the roll_id that the roll was answered with; events_list with types [\"roll\"] lists them",
                ));
        };
        let redaction = entered_campaign.redaction(caller);
        let mut last = entered_campaign.committed.revision();
        while last > 0 {
            let after = last.saturating_sub(RECORDS_PER_READ);
            let records = usize::try_from(last - after).unwrap_or(usize::MAX);
            let events = self.read_events(&redaction, entered_campaign, after, records).await?;
            if let Some(roll) = events.into_iter().find_map(|event| as_roll(event, roll_id)) {
                return Ok(roll);
            }
            last = after;
        }
        let message =
            format!("there is no roll {:?} in {}", truncate_for_message(roll_id), entered_campaign.campaign_id);
        Err(Fault::new(Code::NotFound, message)
            .with_path("/roll_id")
            .value(&roll_id.into())
            .hint("send a roll_id of this campaign; events_list with types [\"roll\"] lists them"))
    }
}

fn as_roll(logged: LoggedEvent, roll_id: &str) -> Option<LoggedRoll> {
    match logged.event {
        CampaignEvent::RollRecorded(roll) if roll.id == roll_id => {
            Some(LoggedRoll { roll: *roll, at: Moment::from(logged.recorded_at), by: logged.by })
        }
        _ => None,
    }
}
