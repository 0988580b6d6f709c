//! SQL statements and migrations of SQLite, by the names of their files.

macro_rules! statements {
    ($($name:ident $file:literal;)+) => {
        $(pub(super) const $name: &str = include_str!(concat!("../../sql/sqlite/", $file, ".sql"));)+
    };
}

statements! {
    BACKUP "backup";
    CHECKPOINT "checkpoint";
    COUNT_DOCUMENTS "count_documents";
    COUNT_DOCUMENTS_IN_PARTITIONS "count_documents_in_partitions";
    COUNT_TABLES "count_tables";
    DATA_VERSION "data_version";
    DELETE_DOCUMENT "delete_document";
    DELETE_DOCUMENTS "delete_documents";
    DELETE_OTHER_SNAPSHOT_PARTS "delete_other_snapshot_parts";
    DELETE_SIDE_ROW "delete_side_row";
    DOCUMENT "document";
    DOCUMENTS "documents";
    DOCUMENTS_IN_PARTITIONS "documents_in_partitions";
    DROP_SNAPSHOTS "drop_snapshots";
    DROP_SNAPSHOT_PARTS "drop_snapshot_parts";
    END_CURSOR "end_cursor";
    FIND_ANSWERS "find_answers";
    FOLLOW "follow";
    GET_SIDE_ROW "get_side_row";
    HEAD "head";
    INSERT_ANSWER "insert_answer";
    INSERT_HEAD "insert_head";
    INSERT_RECORD "insert_record";
    INSERT_SNAPSHOT_PART "insert_snapshot_part";
    LIST_ANSWERS "list_answers";
    LIST_SIDE_ROWS "list_side_rows";
    LIST_SIDE_ROW_KINDS "list_side_row_kinds";
    MOVE_HEAD "move_head";
    MOVE_KNOWN_HEAD "move_known_head";
    OWNED_DOCUMENTS "owned_documents";
    PUT_DOCUMENT "put_document";
    PUT_SIDE_ROW "put_side_row";
    READ_RECORDS "read_records";
    REPLACE_SIDE_ROW "replace_side_row";
    SET_WRITER "set_writer";
    SNAPSHOT "snapshot";
    SNAPSHOT_PART "snapshot_part";
    STORE_SNAPSHOT "store_snapshot";
    STREAMS "streams";
    STREAM_NAMES "stream_names";
    WRITER "writer";
    WRITE_SIDE_ROW_SUM "write_side_row_sum";
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
