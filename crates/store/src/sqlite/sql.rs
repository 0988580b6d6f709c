//! SQL statements and migrations of SQLite, by the names of their files.

macro_rules! statements {
    ($($name:ident $file:literal;)+) => {
        $(pub(super) const $name: &str = include_str!(concat!("../../sql/sqlite/", $file, ".sql"));)+
    };
}

statements! {
    ADD_COMMAND "add_command";
    ADD_RECORD "add_record";
    ANSWERED "answered";
    ANSWERS "answers";
    BACKUP "backup";
    BEGIN_HEAD "begin_head";
    CHECKPOINT "checkpoint";
    COUNT_DOCUMENTS "count_documents";
    COUNT_DOCUMENTS_IN_PARTITIONS "count_documents_in_partitions";
    DATA_VERSION "data_version";
    DELETE_DOCUMENT "delete_document";
    DELETE_DOCUMENTS "delete_documents";
    DOCUMENT "document";
    DOCUMENTS "documents";
    DOCUMENTS_IN_PARTITIONS "documents_in_partitions";
    DROP_SNAPSHOT_PARTS "drop_snapshot_parts";
    DROP_SNAPSHOTS "drop_snapshots";
    END "end";
    FOLLOW "follow";
    HEAD "head";
    KEEP_SNAPSHOT "keep_snapshot";
    KEEP_SNAPSHOT_PART "keep_snapshot_part";
    MOVE_HEAD "move_head";
    MOVE_KNOWN_HEAD "move_known_head";
    OWNED_DOCUMENTS "owned_documents";
    PUT_DOCUMENT "put_document";
    READ "read";
    REPLACE_SNAPSHOT_PARTS "replace_snapshot_parts";
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
    TABLES "tables";
    TAKE_TURN "take_turn";
    WRITER "writer";
}

/// Migrations in order. The schema version is the number of migrations that have run, so they are only added, never
/// changed.
pub(super) const MIGRATIONS: [&str; 6] = [
    include_str!("../../sql/sqlite/migrations/001.sql"),
    include_str!("../../sql/sqlite/migrations/002.sql"),
    include_str!("../../sql/sqlite/migrations/003.sql"),
    include_str!("../../sql/sqlite/migrations/004.sql"),
    include_str!("../../sql/sqlite/migrations/005.sql"),
    include_str!("../../sql/sqlite/migrations/006.sql"),
];
