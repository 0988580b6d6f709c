//! A universe as bytes, made once for each revision that somebody reads and kept for as long as it is the newest.

use std::sync::Arc;

use bytes::Bytes;
use domain::universe::UniverseRules;
use tokio::sync::OnceCell;

use super::record::UniverseRecord;
use super::sky::{Sky, things};
use crate::journal::Kept;
use crate::{App, Fault, Prepared, limits};

/// What is ready of one revision.
#[derive(Default)]
pub struct Ready(OnceCell<Forms>);

/// One allocation holds both: the state is a part of the record.
#[derive(Clone)]
pub(super) struct Forms {
    /// The universe with its name, its revision and all that it holds.
    pub record: Prepared,
    /// What it holds.
    pub state: Prepared,
}

impl App {
    /// The universe that was found, as bytes. Whoever comes while they are made waits for them.
    pub(super) async fn ready(&self, sky: &Sky) -> Result<Forms, Fault> {
        // Nothing in a universe is hidden from those who see it, so one form is for all of them.
        let universe = sky.universe()?;
        let forms = sky.kept.ready.0.get_or_try_init(async || {
            let kept = Arc::clone(&sky.kept);
            if things(universe.state()) <= limits::ANSWERED_STATE_MAX {
                return made(&kept);
            }
            // Long enough to keep others waiting.
            let made = tokio::task::spawn_blocking(move || made(&kept)).await;
            made.unwrap_or_else(|error| Err(error.to_string()))
        });
        let forms = forms.await.map_err(|error| Fault::internal(error, self.request_id()))?;
        Ok(forms.clone())
    }
}

fn made(kept: &Kept<UniverseRules>) -> Result<Forms, String> {
    let record = UniverseRecord::of(&kept.state, kept.revision()).ok_or("there is no universe")?;
    let mut json = serde_json::to_vec(&record).map_err(|error| error.to_string())?;
    // The state comes last in a record.
    json.pop();
    json.extend_from_slice(b",\"state\":");
    let from = json.len();
    serde_json::to_writer(&mut json, kept.state.state()).map_err(|error| error.to_string())?;
    let to = json.len();
    json.push(b'}');
    let json = Bytes::from(json);
    Ok(Forms { state: Prepared::new(json.slice(from..to)), record: Prepared::new(json) })
}
