//! Reference texts for a model: the Duality rules and the dice notation.

use schemars::JsonSchema;
use serde::Serialize;

use super::duality::NoInput;
use crate::{Allowed, App, Call, Exposed, Fault, Operation, OperationKind, PermissionClass, Route, Toolset};

pub(super) struct DualityRules;

/// A text and what it is called.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TextDocument {
    title: &'static str,
    /// Markdown.
    text: &'static str,
}

impl Operation for DualityRules {
    const NAME: &'static str = "duality_rules";
    const TITLE: &'static str = "The Duality rules";
    const SUMMARY: &'static str =
        "The Duality rules as a text: the roll, the outcomes, the odds, and how rolls are made fair.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Reference;
    const EXPOSED: Exposed = Exposed::NotAsTool;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/duality/rules")];
    type Input = NoInput;
    type Output = TextDocument;

    async fn run(_: &App, _: &Call<'_>, _: NoInput) -> Result<TextDocument, Fault> {
        Ok(TextDocument { title: Self::TITLE, text: include_str!("rules.md") })
    }
}

pub(super) struct DiceNotation;

impl Operation for DiceNotation {
    const NAME: &'static str = "dice_notation";
    const TITLE: &'static str = "Dice notation";
    const SUMMARY: &'static str = "The notation that roll and odds read, as a text.";
    const TOOLSET: Toolset = Toolset::Dice;
    const KIND: OperationKind = OperationKind::Read;
    const ALLOWED: Allowed = Allowed::Anyone;
    const CLASS: PermissionClass = PermissionClass::Reference;
    const EXPOSED: Exposed = Exposed::NotAsTool;
    const ROUTES: &'static [Route] = &[Route::get("/api/v1/dice/notation")];
    type Input = NoInput;
    type Output = TextDocument;

    async fn run(_: &App, _: &Call<'_>, _: NoInput) -> Result<TextDocument, Fault> {
        Ok(TextDocument { title: Self::TITLE, text: include_str!("notation.md") })
    }
}
