//! Cache of a universe's rendered JSON: rendered once for each revision that is read.

use crate::universe::UniverseStream;
use std::sync::Arc;

use arc_swap::ArcSwapOption;
use tokio::sync::OnceCell;

use super::access::{FoundUniverse, things};
use super::incremental_json::{RecordDocument, StateDocument, UniverseJson};
use super::read_record::UniverseRecord;
use crate::{App, Fault, Prepared, limits};
use skald_journal::CommittedState;

/// What is ready of one revision.
#[derive(Default)]
pub struct RenderCache {
    forms: OnceCell<RenderedUniverse>,
    /// The last that was made of any revision: the next is made from it.
    last: Arc<ArcSwapOption<UniverseJson>>,
}

impl RenderCache {
    pub(super) fn next(&self) -> Self {
        Self { forms: OnceCell::new(), last: Arc::clone(&self.last) }
    }
}

#[derive(Clone)]
pub(super) struct RenderedUniverse {
    /// The universe with its name, its revision and all that it holds.
    pub record: Prepared,
    /// What it holds.
    pub state: Prepared,
}

impl App {
    /// The universe that was found, as bytes. Whoever comes while they are made waits for them.
    pub(super) async fn rendered_universe(&self, found_universe: &FoundUniverse) -> Result<RenderedUniverse, Fault> {
        // Nothing in a universe is hidden from those who see it, so one form is for all of them.
        let universe = found_universe.universe()?;
        let forms = found_universe.committed.read_cache.forms.get_or_try_init(async || {
            let committed = Arc::clone(&found_universe.committed);
            if things(universe.state()) <= limits::ANSWERED_STATE_MAX {
                return render(&committed);
            }
            // Long enough to keep others waiting.
            let made = tokio::task::spawn_blocking(move || render(&committed)).await;
            made.unwrap_or_else(|error| Err(error.to_string()))
        });
        let forms = forms.await.map_err(|error| Fault::internal(error, self.request_id()))?;
        Ok(forms.clone())
    }
}

fn render(committed: &CommittedState<UniverseStream>) -> Result<RenderedUniverse, String> {
    let record = UniverseRecord::of(&committed.state, committed.revision()).ok_or("there is no universe")?;
    let last = committed.read_cache.last.load_full();
    let json =
        UniverseJson::write(&record, committed.state.state(), last.as_deref()).map_err(|error| error.to_string())?;
    let json = Arc::new(json);
    committed.read_cache.last.store(Some(Arc::clone(&json)));
    let record = Prepared::of(Arc::new(RecordDocument(Arc::clone(&json))));
    Ok(RenderedUniverse { record, state: Prepared::of(Arc::new(StateDocument(json))) })
}
