//! The gateway's stream of resource changes that the caller may see: live, or from a journal position on.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{BoxStream, once, unfold};
use skald_app::{
    AnnouncedChange, Caller, Changes, Code, Fault, News, Principal, RequestControl, ResourceChange, limits,
    unauthorized_fault,
};
use tokio_util::sync::CancellationToken;
use tonic::Status;

use crate::fault;
use crate::proto::skald::change::What;
use crate::proto::skald::{self, ResourceList, WatchRequest, WatchResponse};
use crate::service_context::ServiceContext;

struct WatchCall {
    service_context: Arc<ServiceContext>,
    caller: Caller,
    changes: Changes,
    /// The watched resources; empty for all.
    uris: BTreeSet<String>,
    /// The hash of the caller's context. A context is not in the journal, so a change while the client was disconnected
    /// can only be found by comparing hashes.
    context: String,
    /// Whether the context changed while the client was disconnected, which is not announced yet.
    is_context_new: bool,
    stopping: CancellationToken,
}

/// The resource of the caller's context.
const CONTEXT_URI: &str = "context://current";
/// Separates the journal place and the context hash in the place of a message.
const PLACE_SEPARATOR: char = '~';

/// A hash of the caller's context. Another build may hash differently, and then announces the context once more.
async fn context_hash(service_context: &ServiceContext, caller: &Caller) -> String {
    // The watch was counted when it was opened.
    let control = RequestControl { is_counted: true, ..RequestControl::default() };
    let read = service_context.engine.read(caller, CONTEXT_URI, &control).await;
    let mut hasher = DefaultHasher::new();
    read.map(skald_app::ReadContents::into_text).unwrap_or_default().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Opens a watch stream: every change after this has returned is sent.
pub(crate) async fn open_stream(
    service_context: Arc<ServiceContext>,
    caller: Caller,
    request: WatchRequest,
    stopping: CancellationToken,
) -> Result<BoxStream<'static, Result<WatchResponse, Status>>, Status> {
    if request.uris.len() > limits::SUBSCRIPTIONS_MAX {
        let message = format!("one request watches at most {} resources", limits::SUBSCRIPTIONS_MAX);
        let fault = Fault::new(Code::TooLarge, message).with_path("/uris");
        return Err(fault::status(&fault.hint("watch all by naming none, or a list instead of its members")));
    }
    let (after, known) = request.after.split_once(PLACE_SEPARATOR).unwrap_or((&request.after, ""));
    let changes = service_context.engine.changes(&caller, (!after.is_empty()).then_some(after)).await;
    let context = context_hash(&service_context, &caller).await;
    let is_context_new = !known.is_empty() && known != context;
    let uris = request.uris.into_iter().collect();
    let watch = WatchCall { service_context, caller, changes, uris, context, is_context_new, stopping };
    let opening = WatchResponse { place: watch.place(watch.changes.place().as_ref()), ..WatchResponse::default() };
    let news = unfold(Some(watch), |watch| async {
        let mut watch = watch?;
        match watch.next().await {
            Ok(message) => Some((Ok(message), Some(watch))),
            Err(status) => Some((Err(status), None)),
        }
    });
    Ok(once(async { Ok(opening) }).chain(news).boxed())
}

impl WatchCall {
    /// The next message. A revoked token gets no further message, even if unsent changes are left.
    async fn next(&mut self) -> Result<WatchResponse, Status> {
        let revoked = self.caller.wait_for_revocation();
        tokio::select! {
            biased;
            () = revoked => Err(fault::status(&unauthorized_fault())),
            message = self.next_changes() => message,
        }
    }

    async fn next_changes(&mut self) -> Result<WatchResponse, Status> {
        // A status of the transport without a fault in its details: the client reopens the stream.
        let stops = || Status::unavailable("the server stops");
        let context = ResourceChange::Resource(CONTEXT_URI.into());
        if std::mem::take(&mut self.is_context_new) && self.is_watched(&context) {
            let changes = vec![change_to_message(AnnouncedChange {
                change: context,
                campaign_id: None,
                game_masters_only: false,
                participant_ids: BTreeSet::new(),
            })];
            return Ok(WatchResponse { place: self.place(self.changes.place().as_ref()), everything: false, changes });
        }
        loop {
            let news = self.stopping.run_until_cancelled(self.changes.next()).await.flatten().ok_or_else(stops)?;
            self.refresh_caller().await?;
            if news.concerns(&self.caller, CONTEXT_URI) {
                self.context = context_hash(&self.service_context, &self.caller).await;
            }
            let message = self.message(&news);
            if message.everything || !message.changes.is_empty() {
                return Ok(message);
            }
        }
    }

