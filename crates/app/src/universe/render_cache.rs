//! Cache of a universe's rendered JSON: rendered once for each revision that is read.

use crate::universe::UniverseStream;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use tokio::sync::OnceCell;

use super::access::{FoundUniverse, count_things};
use super::incremental_json::{RecordDocument, StateDocument, UniverseJson};
use super::read_record::UniverseRecord;
use crate::{App, Fault, RenderedJson, limits};
use skald_journal::CommittedState;

/// The rendered JSON of one revision.
#[derive(Default)]
pub struct RenderCache {
    forms: OnceCell<RenderedUniverse>,
    /// The last rendering of any revision, from which the next one takes unchanged parts.
    last: Arc<ArcSwapOption<UniverseJson>>,
}

impl RenderCache {
    pub(super) fn for_next_revision(&self) -> Self {
        Self { forms: OnceCell::new(), last: Arc::clone(&self.last) }
    }
}

#[derive(Clone)]
pub(super) struct RenderedUniverse {
    /// The universe with its name, its revision and all that it holds.
    pub record: RenderedJson,
    /// Its state alone.
    pub state: RenderedJson,
}

impl App {
    /// The rendered JSON of a universe. Concurrent callers wait for one rendering.
    pub(super) async fn rendered_universe(&self, found_universe: &FoundUniverse) -> Result<RenderedUniverse, Fault> {
        // Everyone who may see a universe sees all of it, so all callers share one rendering.
        let universe = found_universe.universe()?;
        let forms = found_universe.committed.read_cache.forms.get_or_try_init(async || {
            let committed = Arc::clone(&found_universe.committed);
            if count_things(universe.state()) <= limits::ANSWERED_STATE_MAX {
                return render_universe(&committed);
            }
            // A large universe would block the async runtime.
            let made = tokio::task::spawn_blocking(move || render_universe(&committed)).await;
            made.unwrap_or_else(|error| Err(error.to_string()))
        });
        let forms = forms.await.map_err(|error| Fault::internal(error, self.new_request_id()))?;
        Ok(forms.clone())
    }
}

fn render_universe(committed: &CommittedState<UniverseStream>) -> Result<RenderedUniverse, String> {
    let record = UniverseRecord::from_universe(&committed.state, committed.revision()).ok_or("there is no universe")?;
    let last = committed.read_cache.last.load_full();
    let json =
        UniverseJson::render(&record, committed.state.state(), last.as_deref()).map_err(|error| error.to_string())?;
    let json = Arc::new(json);
    committed.read_cache.last.store(Some(Arc::clone(&json)));
    let record = RenderedJson::new(Arc::new(RecordDocument(Arc::clone(&json))));
    Ok(RenderedUniverse { record, state: RenderedJson::new(Arc::new(StateDocument(json))) })
}
