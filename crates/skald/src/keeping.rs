//! `skald verify`, `skald rebuild` and `skald backup`: looking after what is kept.

use std::process::ExitCode;

use anyhow::Context;
use app::journal::{self, Verdict, hex};

use crate::arguments::{BackupArguments, StoreArguments};
use crate::output::{Progress, complain, say};
use crate::world;

pub(crate) async fn verify(arguments: &StoreArguments) -> anyhow::Result<ExitCode> {
    let journal = world::existing(arguments).await?;
    let progress = Progress::start("verifying");
    let verdict = journal::verify_telling(&*journal, &app::nouns(), |streams, records| {
        progress.set(&format!("{streams} streams, {records} records"));
    })
    .await;
    progress.end();
    match verdict.context("the journal cannot be read")? {
        Verdict::Sound(report) => {
            say(&format!(
                "sound: {} streams, {} records, {} rows of read models\nroot {}",
                report.streams,
                report.records,
                report.documents,
                hex(&report.root)
            ));
            Ok(ExitCode::SUCCESS)
        }
        Verdict::Fault { stream, revision, what } => {
            complain(&anyhow::anyhow!("{stream} at revision {revision}: {what}"));
            Ok(ExitCode::FAILURE)
        }
    }
}

pub(crate) async fn rebuild(arguments: &StoreArguments) -> anyhow::Result<ExitCode> {
    let journal = world::existing(arguments).await?;
    let progress = Progress::start("rebuilding");
    let rebuilt = journal::rebuild_telling(&*journal, &app::nouns(), |streams, rows| {
        progress.set(&format!("{streams} streams, {rows} rows"));
    })
    .await;
    progress.end();
    let rows = rebuilt.context("the read models cannot be rebuilt")?;
    say(&format!("rebuilt {rows} rows of read models"));
    Ok(ExitCode::SUCCESS)
}

pub(crate) async fn backup(arguments: &BackupArguments) -> anyhow::Result<ExitCode> {
    let journal = world::existing(&arguments.store).await?;
    let progress = Progress::start("copying");
    let copied = journal.backup(&arguments.file).await;
    progress.end();
    copied.with_context(|| format!("no backup was written to {}", arguments.file.display()))?;
    let bytes = std::fs::metadata(&arguments.file).map(|file| file.len()).unwrap_or_default();
    say(&format!("{}: {bytes} bytes", arguments.file.display()));
    Ok(ExitCode::SUCCESS)
}
