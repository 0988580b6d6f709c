//! `game_system`: facts of play of known game systems: attributes, dice, outcomes, and scales of difficulty.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    Allowed, App, Call, Caller, Code, Exposed, Fault, Operation, OperationKind, PermissionClass, Route, Toolset,
    truncate_for_message,
};

/// Each system by its code, as JSON.
const SYSTEMS: [(&str, &str); 5] = [
    ("daggerheart", include_str!("systems/daggerheart.json")),
    ("coc-7e", include_str!("systems/coc-7e.json")),
    ("gurps-4e", include_str!("systems/gurps-4e.json")),
    ("fitd", include_str!("systems/fitd.json")),
    ("dnd-5e-2024", include_str!("systems/dnd-5e-2024.json")),
];

pub(super) struct ReadGameSystem;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GameSystemInput {
    /// Such as daggerheart or coc-7e.
    #[schemars(extend("examples" = ["daggerheart", "coc-7e", "gurps-4e", "fitd", "dnd-5e-2024"]))]
    code: String,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct GameSystemOutput(Value);

impl Operation for ReadGameSystem {
    const NAME: &'static str = "game_system";
    const TITLE: &'static str = "A game system";
    const SUMMARY: &'static str = "Facts of play: attributes, dice, outcomes and scales of difficulty.";
    const TOOLSET: Toolset = Toolset::Canon;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Reference;
    const EXPOSED: Exposed = Exposed::NotAsTool;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/systems/{code}")];
    type Input = GameSystemInput;
    type Output = GameSystemOutput;

    async fn run(app: &App, _: &Call<'_>, input: GameSystemInput) -> Result<GameSystemOutput, Fault> {
        let code = input.code.trim();
        let Some((_, system)) = SYSTEMS.iter().find(|(known, _)| known.eq_ignore_ascii_case(code)) else {
            let message = format!("there is no game system {:?}", truncate_for_message(code));
            let fault = Fault::new(Code::NotFound, message).with_path("/code").value(&code.into());
            return Err(fault.hint("send one of these codes").allowed(SYSTEMS.map(|(code, _)| code)));
        };
        let system = serde_json::from_str(system).map_err(|error| Fault::internal(error, app.new_request_id()))?;
        Ok(GameSystemOutput(system))
    }

    async fn complete(_: &App, _: &Caller, field: &str, typed: &str) -> Option<Vec<String>> {
        let codes = SYSTEMS.iter().map(|(code, _)| (*code).to_owned());
        (field == "code").then(|| codes.filter(|code| code.starts_with(typed)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_system_says_what_is_rolled_and_what_comes_of_it() {
        for (code, text) in SYSTEMS {
            let system: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{code}: {error}"));
            assert_eq!(system["code"], code);
            for field in ["name", "dice", "attributes", "outcomes", "difficulty"] {
                assert!(!system[field].is_null(), "{code} has no {field}");
            }
        }
    }
}
