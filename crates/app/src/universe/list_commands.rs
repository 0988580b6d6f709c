//! `list_universe_commands`: the commands that a universe accepts, with a valid example of each.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use skald_domain::universe::{CATEGORIES, Category, Command, CommandEntry, category};

use super::parse_command_or_state;
use crate::{
    Allowed, App, Call, Caller, CampaignRole, Code, Fault, Operation, OperationKind, PermissionClass, Toolset,
    truncate_for_message,
};

pub(super) struct ListUniverseCommands;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ListUniverseCommandsInput {
    /// The universe.
    universe_id: String,
    /// One category, such as star-crud or Star CRUD: then with the schema of each command.
    category: Option<String>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ListUniverseCommandsOutput {
    categories: Vec<CategoryInfo>,
    /// The types of all commands, whatever was asked for.
    command_types: &'static [&'static str],
}

#[derive(Serialize, JsonSchema)]
struct CategoryInfo {
    title: &'static str,
    /// The same in another spelling.
    name: &'static str,
    /// The same as a filter.
    slug: &'static str,
    commands: Vec<CommandInfo>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct CommandInfo {
    #[serde(rename = "type")]
    kind: &'static str,
    purpose: &'static str,
    /// Fields beside type without which it is refused.
    required: &'static [&'static str],
    #[schemars(with = "Map<String, Value>")]
    example: Value,
    /// JSON Schema of the command.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    schema: Option<Value>,
}

impl CommandInfo {
    pub(super) fn from_entry(entry: &'static CommandEntry, with_schema: bool) -> Self {
        Self {
            kind: entry.name,
            purpose: entry.purpose,
            required: entry.required,
            example: parse_command_or_state::command_example(entry),
            schema: with_schema.then(|| parse_command_or_state::client_schema(entry.name)).flatten().cloned(),
        }
    }
}

impl CategoryInfo {
    fn from_category(category: &'static Category, with_schemas: bool) -> Self {
        let commands = category.commands.iter().map(|entry| CommandInfo::from_entry(entry, with_schemas)).collect();
        Self { title: category.title, name: category.name, slug: category.slug, commands }
    }
}

impl Operation for ListUniverseCommands {
    const NAME: &'static str = "list_universe_commands";
    const TITLE: &'static str = "List universe commands";
    const SUMMARY: &'static str = "List the commands for send_universe_command by category, with an example of each; \
        with a category also their schemas.";
    const TOOLSET: Toolset = Toolset::Universe;
    const KIND: OperationKind = OperationKind::Read;
    const LISTS: bool = true;
    const ALLOWED: Allowed = Allowed::InCampaign(CampaignRole::Guest);
    const CLASS: PermissionClass = PermissionClass::ReadUniverse;
    type Input = ListUniverseCommandsInput;
    type Output = ListUniverseCommandsOutput;

    async fn run(
        app: &App,
        call: &Call<'_>,
        input: ListUniverseCommandsInput,
    ) -> Result<ListUniverseCommandsOutput, Fault> {
        app.find_universe::<Self>(call, &input.universe_id, CampaignRole::Guest).await?;
        let categories = match &input.category {
            None => CATEGORIES.iter().map(|category| CategoryInfo::from_category(category, false)).collect(),
            Some(name) => {
                let found = category(name).ok_or_else(|| unknown_category_fault(name).universe(&input.universe_id))?;
                vec![CategoryInfo::from_category(found, true)]
            }
        };
        Ok(ListUniverseCommandsOutput { categories, command_types: Command::NAMES })
    }

    async fn complete(app: &App, caller: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        match field {
            "category" => Some(category_slugs().map(str::to_owned).collect()),
            field => app.complete_universe_id(caller, field).await,
        }
    }
}

fn category_slugs() -> impl Iterator<Item = &'static str> {
    CATEGORIES.iter().map(|category| category.slug)
}

fn unknown_category_fault(name: &str) -> Fault {
    let known: Vec<&str> = category_slugs().collect();
    Fault::new(Code::InvalidParams, format!("there is no category {:?} of commands", truncate_for_message(name)))
        .with_path("/category")
        .value(&name.into())
        .hint(format!("allowed: {}; none for all", known.join(", ")))
        .allowed(known)
}
