//! Background sync of all linked campaigns while a process serves: woken by writes, and by time for what changed there.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::rows::MirrorLink;
use super::sync::SyncScope;
use crate::lore::stream::lore_stream;
use crate::{App, Code, LocalEngine};

/// How often links of other processes are looked for.
const LOOK_FOR_LINKS: Duration = Duration::from_secs(5);
/// How often changes are asked for.
const ASK_FOR_CHANGES: Duration = Duration::from_mins(1);
/// How often everything is listed, which finds what was deleted there.
const LIST_EVERYTHING: SignedDuration = SignedDuration::from_mins(30);
/// Writes that come together are sent together.
const GATHER_WRITES: Duration = Duration::from_millis(50);
const FIRST_RETRY: Duration = Duration::from_millis(500);
const LAST_RETRY: Duration = Duration::from_secs(30);
/// A token that is refused is not tried again and again.
const REFUSED_RETRY: Duration = Duration::from_mins(5);

/// Syncs every linked campaign until the process stops.
pub async fn mirror_linked_campaigns(engine: Arc<LocalEngine>, stopping: CancellationToken) {
    let mut tasks: HashMap<String, JoinHandle<()>> = HashMap::new();
    loop {
        match engine.app().linked_campaigns().await {
            Ok(campaigns) => {
                tasks.retain(|_, task| !task.is_finished());
                for campaign_id in campaigns {
                    tasks.entry(campaign_id.clone()).or_insert_with(|| {
                        tokio::spawn(mirror_campaign(Arc::clone(&engine), campaign_id, stopping.clone()))
                    });
                }
            }
            Err(fault) => tracing::warn!(%fault, "the links of the lore cannot be read"),
        }
        tokio::select! {
            () = stopping.cancelled() => return,
            () = engine.app().mirrors.link_changed.notified() => {}
            () = tokio::time::sleep(LOOK_FOR_LINKS) => {}
        }
    }
}

async fn mirror_campaign(engine: Arc<LocalEngine>, campaign_id: String, stopping: CancellationToken) {
    let app = engine.app();
    let mut appends = app.journal.subscribe_appends();
    let mut retry = FIRST_RETRY;
    // The first request for changes is due when the process starts.
    let mut is_first = true;
    loop {
        appends.mark_unchanged();
        let link = match app.read_link_row(&campaign_id).await {
            Ok(Some(link)) if link.is_linked => link,
            Ok(_) => return,
            Err(fault) => {
                tracing::warn!(%fault, "the link of a campaign cannot be read");
                tokio::time::sleep(retry).await;
                continue;
            }
        };
        let is_waiting =
            app.lore.read(&lore_stream(&campaign_id)).await.is_ok_and(|lore| lore.revision() > link.sent_revision);
        let has_failed = link.failure.as_ref().is_some_and(|failure| !failure.is_partial);
        let is_due = is_first || has_failed || until_question(app.clock.now(), link.asked_at.as_deref()).is_zero();
        if is_waiting || is_due || !link.resend.is_empty() {
            let scope = due_scope(app, link.swept_at.as_deref(), is_due);
            let synced = app.sync_mirror(&campaign_id, scope, Duration::ZERO, &mut |_, _| {}).await;
            if let Err(fault) = &synced {
                tracing::info!(campaign = campaign_id, %fault, "a campaign could not be synced");
            }
            match synced {
                Err(fault) if !ended_without_some(app, &campaign_id, &link).await => {
                    let is_refused = fault.code() == Code::Rejected;
                    let pause = if is_refused { REFUSED_RETRY } else { retry };
                    retry = (retry * 2).min(LAST_RETRY);
                    tokio::select! {
                        () = stopping.cancelled() => return,
                        () = app.mirrors.link_changed.notified() => {}
                        () = tokio::time::sleep(pause) => {}
                    }
                    continue;
                }
                // What could not be read is asked for again with the next changes.
                Ok(_) | Err(_) => {
                    retry = FIRST_RETRY;
                    is_first &= !is_due;
                }
            }
        }
        // A question before a write counts as the one of its minute.
        let link = app.mirror_link(&campaign_id).await.ok().flatten();
        let pause = until_question(app.clock.now(), link.as_ref().and_then(|link| link.asked_at.as_deref()));
        tokio::select! {
            () = stopping.cancelled() => return,
            () = app.mirrors.link_changed.notified() => {}
            () = tokio::time::sleep(pause.max(FIRST_RETRY)) => {}
            changed = appends.changed() => {
                if changed.is_err() {
                    return;
                }
                tokio::time::sleep(GATHER_WRITES).await;
            }
        }
    }
}

/// Whether a sync that failed has synced everything but single entities, given the link before it.
async fn ended_without_some(app: &App, campaign_id: &str, before: &MirrorLink) -> bool {
    let link = app.read_link_row(campaign_id).await.ok().flatten();
    let failure = link.and_then(|link| link.failure).filter(|failure| failure.is_partial);
    failure.is_some() && failure != before.failure
}

/// How long until changes are asked for again, given when they were asked for last.
fn until_question(now: Timestamp, asked_at: Option<&str>) -> Duration {
    let asked_at = asked_at.and_then(|text| text.parse::<Timestamp>().ok());
    // A clock that was set back is no reason to wait.
    let since = asked_at.and_then(|at| Duration::try_from(now.duration_since(at)).ok());
    since.map_or(Duration::ZERO, |since| ASK_FOR_CHANGES.saturating_sub(since))
}

fn due_scope(app: &App, swept_at: Option<&str>, is_due: bool) -> SyncScope {
    let swept_at = swept_at.and_then(|text| text.parse::<Timestamp>().ok());
    let is_old = swept_at.is_none_or(|at| app.clock.now().duration_since(at) > LIST_EVERYTHING);
    match (is_due, is_old) {
        (true, true) => SyncScope::Everything,
        (true, false) => SyncScope::Changes,
        (false, _) => SyncScope::Send,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_asked_for_a_minute_after_the_last_question() {
        let now: Timestamp = "2026-01-01T12:00:00Z".parse().unwrap();
        for (asked_at, seconds) in [
            (None, 0),
            (Some("no moment"), 0),
            (Some("2026-01-01T11:59:50Z"), 50),
            (Some("2026-01-01T12:00:00Z"), 60),
            (Some("2026-01-01T11:59:00Z"), 0),
            (Some("2026-01-01T10:00:00Z"), 0),
            (Some("2026-01-01T12:30:00Z"), 0),
        ] {
            assert_eq!(until_question(now, asked_at), Duration::from_secs(seconds), "{asked_at:?}");
        }
    }
}
