//! SQL statements and migrations of PostgreSQL, by the names of their files.

macro_rules! statements {
    ($($name:ident $file:literal;)+) => {
        $(pub(super) const $name: &str = include_str!(concat!("../../sql/postgres/", $file, ".sql"));)+
    };
}

statements! {
    ANSWERED "answered";
    ANSWERS "answers";
    APPEND "append";
    BEGIN_SCHEMA "begin_schema";
    COUNT_DOCUMENTS "count_documents";
    COUNT_DOCUMENTS_IN_PARTITIONS "count_documents_in_partitions";
    DELETE_DOCUMENTS "delete_documents";
    DOCUMENT "document";
    DOCUMENTS "documents";
    DOCUMENTS_IN_PARTITIONS "documents_in_partitions";
    DROP_SNAPSHOTS "drop_snapshots";
    END "end";
    FOLLOW "follow";
    HEAD "head";
    KEEP_SNAPSHOT "keep_snapshot";
    KEEP_SNAPSHOT_PART "keep_snapshot_part";
    LISTEN "listen";
    LOCK_SCHEMA "lock_schema";
    NOTIFY "notify";
    OWNED_DOCUMENTS "owned_documents";
    PENDING "pending";
    RAISE_SCHEMA "raise_schema";
    READ "read";
    REPLACE_DOCUMENTS "replace_documents";
    SCHEMA_VERSION "schema_version";
    SESSION "session";
    SHELF_GET "shelf_get";
    SHELF_KINDS "shelf_kinds";
    SHELF_LIST "shelf_list";
    SHELF_PUT "shelf_put";
    SHELF_REMOVE "shelf_remove";
    SHELF_REPLACE "shelf_replace";
    SHELF_SUM_UP "shelf_sum_up";
    SNAPSHOT "snapshot";
    SNAPSHOT_PART "snapshot_part";
    STREAM_NAMES "stream_names";
    STREAMS "streams";
}

/// Migrations in order. The schema version is the number of migrations that have run, so they are only added, never
/// changed.
pub(super) const MIGRATIONS: [&str; 6] = [
    include_str!("../../sql/postgres/migrations/001.sql"),
    include_str!("../../sql/postgres/migrations/002.sql"),
    include_str!("../../sql/postgres/migrations/003.sql"),
    include_str!("../../sql/postgres/migrations/004.sql"),
    include_str!("../../sql/postgres/migrations/005.sql"),
    include_str!("../../sql/postgres/migrations/006.sql"),
];
