//! `skald campaign`: lists campaigns, and prints the recap of a session.

use anyhow::Context;
use serde_json::{Value, json};
use skald_app::{Caller, Engine, LocalEngine, RequestControl};

use crate::arguments::{CampaignArguments, CampaignRecapArguments, CampaignSubcommand, GateArguments};
use crate::open_store;
use crate::output::{error_from_fault, print_document, print_lines, to_printable};

/// Campaigns on one page.
const PAGE_SIZE: usize = 100;
const COLUMNS: [&str; 4] = ["ID", "NAME", "STATUS", "CREATED"];

pub(crate) async fn run(arguments: &CampaignArguments) -> anyhow::Result<()> {
    let engine = open_store::open_existing_engine(&arguments.store, &GateArguments::default()).await?;
    match &arguments.command {
        CampaignSubcommand::List => print_campaigns(&engine).await,
        CampaignSubcommand::Recap(recap) => {
            let name = recap.name.as_ref().or(arguments.store.campaign.as_ref());
            print_recap(&engine, name.map(String::as_str), recap).await
        }
    }
}

async fn print_campaigns(engine: &LocalEngine) -> anyhow::Result<()> {
    let campaigns = read_campaigns(engine).await?;
    if campaigns.is_empty() {
        print_lines("There are no campaigns yet. Ask your AI to start one, or see docs/campaign.md.");
        return Ok(());
    }
    let field = |campaign: &Value, name: &str| to_printable(campaign[name].as_str().unwrap_or("-"));
    let mut rows = vec![COLUMNS.map(str::to_owned)];
    rows.extend(
        campaigns.iter().map(|campaign| ["id", "name", "status", "created_at"].map(|name| field(campaign, name))),
    );
    let wide = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [id_width, name_width, status_width] = [0, 1, 2].map(wide);
    for [id, name, status, created] in &rows {
        print_lines(&format!("{id:id_width$}  {name:name_width$}  {status:status_width$}  {created}"));
    }
    Ok(())
}

async fn read_campaigns(engine: &LocalEngine) -> anyhow::Result<Vec<Value>> {
    let mut campaigns = Vec::new();
    let mut cursor = Value::Null;
    loop {
        let input = json!({"view": "campaigns", "limit": PAGE_SIZE, "cursor": cursor});
        let page = call(engine, "campaign_read", input).await?;
        campaigns.extend(page["campaigns"].as_array().into_iter().flatten().cloned());
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            return Ok(campaigns);
        }
    }
}

async fn print_recap(
    engine: &LocalEngine,
    name: Option<&str>,
    arguments: &CampaignRecapArguments,
) -> anyhow::Result<()> {
    let mut input = json!({});
    if let Some(name) = name {
        input["campaign_id"] = json!(name);
    }
    if let Some(session) = &arguments.session {
        input["session_id"] = json!(session);
    }
    let recap = call(engine, "session_recap", input).await?;
    let text = recap["text"].as_str().context("the recap has no text")?;
    print_document(&format!("{}\n", text.trim_end())).context("cannot write to standard output")
}

async fn call(engine: &LocalEngine, operation: &str, input: Value) -> anyhow::Result<Value> {
    let answer = engine.call(&Caller::owner(), operation, input, &RequestControl::default()).await;
    answer.map_err(|fault| error_from_fault(&fault))
}
