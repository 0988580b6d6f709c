//! Current time of each universe of a campaign, for the timeline.

use super::stream::universe_stream;
use crate::campaign::RecordedEvent;
use crate::{App, Fault};

/// Universes that are read for one answer, the newest.
const UNIVERSES_MAX: usize = 10;

impl App {
    /// The time of each of the newest universes of a campaign that the caller has entered, at its last change; and whether
    /// there are more universes.
    pub(crate) async fn recorded_universe_times(&self, campaign_id: &str) -> Result<(Vec<RecordedEvent>, bool), Fault> {
        let (listed, count) = self.newest_universes(campaign_id, UNIVERSES_MAX).await?;
        let mut events = Vec::new();
        for universe_id in listed.iter().filter_map(|listed| listed["id"].as_str()) {
            let committed = self.universes.read(&universe_stream(universe_id)).await;
            let committed = committed.map_err(|error| self.store_fault(&error))?;
            let Some(identity) = committed.state.identity() else { continue };
            let Some(at) = committed.state.updated_at() else { continue };
            events.push(RecordedEvent {
                at,
                kind: "universe.time".to_owned(),
                description: format!("{}: time {}", identity.name, committed.state.state().time()),
                session_id: None,
                actor_id: None,
            });
        }
        Ok((events, count > UNIVERSES_MAX as u64))
    }
}
