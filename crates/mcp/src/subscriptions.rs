//! MCP subscriptions: notifies clients of changed resources. A session before 2026-07-28 subscribes to resources one by
//! one; a newer client keeps one `subscriptions/listen` open. Each resource is reported once per burst of changes.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{SubscriptionContext, SubscriptionSendError};
use rmcp::{Peer, RoleServer, ServiceError};
use skald_app::{Caller, Code, Engine, Fault, Principal, ToolsetFilter, limits};
use tokio::sync::watch;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

/// Time to finish sending notifications to a listener when the server stops.
const LISTENER_GRACE: Duration = Duration::from_secs(1);

/// The resources that one session, or one stdio client, watches. Dropping it stops the notifications.
pub(crate) struct ResourceWatch {
    uris: Arc<Mutex<BTreeSet<String>>>,
    /// True once the change stream is open. Closed if the task ends before that.
    begun: watch::Receiver<bool>,
    task: AbortHandle,
}

impl ResourceWatch {
    /// Starts to notify the client of changes: at once with a local engine. A remote engine may not be connected yet,
    /// so its change stream is opened in the task and the client does not wait.
    pub(crate) fn start(engine: &Arc<dyn Engine>, caller: Caller, peer: Peer<RoleServer>) -> Self {
        let uris = Arc::new(Mutex::new(BTreeSet::new()));
        let (engine, at_once) = (Arc::clone(engine), engine.changes(&caller, None).now_or_never());
        let (has_begun, begun) = watch::channel(at_once.is_some());
        let watched = Arc::clone(&uris);
        let revoked = caller.principal.wait_for_revocation();
        let notify_until_gone = async move {
            let mut caller = caller;
            let mut changes = match at_once {
                Some(changes) => changes,
                None => engine.changes(&caller, None).await,
            };
            has_begun.send_replace(true);
            while let Some(news) = changes.next().await {
                if !refresh_caller(&*engine, &mut caller).await {
                    return;
                }
                let concerns =
                    |uri: &&String| engine.is_changed(&news, &caller, uri) && engine.has_role_for(&caller, uri);
                let updated = lock_uris(&watched).iter().filter(concerns).cloned().collect::<Vec<_>>();
                if notify_client(&peer, updated, news.concerns_list(&caller)).await.is_err() {
                    return;
                }
            }
        };
        let task = tokio::spawn(async move {
            tokio::select! {
                biased;
                () = revoked => {}
                () = notify_until_gone => {}
            }
        });
        Self { uris, begun, task: task.abort_handle() }
    }

    /// Waits until the change stream is open, so that no later change is missed.
    pub(crate) async fn wait_until_open(&self) {
        // An error means that the task has ended.
        let _ = self.begun.clone().wait_for(|has_begun| *has_begun).await;
    }

    pub(crate) fn add(&self, uri: String) -> Result<(), Fault> {
        let mut uris = lock_uris(&self.uris);
        if uris.len() >= limits::SUBSCRIPTIONS_MAX && !uris.contains(&uri) {
            return Err(too_many_subscriptions());
        }
        uris.insert(uri);
        Ok(())
    }

    pub(crate) fn remove(&self, uri: &str) {
        lock_uris(&self.uris).remove(uri);
    }
}

impl Drop for ResourceWatch {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn lock_uris(uris: &Mutex<BTreeSet<String>>) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
    uris.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reloads the caller's permissions. False if the token was revoked: its holder gets no more notifications.
async fn refresh_caller(engine: &dyn Engine, caller: &mut Caller) -> bool {
    if caller.principal == Principal::Owner {
        return true;
    }
    match engine.refresh_caller(caller).await {
        Ok(current) => *caller = current,
        Err(fault) => return fault.code() != Code::Unauthorized,
    }
    true
}

async fn notify_client(peer: &Peer<RoleServer>, updated: Vec<String>, is_list_new: bool) -> Result<(), ServiceError> {
    for uri in updated {
        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await?;
    }
    if is_list_new {
        peer.notify_resource_list_changed().await?;
    }
    Ok(())
}

fn too_many_subscriptions() -> Fault {
    let message = format!("one client watches at most {} resources", limits::SUBSCRIPTIONS_MAX);
    Fault::new(Code::TooLarge, message).hint("unsubscribe from some, or watch a list instead of its members")
}

fn is_visible(engine: &dyn Engine, visible: ToolsetFilter, uri: &str) -> bool {
    let resolved = engine.catalogue().resolve(uri);
    resolved.is_ok_and(|(resource, _)| visible.toolsets.contains(resource.toolset))
}

/// The part of a requested filter that is served: existing resources, up to the limit, and changes of the list.
pub(crate) fn accepted_filter(
    engine: &dyn Engine,
    visible: ToolsetFilter,
    requested: &SubscriptionFilter,
) -> SubscriptionFilter {
    let mut accepted = SubscriptionFilter::new();
    accepted.resources_list_changed = requested.resources_list_changed;
    accepted.resource_subscriptions = requested.resource_subscriptions.as_ref().map(|uris| {
        let known = uris.iter().filter(|uri| is_visible(engine, visible, uri));
        known.take(limits::SUBSCRIPTIONS_MAX).cloned().collect()
    });
    accepted
}

/// The caller of `subscriptions/listen`, and what its request may see.
pub(crate) struct ListenerView {
    pub visible: ToolsetFilter,
    pub caller: Caller,
}

/// Notifies a listener of changes until it leaves, its token is revoked, the server stops, or the change stream ends.
pub(crate) async fn listen(
    engine: &dyn Engine,
    mut listener_view: ListenerView,
    context: SubscriptionContext,
    stopping: &CancellationToken,
) -> Result<(), SubscriptionSendError> {
    let given_up = async {
        stopping.cancelled().await;
        tokio::time::sleep(LISTENER_GRACE).await;
    };
    let revoked = listener_view.caller.wait_for_revocation();
    tokio::select! {
        biased;
        () = revoked => Ok(()),
        () = context.cancelled() => Ok(()),
        told = notify_listener(engine, &mut listener_view, &context, stopping) => told,
        () = given_up => Ok(()),
    }
}

async fn notify_listener(
    engine: &dyn Engine,
    listener_view: &mut ListenerView,
    context: &SubscriptionContext,
    stopping: &CancellationToken,
) -> Result<(), SubscriptionSendError> {
    let mut changes = engine.changes(&listener_view.caller, None).await;
    // rmcp acknowledges without reading the headers, which may hide more than the server's options do.
    let mut uris = context.accepted().resource_subscriptions.clone().unwrap_or_default();
    uris.retain(|uri| is_visible(engine, listener_view.visible, uri));
    // The acknowledgement was sent before the change stream was open. Report each resource once to cover the gap.
    for uri in &uris {
        if !engine.can_subscribe(&listener_view.caller, uri).await {
            continue;
        }
        context.sink().notify_resource_updated(uri.clone()).await?;
    }
    while let Some(news) = stopping.run_until_cancelled(changes.next()).await.flatten() {
        if !refresh_caller(engine, &mut listener_view.caller).await {
            return Ok(());
        }
        let caller = &listener_view.caller;
        for uri in uris.iter().filter(|uri| engine.is_changed(&news, caller, uri) && engine.has_role_for(caller, uri)) {
            context.sink().notify_resource_updated(uri.clone()).await?;
        }
        if news.concerns_list(caller) && context.accepted().resources_list_changed == Some(true) {
            context.sink().notify_resource_list_changed().await?;
        }
    }
    Ok(())
}
