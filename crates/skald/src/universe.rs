//! `skald universe`: lists universes, and draws the map of one.

use std::path::Path;

use anyhow::{Context, anyhow, bail};
use serde_json::{Value, json};
use skald_app::{Caller, Code, Engine, LocalEngine, RequestControl};

use crate::arguments::{GateArguments, UniverseArguments, UniverseMapArguments, UniverseSubcommand};
use crate::open_store;
use crate::output::{print_document, print_lines, to_printable};

/// Given in place of a file, for standard output.
const STANDARD_OUTPUT: &str = "-";
/// Universes on one page.
const PAGE_SIZE: usize = 100;
/// Most universes that an error names.
const NAMED_MAX: usize = 20;

pub(crate) async fn run(arguments: &UniverseArguments) -> anyhow::Result<()> {
    let engine = open_store::open_existing_engine(&arguments.store, &GateArguments::default()).await?;
    match &arguments.command {
        UniverseSubcommand::List => print_universes(&engine).await,
        UniverseSubcommand::Map(map) => write_map(&engine, map).await,
    }
}

async fn print_universes(engine: &LocalEngine) -> anyhow::Result<()> {
    let universes = read_universes(engine, usize::MAX).await?;
    if universes.is_empty() {
        print_lines("There are no universes. The operation universe creates one: see docs/universe.md.");
        return Ok(());
    }
    let rows: Vec<[&str; 4]> = std::iter::once(["ID", "NAME", "CAMPAIGN", "CREATED"])
        .chain(universes.iter().map(|universe| {
            ["id", "name", "campaignId", "createdAt"].map(|field| universe[field].as_str().unwrap_or("-"))
        }))
        .collect();
    let wide = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let [id_width, name_width, campaign_width] = [0, 1, 2].map(wide);
    for [id, name, campaign, created] in &rows {
        let name = to_printable(name);
        print_lines(&format!("{id:id_width$}  {name:name_width$}  {campaign:campaign_width$}  {created}"));
    }
    Ok(())
}

async fn write_map(engine: &LocalEngine, arguments: &UniverseMapArguments) -> anyhow::Result<()> {
    let mut input = json!({"universeId": arguments.id, "theme": arguments.theme.name()});
    if let Some(time) = arguments.time {
        input["t"] = json!(time);
    }
    let picture = match engine.call(&Caller::owner(), "universe_map", input, &RequestControl::default()).await {
        Ok(picture) => picture,
        Err(fault) if fault.code() == Code::NotFound => bail!(unknown_universe_message(engine, &arguments.id).await?),
        Err(fault) => bail!("{}\n{}", fault.body().message, fault.body().hint.as_deref().unwrap_or_default()),
    };
    let svg = picture["text"].as_str().unwrap_or_default();
    if arguments.svg == Path::new(STANDARD_OUTPUT) {
        return print_document(svg).context("cannot write to standard output");
    }
    std::fs::write(&arguments.svg, svg).with_context(|| format!("cannot write {}", arguments.svg.display()))
}

/// The message for an unknown universe, which names the known ones.
async fn unknown_universe_message(engine: &LocalEngine, id: &str) -> anyhow::Result<String> {
    let there = read_universes(engine, NAMED_MAX + 1).await?;
    let ids: Vec<&str> = there.iter().take(NAMED_MAX).filter_map(|universe| universe["id"].as_str()).collect();
    let more = if there.len() > NAMED_MAX { " and more; `skald universe list` has all" } else { "" };
    let known = if ids.is_empty() { "none in this store".to_owned() } else { format!("{}{more}", ids.join(", ")) };
    Ok(format!("there is no universe {id:?}; there is: {known}"))
}

/// Reads the universes, newest first, page by page until there are at least `most`.
async fn read_universes(engine: &LocalEngine, most: usize) -> anyhow::Result<Vec<Value>> {
    let mut universes = Vec::new();
    let mut cursor = Value::Null;
    while universes.len() < most {
        let input = json!({"view": "universes", "limit": PAGE_SIZE, "cursor": cursor});
        let page = engine.call(&Caller::owner(), "universe_read", input, &RequestControl::default()).await;
        let page = page.map_err(|fault| anyhow!("{}", fault.body().message))?;
        universes.extend(page["universes"].as_array().into_iter().flatten().cloned());
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    Ok(universes)
}
