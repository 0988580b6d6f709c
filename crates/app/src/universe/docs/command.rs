//! `universe_command_docs`: the documentation of one command, with its schema, events and refusals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skald_domain::universe::{CATEGORIES, Command, FailureEntry, Reason, command_entry, outcome};

use super::super::list_commands::CommandInfo;
use crate::{
    Allowed, App, Call, Caller, Code, Exposed, Fault, Operation, OperationKind, PermissionClass, Route, Toolset, input,
    truncate_for_message,
};

pub(in super::super) struct UniverseCommandDocs;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct UniverseCommandDocsInput {
    /// The type of a command, such as addStar.
    command: String,
}

#[derive(Serialize, JsonSchema)]
pub(in super::super) struct UniverseCommandDocsOutput {
    /// As `list_universe_commands` takes it.
    category: &'static str,
    #[serde(flatten)]
    command: CommandInfo,
    /// The event of its success, and that of nothing to do where there is one; none for tick.
    events: Vec<&'static str>,
    /// The events that it can fail with. Then nothing is changed.
    refusals: Vec<RefusalInfo>,
}

#[derive(Serialize, JsonSchema)]
struct RefusalInfo {
    event: &'static str,
    /// Words that the event can give as reason; none where its name says it all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    reasons: Vec<ReasonInfo>,
}

#[derive(Serialize, JsonSchema)]
struct ReasonInfo {
    #[schemars(with = "String")]
    reason: Reason,
    /// What to do then.
    hint: &'static str,
}

impl RefusalInfo {
    fn from_entry(entry: &FailureEntry) -> Self {
        let shown = |reason: &Reason| ReasonInfo { reason: *reason, hint: reason.hint() };
        Self { event: entry.event, reasons: entry.reasons.iter().map(shown).collect() }
    }
}

impl Operation for UniverseCommandDocs {
    const NAME: &'static str = "universe_command_docs";
    const TITLE: &'static str = "About a command";
    const SUMMARY: &'static str =
        "One command to a universe: its schema, an example, the event of its success and the ways it can fail.";
    const TOOLSET: Toolset = Toolset::Universe;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Reference;
    const EXPOSED: Exposed = Exposed::NotAsTool;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/docs/universe/commands/{command}")];
    type Input = UniverseCommandDocsInput;
    type Output = UniverseCommandDocsOutput;

    async fn run(_: &App, _: &Call<'_>, input: UniverseCommandDocsInput) -> Result<UniverseCommandDocsOutput, Fault> {
        command_docs(input.command.trim()).ok_or_else(|| unknown_command_fault(&input.command))
    }

    async fn complete(_: &App, _: &Caller, field: &str, _: &str) -> Option<Vec<String>> {
        (field == "command").then(|| Command::NAMES.iter().copied().map(str::to_owned).collect())
    }
}

fn command_docs(name: &str) -> Option<UniverseCommandDocsOutput> {
    let (entry, outcome) = (command_entry(name)?, outcome(name)?);
    let category = CATEGORIES.iter().find(|category| category.commands.iter().any(|entry| entry.name == name))?;
    Some(UniverseCommandDocsOutput {
        category: category.slug,
        command: CommandInfo::from_entry(entry, true),
        events: outcome.event.into_iter().chain(outcome.no_op_event()).collect(),
        refusals: outcome.failures.iter().map(RefusalInfo::from_entry).collect(),
    })
}

fn unknown_command_fault(name: &str) -> Fault {
    let hint = match input::nearest_word(name, Command::NAMES) {
        Some(word) => format!("did you mean {word}? `docs://universe/commands` has them all"),
        None => "`docs://universe/commands` has them all".to_owned(),
    };
    Fault::new(Code::NotFound, format!("there is no command {:?}", truncate_for_message(name)))
        .with_path("/command")
        .value(&name.into())
        .hint(hint)
        .allowed(Command::NAMES.iter().copied())
}
