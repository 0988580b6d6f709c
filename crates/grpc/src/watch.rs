//! The gateway's stream of resource changes that the caller may see: live, or from a journal position on.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{BoxStream, once, unfold};
use skald_app::{
    AnnouncedChange, Caller, Changes, Code, Fault, News, Principal, ResourceChange, Work, limits, unauthorized,
};
use tokio_util::sync::CancellationToken;
use tonic::Status;

use crate::fault;
use crate::proto::skald::change::What;
use crate::proto::skald::{self, ResourceList, WatchRequest, WatchResponse};
use crate::service_context::ServiceContext;

struct Watch {
    service_context: Arc<ServiceContext>,
    caller: Caller,
    changes: Changes,
    /// Empty: all of them.
    uris: BTreeSet<String>,
    /// Which context the caller has been told of. A context is no record: that it is another one after a while apart can
    /// only be seen by comparing.
    context: String,
    /// Whether the caller was told of another one before.
    is_context_new: bool,
    stopping: CancellationToken,
}

/// Where the context is read.
const CONTEXT: &str = "context://current";
/// Between a place in the journal and the mark of a context.
const BESIDE: char = '~';

/// A mark of the caller's context. Another build may make another one, and tells of the context once more.
async fn context_mark(service_context: &ServiceContext, caller: &Caller) -> String {
    let read = service_context.engine.read(caller, CONTEXT, &Work::default()).await;
    let mut hasher = DefaultHasher::new();
    read.map(skald_app::ReadContents::into_text).unwrap_or_default().hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Begins to watch: what changes after this has returned is told.
pub(crate) async fn stream(
    service_context: Arc<ServiceContext>,
    caller: Caller,
    request: WatchRequest,
    stopping: CancellationToken,
) -> Result<BoxStream<'static, Result<WatchResponse, Status>>, Status> {
    if request.uris.len() > limits::SUBSCRIPTIONS_MAX {
        let message = format!("one request watches at most {} resources", limits::SUBSCRIPTIONS_MAX);
        let fault = Fault::new(Code::TooLarge, message).at("/uris");
        return Err(fault::status(&fault.hint("watch all by naming none, or a list instead of its members")));
    }
    let (after, known) = request.after.split_once(BESIDE).unwrap_or((&request.after, ""));
    let changes = service_context.engine.changes(&caller, (!after.is_empty()).then_some(after)).await;
    let context = context_mark(&service_context, &caller).await;
    let is_context_new = !known.is_empty() && known != context;
    let uris = request.uris.into_iter().collect();
    let watch = Watch { service_context, caller, changes, uris, context, is_context_new, stopping };
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

impl Watch {
    /// The next message. Nothing more is said to a token that was revoked, also where the watcher is far behind.
    async fn next(&mut self) -> Result<WatchResponse, Status> {
        let revoked = self.caller.revoked();
        tokio::select! {
            biased;
            () = revoked => Err(fault::status(&unauthorized())),
            message = self.message_of_changes() => message,
        }
    }

    async fn message_of_changes(&mut self) -> Result<WatchResponse, Status> {
        // The words of the transport, not a fault: whoever watches comes back to whoever serves then.
        let stops = || Status::unavailable("the server stops");
        let context = ResourceChange::Resource(CONTEXT.into());
        if std::mem::take(&mut self.is_context_new) && self.wants(&context) {
            let changes = vec![told(AnnouncedChange { change: context, campaign_id: None })];
            return Ok(WatchResponse { place: self.place(self.changes.place().as_ref()), everything: false, changes });
        }
        loop {
            let news = self.stopping.run_until_cancelled(self.changes.next()).await.flatten().ok_or_else(stops)?;
            self.refresh().await?;
            if news.concerns(&self.caller, CONTEXT) {
                self.context = context_mark(&self.service_context, &self.caller).await;
            }
            let message = self.message(&news);
            if message.everything || !message.changes.is_empty() {
                return Ok(message);
            }
        }
    }

    /// Brings the caller up to date: roles may have been given since, and a token may have been revoked.
    async fn refresh(&mut self) -> Result<(), Status> {
        if self.caller.principal == Principal::Owner {
            return Ok(());
        }
        match self.service_context.engine.current(&self.caller).await {
            Ok(current) => self.caller = current,
            Err(fault) if fault.code() == Code::Unauthorized => return Err(fault::status(&fault)),
            // What the caller was before is right as far as is known.
            Err(_) => {}
        }
        Ok(())
    }

    fn message(&self, news: &News) -> WatchResponse {
        let changes = news.told(&self.caller).flat_map(|heard| self.asked(heard)).map(told);
        WatchResponse { place: self.place(news.place()), everything: news.is_everything(), changes: changes.collect() }
    }

    /// After which to go on. Without a place in the journal there is none to go on from.
    fn place(&self, journal: Option<&Arc<str>>) -> String {
        journal.map(|place| format!("{place}{BESIDE}{}", self.context)).unwrap_or_default()
    }

    /// What is told of a change: of those resources that were asked for, each that it concerns.
    fn asked(&self, heard: AnnouncedChange) -> Vec<AnnouncedChange> {
        let AnnouncedChange { change, campaign_id } = heard;
        let changes = match &change {
            ResourceChange::Resource(changed) if !self.uris.is_empty() => {
                let catalogue = self.service_context.engine.catalogue();
                let is_part = |uri: &str| catalogue.containing_resource(uri).is_some_and(|whole| *whole == **changed);
                let concerned = self.uris.iter().filter(|uri| **uri == **changed || is_part(uri));
                concerned.map(|uri| ResourceChange::Resource(uri.as_str().into())).collect()
            }
            _ => vec![change],
        };
        let wanted = changes.into_iter().filter(|change| self.wants(change));
        wanted.map(|change| AnnouncedChange { change, campaign_id: campaign_id.clone() }).collect()
    }

    fn wants(&self, change: &ResourceChange) -> bool {
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
                    && engine.may_watch(&self.caller, uri)
            }
        }
    }
}

fn told(told: AnnouncedChange) -> skald::Change {
    let what = match told.change {
        ResourceChange::Resource(uri) => What::Resource(uri.as_ref().to_owned()),
        ResourceChange::ResourceList => What::ResourceList(ResourceList {}),
    };
    skald::Change { what: Some(what), campaign_id: told.campaign_id.as_deref().unwrap_or_default().to_owned() }
}

/// The other end of [`told`]. A change of a kind that we do not know concerns nobody here.
pub(crate) fn heard(change: skald::Change) -> Option<AnnouncedChange> {
    let what = match change.what? {
        What::Resource(uri) => ResourceChange::Resource(uri.into()),
        What::ResourceList(_) => ResourceChange::ResourceList,
    };
    let campaign_id = (!change.campaign_id.is_empty()).then(|| change.campaign_id.into());
    Some(AnnouncedChange { change: what, campaign_id })
}
