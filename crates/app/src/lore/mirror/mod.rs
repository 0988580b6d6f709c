//! The mirror of a campaign's lore in a remote place, such as Kanka: every read is local, writes go there in the
//! background, and what both sides changed is merged field by field.
//!
//! In comments, "here" is the lore in Skald, and "there" is the remote place. What both sides "agreed on" is the merge base:
//! the version that both had after the last sync. It is stored as a row for each entity (`rows.rs`).

mod apply_remote;
mod apply_remote_posts;
mod background;
mod conflicts;
mod freshness;
mod lease;
mod link;
mod merge_versions;
mod operation;
mod pull;
mod push;
mod remote;
mod rows;
mod send_changes;
mod send_creations;
mod send_posts;
mod send_tags;
mod sent_mentions;
mod stoppable_remote;
mod sync;
mod sync_run;
mod waiting;

pub use background::mirror_linked_campaigns;
pub use freshness::LinkedLore;
pub use link::NewLink;
pub use merge_versions::mirrored_tag_name;
pub use remote::{
    RemoteAddress, RemoteAlias, RemoteChange, RemoteConnector, RemoteCreated, RemoteDraft, RemoteEntity, RemoteFailure,
    RemoteFailureKind, RemoteFuture, RemoteHead, RemoteKind, RemoteLore, RemotePage, RemoteParent, RemotePost,
    RemotePostChange, RemoteProfile, RemoteTarget,
};
pub use sync::SyncScope;
pub use sync_run::{SyncProgress, SyncReport};

pub(super) use freshness::MirrorFreshness;
pub(super) use operation::KankaMirror;
pub(crate) use remote::NoRemotes;
pub(super) use rows::MIRROR_KINDS;
pub(crate) use sync::MirrorMemory;