    /// Brings the caller up to date: roles may have been given since, and a token may have been revoked.
    async fn refresh_caller(&mut self) -> Result<(), Status> {
        if self.caller.principal == Principal::Owner {
            return Ok(());
        }
        match self.service_context.engine.refresh_caller(&self.caller).await {
            Ok(current) => self.caller = current,
            Err(fault) if fault.code() == Code::Unauthorized => return Err(fault::status(&fault)),
            // Keep the caller as last known.
            Err(_) => {}
        }
        Ok(())
    }

    fn message(&self, news: &News) -> WatchResponse {
        let changes =
            news.changes_for(&self.caller).flat_map(|change| self.changes_for_watched(change)).map(change_to_message);
        WatchResponse { place: self.place(news.place()), everything: news.is_everything(), changes: changes.collect() }
    }

    /// The place after which a client can resume; empty if the journal place is unknown.
    fn place(&self, journal: Option<&Arc<str>>) -> String {
        journal.map(|place| format!("{place}{PLACE_SEPARATOR}{}", self.context)).unwrap_or_default()
    }

    /// One change for each watched resource that a change concerns.
    fn changes_for_watched(&self, announced: AnnouncedChange) -> Vec<AnnouncedChange> {
        let AnnouncedChange { change, campaign_id, game_masters_only, participant_ids } = announced;
        let changes = match &change {
            ResourceChange::Resource(changed) if !self.uris.is_empty() => {
                let catalogue = self.service_context.engine.catalogue();
                let is_part = |uri: &str| catalogue.containing_resource(uri).is_some_and(|whole| *whole == **changed);
                let concerned = self.uris.iter().filter(|uri| **uri == **changed || is_part(uri));
                concerned.map(|uri| ResourceChange::Resource(uri.as_str().into())).collect()
            }
            _ => vec![change],
        };
        let wanted = changes.into_iter().filter(|change| self.is_watched(change));
        let announced = wanted.map(|change| AnnouncedChange {
            change,
            campaign_id: campaign_id.clone(),
            game_masters_only,
            participant_ids: participant_ids.clone(),
        });
        announced.collect()
    }

    fn is_watched(&self, change: &ResourceChange) -> bool {
        match change {
            ResourceChange::ResourceList => self.uris.is_empty(),
            ResourceChange::Resource(uri) => {
                let engine = &self.service_context.engine;
                let is_visible = engine
                    .catalogue()
                    .resolve(uri)
                    .is_ok_and(|(resource, _)| self.service_context.visible.toolsets.contains(resource.toolset));
                (self.uris.is_empty() || self.uris.contains(&**uri))
                    && is_visible
                    && engine.has_role_for(&self.caller, uri)
            }
        }
    }
}

fn change_to_message(told: AnnouncedChange) -> skald::Change {
    let what = match told.change {
        ResourceChange::Resource(uri) => What::Resource(uri.as_ref().to_owned()),
        ResourceChange::ResourceList => What::ResourceList(ResourceList {}),
    };
    skald::Change {
        what: Some(what),
        campaign_id: told.campaign_id.as_deref().unwrap_or_default().to_owned(),
        game_masters_only: told.game_masters_only,
        participant_ids: told.participant_ids.into_iter().collect(),
    }
}

/// Converts a change from a server. A kind of change that this version does not know is dropped.
pub(crate) fn change_from_message(change: skald::Change) -> Option<AnnouncedChange> {
    let what = match change.what? {
        What::Resource(uri) => ResourceChange::Resource(uri.into()),
        What::ResourceList(_) => ResourceChange::ResourceList,
    };
    let campaign_id = (!change.campaign_id.is_empty()).then(|| change.campaign_id.into());
    let participant_ids = change.participant_ids.into_iter().collect();
    Some(AnnouncedChange { change: what, campaign_id, game_masters_only: change.game_masters_only, participant_ids })
}
