//! Documentation pages about universes: explanations are written by hand, facts are rendered from types and tables.

mod command;
mod commands;
mod rules;
mod structure;

use std::sync::LazyLock;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) use command::UniverseCommandDocs;

use crate::{Allowed, App, Call, Exposed, Fault, Operation, OperationKind, PermissionClass, Route, Toolset};

pub(super) struct UniverseDocs;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum DocsPage {
    #[default]
    Overview,
    Structure,
    Commands,
    Rules,
    Streaming,
    /// All of them.
    Full,
}

static STRUCTURE: LazyLock<String> = LazyLock::new(structure::render_page);
static COMMANDS: LazyLock<String> = LazyLock::new(commands::render_page);
static RULES: LazyLock<String> = LazyLock::new(rules::render_page);
static FULL: LazyLock<String> = LazyLock::new(|| {
    let pages = [DocsPage::Overview, DocsPage::Structure, DocsPage::Commands, DocsPage::Rules, DocsPage::Streaming];
    pages.map(|page| page.text().trim_end()).join("\n\n---\n\n") + "\n"
});

impl DocsPage {
    fn title(self) -> &'static str {
        match self {
            Self::Overview => "Overview",
            Self::Structure => "Structure",
            Self::Commands => "Commands",
            Self::Rules => "Rules",
            Self::Streaming => "As it happens",
            Self::Full => "Universes",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Overview => include_str!("overview.md"),
            Self::Structure => &STRUCTURE,
            Self::Commands => &COMMANDS,
            Self::Rules => &RULES,
            Self::Streaming => include_str!("streaming.md"),
            Self::Full => &FULL,
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct UniverseDocsInput {
    /// Which page.
    #[serde(default)]
    page: DocsPage,
}

/// A text and what it is called.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct UniverseDocsOutput {
    title: &'static str,
    /// Markdown.
    text: &'static str,
}

impl Operation for UniverseDocs {
    const NAME: &'static str = "universe_docs";
    const TITLE: &'static str = "About universes";
    const SUMMARY: &'static str =
        "What a universe holds, what may be done to it, what is refused, and how to watch it.";
    const TOOLSET: Toolset = Toolset::Universe;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Reference;
    const EXPOSED: Exposed = Exposed::NotAsTool;
    const ROUTES: &'static [Route] = &[Route::document("/api/v1/docs/universe/{page}", "text/markdown")];
    type Input = UniverseDocsInput;
    type Output = UniverseDocsOutput;

    async fn run(_: &App, _: &Call<'_>, input: UniverseDocsInput) -> Result<UniverseDocsOutput, Fault> {
        Ok(UniverseDocsOutput { title: input.page.title(), text: input.page.text() })
    }
}
