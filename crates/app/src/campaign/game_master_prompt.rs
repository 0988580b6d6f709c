//! The prompt `game_master`: the skill of that name, for clients that have prompts and no skills.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::skills::{SKILLS, SkillFile};
use crate::{App, Caller, Code, Fault, Prompt, Toolset};

pub(super) struct GameMaster;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct GameMasterArguments {
    /// A deeper page instead of the whole: session-zero, scenes, secrets, gate or recap.
    #[schemars(extend("examples" = ["session-zero", "scenes", "secrets", "gate", "recap"]))]
    page: Option<String>,
}

impl Prompt for GameMaster {
    const NAME: &'static str = "game_master";
    const TITLE: &'static str = "Be the game master";
    const SUMMARY: &'static str = "How to run an evening well with Skald: scenes, dice, secrets, recap.";
    const TOOLSET: Toolset = Toolset::Campaign;
    type Arguments = GameMasterArguments;

    async fn render(_: &App, _: &Caller, arguments: GameMasterArguments) -> Result<String, Fault> {
        let [skill] = SKILLS;
        let Some(page) = arguments.page.as_deref().map(str::trim).filter(|page| !page.is_empty()) else {
            let hint = "The pages under references/ are this prompt with the argument page: session-zero, scenes, secrets, \
                        gate or recap.";
            return Ok(format!("{}\n\n{hint}", skill.instructions().trim()));
        };
        let pages = &skill.files[1..];
        let found = pages.iter().find(|file| file.page_name() == page || file.path == page);
        let unknown = || {
            let fault = Fault::new(Code::InvalidParams, format!("there is no page {page:?}")).with_path("/page");
            fault
                .hint("name one of the pages, or none")
                .allowed(pages.iter().map(SkillFile::page_name).collect::<Vec<_>>())
        };
        Ok(found.ok_or_else(unknown)?.text.to_owned())
    }
}
