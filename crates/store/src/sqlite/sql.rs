//! SQL statements and migrations of SQLite, by the names of their files.

macro_rules! statements {
    ($($name:ident $file:literal;)+) => {
        $(pub(super) const $name: &str = include_str!(concat!("../../sql/sqlite/", $file, ".sql"));)+
    };
}

statements! {
    AUDIT_AFTER "audit_after";
    AUDIT_LATEST "audit_latest";
    BACKUP "backup";
    CHECKPOINT "checkpoint";
    CHECK_SEARCH_WORDS "check_search_words";
    CLEAR_SEARCH_ROWS "clear_search_rows";
    CLEAR_SEARCH_WORDS "clear_search_words";
    COUNT_DOCUMENTS "count_documents";
    COUNT_DOCUMENTS_IN_PARTITIONS "count_documents_in_partitions";
    COUNT_TABLES "count_tables";
    COUNT_UNLISTED_SEARCH_WORDS "count_unlisted_search_words";
    DATA_VERSION "data_version";
    DELETE_AUDIT_BEFORE "delete_audit_before";
    DELETE_DOCUMENT "delete_document";
    DELETE_DOCUMENTS "delete_documents";
    DELETE_OTHER_SNAPSHOT_PARTS "delete_other_snapshot_parts";
    DELETE_OWNED_SEARCH_ROWS "delete_owned_search_rows";
    DELETE_OWNED_SEARCH_WORDS "delete_owned_search_words";
    DELETE_SEARCH_ROW "delete_search_row";
    DELETE_SEARCH_WORDS "delete_search_words";
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
    GET_SIDE_ROWS "get_side_rows";
    HEAD "head";
    INSERT_ANSWER "insert_answer";
    INSERT_AUDIT "insert_audit";
    INSERT_HEAD "insert_head";
    INSERT_RECORD "insert_record";
    INSERT_SEARCH_PARTITION "insert_search_partition";
    INSERT_SEARCH_WORDS "insert_search_words";
    INSERT_SNAPSHOT_PART "insert_snapshot_part";
    LIST_ANSWERS "list_answers";
    LIST_SIDE_ROWS "list_side_rows";
    LIST_SIDE_ROW_KINDS "list_side_row_kinds";
    MOVE_HEAD "move_head";
    MOVE_KNOWN_HEAD "move_known_head";
    OPTIMIZE_SEARCH_WORDS "optimize_search_words";
    OWNED_DOCUMENTS "owned_documents";
    OWNED_SEARCH_ROWS "owned_search_rows";
    PUT_DOCUMENT "put_document";
    PUT_SEARCH_ROW "put_search_row";
    PUT_SIDE_ROW "put_side_row";
    READ_RECORDS "read_records";
    REPLACE_SIDE_ROW "replace_side_row";
    SEARCH "search";
    SEARCH_PARTITION "search_partition";
    SEARCH_ROW "search_row";
    SET_WRITER "set_writer";
    SNAPSHOT "snapshot";
    SNAPSHOT_PART "snapshot_part";
    STORE_SNAPSHOT "store_snapshot";
    STREAMS "streams";
    STREAM_NAMES "stream_names";
    VACUUM "vacuum";
    WRITER "writer";
    WRITE_SIDE_ROW_SUM "write_side_row_sum";
}

/// Migrations in order. The schema version is the number of migrations that have run, so they are only added, never
/// changed.
pub(super) const MIGRATIONS: [&str; 8] = [
    include_str!("../../sql/sqlite/migrations/001.sql"),
    include_str!("../../sql/sqlite/migrations/002.sql"),
    include_str!("../../sql/sqlite/migrations/003.sql"),
    include_str!("../../sql/sqlite/migrations/004.sql"),
    include_str!("../../sql/sqlite/migrations/005.sql"),
    include_str!("../../sql/sqlite/migrations/006.sql"),
    include_str!("../../sql/sqlite/migrations/007.sql"),
    include_str!("../../sql/sqlite/migrations/008.sql"),
];
