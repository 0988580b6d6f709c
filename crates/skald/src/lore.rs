//! `skald import` and `skald export`: the lore of a campaign as files.

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use serde_json::{Value, json};
use skald_app::{
    Caller, CampaignRole, Code, Conversation, Engine, Holder, ImportOptions, ImportReport, LocalEngine, Principal,
    PrincipalKind, RequestControl, limits,
};
use skald_lore_files::{Import, ImportFormat, ImportLoss, ReadLimits, read_import, write_export};

use crate::arguments::{ExportArguments, GateArguments, ImportArguments};
use crate::export_folder::write_export_folder;
use crate::open_store;
use crate::output::{ProgressBar, ask_yes_or_no, error_from_fault, print_lines, print_note, to_printable};

/// Maximum losses, links or campaigns that are listed on a terminal; of the rest only the number is printed.
const LISTED_MAX: usize = 20;
/// What the files of an export do not have.
const NOT_EXPORTED: &str =
    "relationships, the timeline, who was shown what, canon, earlier versions, the archive, pictures";
/// Files of one import: those of the largest lore that a campaign can have, and as many images.
const FILES_MAX: usize = 2 * limits::LORE_ENTITIES_MAX;

pub(crate) async fn import(arguments: &ImportArguments) -> anyhow::Result<()> {
    let import = read_import(&arguments.path, &ReadLimits { files: FILES_MAX, ..ReadLimits::default() });
    let mut import = import.context("nothing was imported")?;
    if import.needs_source_name() {
        import.source_name = arguments.source_name.clone().unwrap_or_else(|| name_of_source(&arguments.path));
    }
    let engine = open_store::open_existing_engine(&arguments.store, &GateArguments::default()).await?;
    let campaign = find_campaign(&engine, arguments.store.campaign.as_deref()).await?;
    let options = ImportOptions { dry_run: true, overwrite: arguments.overwrite };
    let planned = run_import(&engine, &campaign, &import, options).await?;
    let listed_max = if arguments.list_all || !std::io::stdout().is_terminal() { usize::MAX } else { LISTED_MAX };
    print_plan(&campaign, &import, &planned, listed_max);
    if arguments.dry_run {
        print_lines("This was a dry run: nothing was imported.");
        return Ok(());
    }
    if planned.created + planned.updated == 0 {
        print_lines("There is nothing to import.");
        return Ok(());
    }
    if !arguments.yes {
        if !std::io::stdin().is_terminal() {
            bail!("nothing was imported: repeat the command with --yes to import it");
        }
        if !ask_yes_or_no(&format!("Import this into {}?", campaign.name))? {
            print_lines("Nothing was imported.");
            return Ok(());
        }
    }
    let report = run_import(&engine, &campaign, &import, ImportOptions { dry_run: false, ..options }).await?;
    let ImportReport { created, updated, unchanged, posts, .. } = &report;
    print_lines(&format!(
        "imported into {}: {created} created, {updated} updated, {unchanged} unchanged, {posts} posts",
        campaign.label()
    ));
    if report.losses != planned.losses {
        print_losses(&report.losses, listed_max);
    }
    Ok(())
}

/// The name of a folder, or of a file without its extension.
fn name_of_source(path: &Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = if path.is_dir() { path.file_name() } else { path.file_stem() };
    name.unwrap_or_default().to_string_lossy().into_owned()
}

pub(crate) async fn export(arguments: &ExportArguments) -> anyhow::Result<()> {
    let engine = open_store::open_existing_engine(&arguments.store, &GateArguments::default()).await?;
    let campaign = find_campaign(&engine, arguments.store.campaign.as_deref()).await?;
    let caller = if arguments.as_player { player_of(&campaign.id) } else { Caller::owner() };
    let entities = engine.app().export_lore(&caller, &campaign.id).await.map_err(|fault| error_from_fault(&fault))?;
    write_export_folder(&arguments.folder, &write_export(&entities))?;
    print_lines(&format!("{}: {} entities of {}", arguments.folder.display(), entities.len(), campaign.label()));
    print_lines(&format!("not exported: {NOT_EXPORTED}"));
    Ok(())
}

async fn run_import(
    engine: &LocalEngine,
    campaign: &ChosenCampaign,
    import: &Import,
    options: ImportOptions,
) -> anyhow::Result<ImportReport> {
    let progress = ProgressBar::start(if options.dry_run { "reading" } else { "importing" });
    let mut show_progress =
        |done: usize, total: usize| progress.set_message(&format!("{} %", done * 100 / total.max(1)));
    let imported = engine.app().import_lore(&Caller::owner(), &campaign.id, import, options, &mut show_progress).await;
    progress.end();
    if imported.is_err() && !options.dry_run {
        print_note(
            "The import was interrupted. The same command goes on with it: what is stored already is not imported twice.",
        );
    }
    imported.map_err(|fault| error_from_fault(&fault))
}

/// The campaign that the command line names.
pub(crate) struct ChosenCampaign {
    pub id: String,
    pub name: String,
}

impl ChosenCampaign {
    pub(crate) fn label(&self) -> String {
        to_printable(&format!("{} ({})", self.name, self.id))
    }
}

