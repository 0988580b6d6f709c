//! `skald campaign`: creates and lists campaigns, and prints the recap of a session.

use anyhow::{Context, anyhow};
use serde_json::{Value, json};
use skald_app::{Caller, Code, Engine, Fault, LocalEngine, RequestControl};

use crate::arguments::{
    CampaignArguments, CampaignCreateArguments, CampaignRecapArguments, CampaignSubcommand, DEFAULT_HTTP_ADDR,
    GateArguments, RunByArgument, StoreArguments,
};
use crate::open_store;
use crate::output::{error_from_fault, print_document, print_lines, to_printable};

/// Campaigns on one page.
const PAGE_SIZE: usize = 100;
/// Campaigns that an error names.
const NAMED_MAX: usize = 10;
const COLUMNS: [&str; 4] = ["ID", "NAME", "STATUS", "CREATED"];

pub(crate) async fn run(arguments: &CampaignArguments) -> anyhow::Result<()> {
    let (store, gate) = (&arguments.store, GateArguments::default());
    let engine = match &arguments.command {
        CampaignSubcommand::Create(_) => open_store::open_engine(store, &gate).await?,
        CampaignSubcommand::List | CampaignSubcommand::Recap(_) => {
            open_store::open_existing_engine(store, &gate).await?
        }
    };
    match &arguments.command {
        CampaignSubcommand::Create(create) => create_campaign(&engine, create, store).await,
        CampaignSubcommand::List => print_campaigns(&engine).await,
        CampaignSubcommand::Recap(recap) => {
            let name = recap.name.as_ref().or(store.campaign.as_ref());
            print_recap(&engine, name.map(String::as_str), recap).await
        }
    }
}

async fn create_campaign(
    engine: &LocalEngine,
    arguments: &CampaignCreateArguments,
    store: &StoreArguments,
) -> anyhow::Result<()> {
    let gm_mode = match arguments.run_by {
        RunByArgument::Human => "HUMAN",
        RunByArgument::Ai => "AI",
        RunByArgument::Hybrid => "HYBRID",
    };
    let input = json!({"name": arguments.name, "gm_mode": gm_mode, "theme_prompt": arguments.about});
    let created = call(engine, "campaign_create", input).await?;
    let text = |field: &str| created[field].as_str().with_context(|| format!("the new campaign has no {field}"));
    let (name, id) = (text("name")?, text("id")?);
    let page = format!("http://{DEFAULT_HTTP_ADDR}/c/{id}");
    if arguments.json {
        print_lines(&json!({"id": id, "name": name, "page": page}).to_string());
        return Ok(());
    }
    let same_store = if store.store.is_some() { " with the same store" } else { "" };
    print_lines(&format!(
        "Created {} ({id}). Next: start `skald serve`{same_store} and open {page}",
        to_printable(name)
    ));
    Ok(())
}

async fn print_campaigns(engine: &LocalEngine) -> anyhow::Result<()> {
    let campaigns = read_campaigns(engine).await?;
    if campaigns.is_empty() {
        print_lines("There are no campaigns yet. `skald campaign create NAME` makes one, or ask your AI.");
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
    let recap = match try_call(engine, "session_recap", input).await {
        Ok(recap) => recap,
        Err(fault) => return Err(recap_error(engine, name, &fault).await?),
    };
    let text = recap["text"].as_str().context("the recap has no text")?;
    print_document(&format!("{}\n", text.trim_end())).context("cannot write to standard output")
}

/// The error of a recap. If it is about the campaign, it names those that are there.
async fn recap_error(engine: &LocalEngine, name: Option<&str>, fault: &Fault) -> anyhow::Result<anyhow::Error> {
    let campaigns = read_campaigns(engine).await?;
    if campaigns.is_empty() {
        return Ok(anyhow!("there is no campaign yet; `skald campaign create NAME` makes one"));
    }
    let body = fault.body();
    let is_about_campaign = body.path.as_deref() == Some("/campaign_id");
    let message = match name {
        None if is_about_campaign => "there is more than one campaign, and none is named",
        Some(_) if is_about_campaign && body.code == Code::NotFound => &body.message,
        _ => return Ok(error_from_fault(fault)),
    };
    let text = |campaign: &Value, field: &str| to_printable(campaign[field].as_str().unwrap_or("-"));
    let named = campaigns.iter().take(NAMED_MAX);
    let named: Vec<String> =
        named.map(|campaign| format!("{} ({})", text(campaign, "name"), text(campaign, "id"))).collect();
    let more = if campaigns.len() > NAMED_MAX { " and others, which `skald campaign list` lists" } else { "" };
    Ok(anyhow!("{message}; there are {}{more}", named.join(", ")))
}

async fn call(engine: &LocalEngine, operation: &str, input: Value) -> anyhow::Result<Value> {
    try_call(engine, operation, input).await.map_err(|fault| error_from_fault(&fault))
}

async fn try_call(engine: &LocalEngine, operation: &str, input: Value) -> Result<Value, Fault> {
    engine.call(&Caller::owner(), operation, input, &RequestControl::default()).await
}
