//! The remote place of a run: a request that waits for its answer ends at once when the run has to give up its lease.

use std::sync::Arc;

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use super::remote::{
    RemoteAlias, RemoteChange, RemoteCreated, RemoteDraft, RemoteEntity, RemoteFailure, RemoteFailureKind,
    RemoteFuture, RemoteHead, RemoteKind, RemoteLore, RemotePage, RemotePost, RemotePostChange, RemoteProfile,
    RemoteTarget,
};

pub(super) struct StoppableRemote {
    remote: Arc<dyn RemoteLore>,
    stop: CancellationToken,
}

impl StoppableRemote {
    pub(super) fn new(remote: Arc<dyn RemoteLore>, stop: CancellationToken) -> Self {
        Self { remote, stop }
    }

    fn until_stop<'a, T: Send + 'a>(&'a self, request: RemoteFuture<'a, T>) -> RemoteFuture<'a, T> {
        Box::pin(async move {
            tokio::select! {
                biased;
                answer = request => answer,
                () = self.stop.cancelled() => Err(RemoteFailure::new(RemoteFailureKind::Stopped, "the sync was ended")),
            }
        })
    }
}

impl RemoteLore for StoppableRemote {
    fn profile(&self) -> RemoteFuture<'_, RemoteProfile> {
        self.until_stop(self.remote.profile())
    }

    fn set_requests_per_minute(&self, requests_per_minute: u32) {
        self.remote.set_requests_per_minute(requests_per_minute);
    }

    fn check_campaign(&self) -> RemoteFuture<'_, ()> {
        self.until_stop(self.remote.check_campaign())
    }

    fn count_entities(&self) -> RemoteFuture<'_, usize> {
        self.until_stop(self.remote.count_entities())
    }

    fn kinds(&self) -> &'static [RemoteKind] {
        self.remote.kinds()
    }

    fn list_kind(&self, kind: &'static RemoteKind, page: usize) -> RemoteFuture<'_, Option<RemotePage<RemoteEntity>>> {
        self.until_stop(self.remote.list_kind(kind, page))
    }

    fn list_changed(&self, since: Timestamp, page: usize) -> RemoteFuture<'_, RemotePage<RemoteHead>> {
        self.until_stop(self.remote.list_changed(since, page))
    }

    fn entity(&self, entity_id: u64) -> RemoteFuture<'_, Option<RemoteEntity>> {
        self.until_stop(self.remote.entity(entity_id))
    }

    fn created_at_once(&self) -> usize {
        self.remote.created_at_once()
    }

    fn create(&self, kind: &'static RemoteKind, drafts: Vec<RemoteDraft>) -> RemoteFuture<'_, Vec<RemoteCreated>> {
        self.until_stop(self.remote.create(kind, drafts))
    }

    fn update(&self, target: RemoteTarget, change: RemoteChange) -> RemoteFuture<'_, RemoteEntity> {
        self.until_stop(self.remote.update(target, change))
    }

    fn rename_tag(&self, name: String, new_name: String) -> RemoteFuture<'_, bool> {
        self.until_stop(self.remote.rename_tag(name, new_name))
    }

    fn delete(&self, target: RemoteTarget) -> RemoteFuture<'_, ()> {
        self.until_stop(self.remote.delete(target))
    }

    fn create_post(&self, entity_id: u64, post: RemotePostChange) -> RemoteFuture<'_, RemotePost> {
        self.until_stop(self.remote.create_post(entity_id, post))
    }

    fn update_post(&self, entity_id: u64, post_id: u64, change: RemotePostChange) -> RemoteFuture<'_, RemotePost> {
        self.until_stop(self.remote.update_post(entity_id, post_id, change))
    }

    fn delete_post(&self, entity_id: u64, post_id: u64) -> RemoteFuture<'_, ()> {
        self.until_stop(self.remote.delete_post(entity_id, post_id))
    }

    fn create_alias(&self, entity_id: u64, name: String) -> RemoteFuture<'_, RemoteAlias> {
        self.until_stop(self.remote.create_alias(entity_id, name))
    }

    fn delete_alias(&self, entity_id: u64, alias_id: u64) -> RemoteFuture<'_, ()> {
        self.until_stop(self.remote.delete_alias(entity_id, alias_id))
    }
}