/// Finds a campaign by its id or its name. The error lists those that there are.
pub(crate) async fn find_campaign(engine: &LocalEngine, given: Option<&str>) -> anyhow::Result<ChosenCampaign> {
    let Some(given) = given else {
        bail!("name the campaign with --campaign; {}", list_campaigns(engine).await?);
    };
    let input = json!({"campaign_id": given});
    match engine.call(&Caller::owner(), "campaign_read", input, &RequestControl::default()).await {
        Ok(answer) => {
            let text = |field: &str| answer["campaign"][field].as_str().unwrap_or_default().to_owned();
            Ok(ChosenCampaign { id: text("id"), name: text("name") })
        }
        Err(fault) if matches!(fault.code(), Code::NotFound | Code::InvalidParams) => {
            bail!("{}; {}", fault.body().message, list_campaigns(engine).await?)
        }
        Err(fault) => Err(error_from_fault(&fault)),
    }
}

async fn list_campaigns(engine: &LocalEngine) -> anyhow::Result<String> {
    let input = json!({"view": "campaigns", "limit": LISTED_MAX});
    let page = engine.call(&Caller::owner(), "campaign_read", input, &RequestControl::default()).await;
    let page: Value = page.map_err(|fault| error_from_fault(&fault))?;
    let campaigns = page["campaigns"].as_array().into_iter().flatten();
    let names: Vec<String> = campaigns
        .map(|campaign| {
            let text = |field: &str| campaign[field].as_str().unwrap_or_default();
            format!("{} ({})", text("name"), text("id"))
        })
        .collect();
    if names.is_empty() {
        return Ok("there is no campaign in this store yet".to_owned());
    }
    let more = if page["next_cursor"].is_null() { "" } else { " and others" };
    Ok(format!("there is: {}{more}", names.join(", ")))
}

/// Somebody who may see what a player of this campaign may, and nothing else.
fn player_of(campaign_id: &str) -> Caller {
    let roles = BTreeMap::from([(campaign_id.to_owned(), CampaignRole::Player)]);
    let holder = Holder::new("player", "player", PrincipalKind::Human, roles);
    Caller { principal: Principal::Holder(Arc::new(holder)), conversation: Conversation::None }
}

fn print_plan(campaign: &ChosenCampaign, import: &Import, report: &ImportReport, listed_max: usize) {
    let format = match import.format {
        ImportFormat::Markdown => "Markdown files",
        ImportFormat::Kanka => "an export of Kanka",
        ImportFormat::Foundry => "journals of Foundry",
        ImportFormat::Skald => "an export of Skald",
    };
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for entity in &import.entities {
        *counts.entry(entity.entity_type).or_default() += 1;
    }
    let counts: Vec<String> = counts.iter().map(|(entity_type, count)| format!("{entity_type} {count}")).collect();
    print_lines(&format!("{format}, {} entities: {}", import.entities.len(), counts.join(", ")));
    let ImportReport { created, updated, unchanged, posts, .. } = report;
    print_lines(&format!(
        "into {}: {created} to create, {updated} to update, {unchanged} unchanged, {posts} posts to write",
        campaign.label()
    ));
    if created + updated > 0 {
        print_lines(&format!("{} entries that players will see", report.seen_by_players));
    }
    let changed_here = report.changed_here.iter().map(|kept| (&kept.source, &kept.what));
    print_list("changed here since the last import", changed_here, listed_max);
    print_losses(&report.losses, listed_max);
    let unresolved = report.unresolved.iter().map(|link| (&link.source, &link.link));
    print_list("links that lead to nothing here", unresolved, listed_max);
}

fn print_losses(losses: &[ImportLoss], listed_max: usize) {
    print_list("not taken over", losses.iter().map(|loss| (&loss.source, &loss.what)), listed_max);
}

fn print_list<'a>(title: &str, rows: impl ExactSizeIterator<Item = (&'a String, &'a String)>, listed_max: usize) {
    for line in list_lines(title, rows, listed_max) {
        print_lines(&line);
    }
}

/// How many there are, and the first of them, each with its source.
fn list_lines<'a>(
    title: &str,
    rows: impl ExactSizeIterator<Item = (&'a String, &'a String)>,
    listed_max: usize,
) -> Vec<String> {
    let count = rows.len();
    if count == 0 {
        return Vec::new();
    }
    let mut lines = vec![format!("{title}: {count}")];
    let row = |(source, what): (&String, &String)| format!("  {}: {}", to_printable(source), to_printable(what));
    lines.extend(rows.take(listed_max).map(row));
    if count > listed_max {
        lines.push(format!("  and {} more; --list-all lists them", count - listed_max));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_cut_only_for_a_terminal_and_says_how_to_see_all() {
        let rows: Vec<(String, String)> =
            (0..=LISTED_MAX).map(|number| (format!("note {number}"), "is lost".to_owned())).collect();
        let lines = |listed_max: usize| list_lines("not taken over", rows.iter().map(|(a, b)| (a, b)), listed_max);
        let (cut, whole) = (lines(LISTED_MAX), lines(usize::MAX));
        assert_eq!((cut.len(), cut.last().unwrap().as_str()), (22, "  and 1 more; --list-all lists them"));
        assert_eq!((whole.len(), whole.last().unwrap().as_str()), (22, "  note 20: is lost"));
        assert_eq!(list_lines("x", [].iter().map(|(a, b)| (a, b)), 5), [""; 0]);
    }
}
