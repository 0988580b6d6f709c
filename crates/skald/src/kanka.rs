//! `skald kanka`: links a campaign to one of Kanka, syncs it, and resolves conflicts.

use std::time::Duration;

use anyhow::Context;
use serde_json::{Value, json};
use skald_app::{Caller, Engine, LocalEngine, RequestControl, SyncReport, SyncScope};

use crate::arguments::{GateArguments, KankaArguments, KankaCommand, KeepArgument};
use crate::lore::{ChosenCampaign, find_campaign};
use crate::open_store;
use crate::output::{ProgressBar, error_from_fault, print_lines, print_note, to_printable};

/// How long to wait for a server that syncs the campaign.
const LEASE_WAIT_MAX: Duration = Duration::from_mins(1);

pub(crate) async fn run(arguments: &KankaArguments) -> anyhow::Result<()> {
    let store = arguments.store_arguments();
    let engine = open_store::open_existing_engine(&store, &GateArguments::default()).await?;
    let campaign = find_campaign(&engine, store.campaign.as_deref()).await?;
    let (input, scope) = match &arguments.command {
        KankaCommand::Link { kanka_campaign, base_url, merge } => {
            let input = json!({
                "method": "link", "kanka_campaign": kanka_campaign, "base_url": base_url, "merge": merge.then_some(true),
            });
            (Some(input), Some(SyncScope::Everything))
        }
        KankaCommand::Pull => (None, Some(SyncScope::Everything)),
        KankaCommand::Push => (None, Some(SyncScope::SendAgain)),
        KankaCommand::Status => (None, None),
        KankaCommand::Conflicts { entity_id } => (Some(json!({"method": "conflicts", "entity_id": entity_id})), None),
        KankaCommand::Resolve { entity_id, keep, post, field } => {
            let keep = match keep {
                KeepArgument::Ours => "ours",
                KeepArgument::Theirs => "theirs",
            };
            let input =
                json!({"method": "resolve", "entity_id": entity_id, "keep": keep, "post_id": post, "field": field});
            (Some(input), Some(SyncScope::Send))
        }
        KankaCommand::Unlink => (Some(json!({"method": "unlink"})), None),
    };
    let mut answer = None;
    if let Some(input) = input {
        answer = Some(call_all_pages(&engine, &campaign, input).await?);
    }
    let mut report = None;
    if let Some(scope) = scope {
        match sync(&engine, &campaign, scope).await {
            Ok(synced) => report = Some(synced),
            // It is resolved, and what follows from it waits like any other change.
            Err(error) if matches!(arguments.command, KankaCommand::Resolve { .. }) => {
                print_note(&format!("The conflict is resolved here. It could not be sent yet: {error:#}"));
            }
            Err(error) => {
                print_note("The sync was interrupted. The same command goes on with it; what waits here is not lost.");
                return Err(error);
            }
        }
        answer = None;
    }
    let answer = match answer {
        Some(answer) => answer,
        None => call(&engine, &campaign, json!({"method": "status"})).await?,
    };
    if arguments.json {
        print_lines(&answer_json(answer, report.as_ref()).context("the answer is no JSON")?);
    } else {
        print_answer(&campaign, &answer, report.as_ref());
    }
    Ok(())
}

async fn call(engine: &LocalEngine, campaign: &ChosenCampaign, mut input: Value) -> anyhow::Result<Value> {
    if let Some(fields) = input.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    input["campaign_id"] = json!(campaign.id);
    let answer = engine.call(&Caller::owner(), "kanka_mirror", input, &RequestControl::default()).await;
    answer.map_err(|fault| error_from_fault(&fault))
}

/// The answer with the conflicts of all pages.
async fn call_all_pages(engine: &LocalEngine, campaign: &ChosenCampaign, input: Value) -> anyhow::Result<Value> {
    let mut answer = call(engine, campaign, input.clone()).await?;
    while let Some(cursor) = answer.get("next_cursor").cloned() {
        let mut input = input.clone();
        input["cursor"] = cursor;
        let mut page = call(engine, campaign, input).await?;
        let mut conflicts = answer["conflicts"].take();
        if let (Some(all), Some(more)) = (conflicts.as_array_mut(), page["conflicts"].as_array_mut()) {
            all.append(more);
        }
        page["conflicts"] = conflicts;
        answer = page;
    }
    Ok(answer)
}

async fn sync(engine: &LocalEngine, campaign: &ChosenCampaign, scope: SyncScope) -> anyhow::Result<SyncReport> {
    let progress = ProgressBar::start("syncing");
    let mut show_progress = |done: usize, total: usize| progress.set_done("entities", done, total);
    let synced = engine.app().sync_mirror(&campaign.id, scope, LEASE_WAIT_MAX, &mut show_progress).await;
    progress.end();
    synced.map_err(|fault| error_from_fault(&fault))
}

fn answer_json(mut answer: Value, report: Option<&SyncReport>) -> serde_json::Result<String> {
    if let Some(SyncReport { pulled, sent, skipped }) = report {
        answer["pulled"] = json!(pulled);
        answer["sent"] = json!(sent);
        if !skipped.is_empty() {
            answer["skipped"] = json!(skipped);
        }
    }
    serde_json::to_string_pretty(&answer)
}

fn print_answer(campaign: &ChosenCampaign, answer: &Value, report: Option<&SyncReport>) {
    let text = |field: &str| to_printable(answer[field].as_str().unwrap_or_default());
    print_lines(&format!("{}: {}", campaign.label(), text("summary")));
    if let Some(SyncReport { pulled, sent, skipped }) = report {
        print_lines(&format!("{pulled} entities were written here, {sent} writes went there"));
        for reason in skipped {
            print_lines(&format!("  not taken over: {}", to_printable(reason)));
        }
    }
    if answer["linked"] == true {
        let synced_at = answer["synced_at"].as_str().map_or_else(|| "never".to_owned(), to_printable);
        print_lines(&format!("  synced at: {synced_at}"));
    }
    if let Some(failure) = answer.get("failure") {
        let text = |field: &str| to_printable(failure[field].as_str().unwrap_or_default());
        print_lines(&format!("  {} at {}: {}", text("kind"), text("at"), text("message")));
    }
    for problem in answer["problems"].as_array().into_iter().flatten() {
        let reason = to_printable(problem["reason"].as_str().unwrap_or_default());
        print_lines(&format!("  entity {} is refused there: {reason}", problem["entity_id"]));
    }
    for conflict in answer["conflicts"].as_array().into_iter().flatten() {
        let post = conflict["post_id"].as_u64().map(|id| format!(" of post {id}")).unwrap_or_default();
        print_lines(&format!(
            "  {} ({}), {}{post}\n    here:  {}\n    there: {}",
            to_printable(conflict["name"].as_str().unwrap_or_default()),
            conflict["entity_id"],
            conflict["field"].as_str().unwrap_or_default(),
            printable_value(&conflict["ours"]),
            printable_value(&conflict["theirs"]),
        ));
    }
}

fn printable_value(value: &Value) -> String {
    to_printable(value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned).replace('\n', " / ").as_str())
}
