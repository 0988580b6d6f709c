//! The dice noun: operations for Duality rolls, pools, expressions and exact odds, reference texts, and a prompt.

mod duality;
mod explain_odds_prompt;
mod expression_odds;
mod group_roll;
mod judge_dice;
mod odds;
mod odds_picture;
mod reference_texts;
mod resources;
mod roll;
mod roll_dice;
mod roll_summary;

use futures::FutureExt;
use futures::future::{BoxFuture, ready};
use skald_domain::dice::DiceRefusal;

use skald_journal::{Record, RegisteredKind, SideRowCheck, StoreError};

use crate::noun_registry::{CampaignEffect, RecordAudience};
use crate::{App, Code, Fault, FaultField, Noun, OperationEntry, PromptEntry, Resource, ResourceChange, Toolset};

/// The dice part of the MCP server instructions.
const INSTRUCTIONS: &str = "Roll with its tools and never invent dice: duality_action_roll for Daggerheart actions, roll for everything else, \
        group_roll for several actors. Judge real dice with duality_outcome, count odds with odds. The resources dice://rules/duality and dice://notation \
        have the rules.";

/// Dice. The noun stores nothing: rolls are recorded in campaigns.
pub(crate) struct DiceNoun;

impl Noun for DiceNoun {
    fn operations(&self) -> Vec<OperationEntry> {
        vec![
            OperationEntry::from_operation::<duality::DualityRulesVersion>(),
            OperationEntry::from_operation::<duality::DualityActionRoll>(),
            OperationEntry::from_operation::<judge_dice::DualityOutcome>(),
            OperationEntry::from_operation::<judge_dice::DualityExplain>(),
            OperationEntry::from_operation::<judge_dice::ReadDualityOutcome>(),
            OperationEntry::from_operation::<judge_dice::ReadDualityExplanation>(),
            OperationEntry::from_operation::<duality::DualityProbability>(),
            OperationEntry::from_operation::<roll_dice::RollDice>(),
            OperationEntry::from_operation::<roll::RollOperation>(),
            OperationEntry::from_operation::<group_roll::GroupRoll>(),
            OperationEntry::from_operation::<odds::OddsOperation>(),
            OperationEntry::from_operation::<odds_picture::OddsPicture>(),
            OperationEntry::from_operation::<reference_texts::DualityRules>(),
            OperationEntry::from_operation::<reference_texts::DiceNotation>(),
        ]
    }

    fn resources(&self) -> Vec<Resource> {
        resources::resources()
    }

    fn prompts(&self) -> Vec<PromptEntry> {
        vec![PromptEntry::from_prompt::<explain_odds_prompt::ExplainOdds>()]
    }

    fn instructions(&self) -> Option<(Toolset, &'static str)> {
        Some((Toolset::Dice, INSTRUCTIONS))
    }

    fn fault_fields(&self) -> &'static [FaultField] {
        &[]
    }

    fn stream_kind(&self) -> Option<RegisteredKind> {
        None
    }

    fn side_rows(&self) -> Vec<(&'static str, SideRowCheck)> {
        Vec::new()
    }

    fn changed_resources(&self, _record: &Record) -> Vec<ResourceChange> {
        Vec::new()
    }

    fn containing_resource(&self, _uri: &str) -> Option<String> {
        None
    }

    fn record_audience(&self) -> RecordAudience {
        RecordAudience::Nobody
    }

    fn wait_for_published_state<'a>(&'a self, _: &'a App, _: &'a Record) -> BoxFuture<'a, Result<(), StoreError>> {
        ready(Ok(())).boxed()
    }

    fn record_appended(&self, _app: &App, _record: &Record) {}

    fn changed_by_campaign(&self, _app: &App, _record: &Record, _campaign_id: &str) -> Vec<CampaignEffect> {
        Vec::new()
    }

    fn secret_fields(&self) -> &'static [&'static str] {
        &[]
    }
}

impl From<DiceRefusal> for Fault {
    fn from(refusal: DiceRefusal) -> Self {
        let code = match refusal {
            DiceRefusal::DualityDieOutOfRange { .. }
            | DiceRefusal::DifficultyNegative { .. }
            | DiceRefusal::DiceMissing
            | DiceRefusal::DiceNotPositive { .. }
            | DiceRefusal::SidesTooMany { .. }
            | DiceRefusal::SpecsTooMany { .. }
            | DiceRefusal::DiceTooMany { .. }
            | DiceRefusal::ExpressionTooManyDice { .. }
            | DiceRefusal::ExpressionTooManyThrown
            | DiceRefusal::ExpressionDividesByZero { .. }
            | DiceRefusal::ExpressionTooLarge
            | DiceRefusal::SeedMissing => Code::InvalidParams,
        };
        let fault = Fault::new(code, refusal.to_string()).with_path(refusal.pointer()).hint(refusal.hint());
        match refusal.value() {
            Some(value) => fault.value(&value.into()),
            None => fault,
        }
    }
}
