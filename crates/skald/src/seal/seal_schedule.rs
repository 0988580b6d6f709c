//! Schedule of a server that seals: after each play session, and at least once a day.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use skald_journal::{Cursor, Journal, Record};
use tokio_util::sync::CancellationToken;

use super::{SealKey, create_seal};

const DAY: Duration = Duration::from_hours(24);
/// Records that are read at once.
const READ_AT_ONCE: usize = 256;
/// Pause before another attempt after a failure.
const RETRY_DELAY: Duration = Duration::from_mins(1);
/// The kind of the record that ends a play session.
const SESSION_ENDED: &str = "session.ended.v1";

/// Seals after each play session and once a day, until the server stops.
pub(crate) async fn seal_regularly(
    journal: Arc<dyn Journal>,
    key: SealKey,
    folder: PathBuf,
    stopping: CancellationToken,
) {
    let mut next = SystemTime::now() + time_until_due(&folder);
    let mut wakes = journal.subscribe_appends();
    let mut cursor = journal.end_cursor().await.ok();
    loop {
        let wait = next.duration_since(SystemTime::now()).unwrap_or_default();
        let is_session_over = tokio::select! {
            () = stopping.cancelled() => return,
            () = tokio::time::sleep(wait) => false,
            changed = wakes.changed() => {
                if changed.is_err() {
                    return;
                }
                has_session_ended(&*journal, &mut cursor).await
            }
        };
        if !is_session_over && next > SystemTime::now() {
            continue;
        }
        next = SystemTime::now()
            + match write_seal(&*journal, &key, &folder).await {
                Ok(file) => {
                    tracing::info!(file = %file.display(), "sealed");
                    DAY
                }
                Err(error) => {
                    tracing::error!(error = format!("{error:#}"), "what is stored could not be sealed");
                    RETRY_DELAY
                }
            };
    }
}

async fn write_seal(journal: &dyn Journal, key: &SealKey, folder: &Path) -> anyhow::Result<PathBuf> {
    let seal = match create_seal(journal, key).await? {
        Ok(seal) => seal,
        Err(findings) => {
            let first = findings.first().map(ToString::to_string).unwrap_or_default();
            anyhow::bail!("what is stored is not as it was written, see skald verify: {first}");
        }
    };
    skald_store::create_private_folder(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let file = folder.join(seal.file_name());
    skald_store::write_private_file(&file, &seal.text).with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

/// Whether a play session has ended since the last call. Advances the cursor.
async fn has_session_ended(journal: &dyn Journal, cursor: &mut Option<Cursor>) -> bool {
    let mut is_over = false;
    loop {
        let after = match *cursor {
            Some(after) => after,
            None => match journal.end_cursor().await {
                Ok(end) => end,
                Err(_) => return is_over,
            },
        };
        // After a read error, the records are read at the next change.
        let Ok(records) = journal.follow(after, READ_AT_ONCE).await else { return is_over };
        is_over |= records.iter().any(|(_, record): &(Cursor, Record)| record.kind == SESSION_ENDED);
        *cursor = Some(records.last().map_or(after, |(place, _)| *place));
        if records.len() < READ_AT_ONCE {
            return is_over;
        }
    }
}

/// The time until the next daily seal, by the age of the newest seal in the folder.
fn time_until_due(folder: &Path) -> Duration {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let seals = files.filter(|file| file.file_name().to_string_lossy().starts_with("skald-seal-"));
    let newest = seals.filter_map(|file| file.metadata().ok()?.modified().ok()).max();
    let age = newest.and_then(|newest| SystemTime::now().duration_since(newest).ok());
    age.map_or(Duration::ZERO, |age| DAY.saturating_sub(age))
}
