//! Completion of body ids: bodies of the named universe whose id or name begins with the typed text.

use super::read::UniverseRead;
use crate::{App, Call, Caller, CampaignRole, Completion, CompletionRequest, RequestControl, limits};

impl App {
    /// Bodies of the universe in the argument `universeId`: first those whose id begins with the typed text, then those
    /// whose name does. Empty if that argument is missing, or names no universe that the caller may see.
    pub(super) async fn complete_body_id(&self, caller: &Caller, request: &CompletionRequest) -> Completion {
        let Some(universe_id) = request.argument_value("universeId") else { return Completion::default() };
        let control = RequestControl::default();
        let call = Call::internal(caller, &control);
        let found_universe = self.find_universe::<UniverseRead>(&call, universe_id, CampaignRole::Guest).await;
        let Ok(universe) = found_universe.and_then(|found_universe| found_universe.universe()) else {
            return Completion::default();
        };
        let typed = request.typed.trim().to_lowercase();
        let begins = |text: &str| text.to_lowercase().starts_with(&typed);
        let bodies = || universe.state().snapshot().bodies().iter();
        let by_id = bodies().filter(|(id, _)| begins(id));
        let by_name = bodies().filter(|(id, star)| !begins(id) && begins(&star.name));
        let mut completion = Completion::default();
        for (id, _) in by_id.chain(by_name) {
            completion.total += 1;
            if completion.values.len() < limits::COMPLETIONS_MAX {
                completion.values.push(id.to_string());
            }
        }
        completion
    }
}
