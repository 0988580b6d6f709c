//! SQL statements and migrations of PostgreSQL, by the names of their files.

macro_rules! statements {
    ($($name:ident $file:literal;)+) => {
        $(pub(super) const $name: &str = include_str!(concat!("../../sql/postgres/", $file, ".sql"));)+
    };
}

statements! {
    ANALYZE_SEARCH_ROWS "analyze_search_rows";
    APPEND "append";
    AUDIT_AFTER "audit_after";
    AUDIT_LATEST "audit_latest";
    CLEAR_SEARCH_ROWS "clear_search_rows";
    COUNT_DOCUMENTS "count_documents";
    COUNT_DOCUMENTS_IN_PARTITIONS "count_documents_in_partitions";
    COUNT_NODES "count_nodes";
    CREATE_SCHEMA_TABLE "create_schema_table";
    DELETE_AUDIT_BEFORE "delete_audit_before";
    DELETE_DOCUMENTS "delete_documents";
    DELETE_SIDE_ROW "delete_side_row";
    DOCUMENT "document";
    DOCUMENTS "documents";
    DOCUMENTS_IN_PARTITIONS "documents_in_partitions";
    DROP_SNAPSHOTS "drop_snapshots";
    END_CURSOR "end_cursor";
    FIND_ANSWERS "find_answers";
    FIND_SIDE_ROWS "find_side_rows";
    FOLLOW "follow";
    GET_SIDE_ROW "get_side_row";
    GET_SIDE_ROWS "get_side_rows";
    HAS_HIDDEN_RECORDS "has_hidden_records";
    HEAD "head";
    INSERT_AUDIT "insert_audit";
    INSERT_SCHEMA_VERSION "insert_schema_version";
    INSERT_SNAPSHOT_PART "insert_snapshot_part";
    JOIN_NODES "join_nodes";
    LISTEN "listen";
    LIST_ANSWERS "list_answers";
    LIST_SIDE_ROWS "list_side_rows";
    LIST_SIDE_ROW_KINDS "list_side_row_kinds";
    LOCK_SCHEMA "lock_schema";
    NOTIFY "notify";
    OPTIMIZE_SEARCH_ROWS "optimize_search_rows";
    OWNED_DOCUMENTS "owned_documents";
    OWNED_SEARCH_ROWS "owned_search_rows";
    PUT_SEARCH_ROWS "put_search_rows";
    PUT_SIDE_ROW "put_side_row";
    READ_RECORDS "read_records";
    REPLACE_DOCUMENTS "replace_documents";
    REPLACE_SIDE_ROW "replace_side_row";
    SCHEMA_VERSION "schema_version";
    SEARCH "search";
    SESSION_SETTINGS "session_settings";
    SNAPSHOT "snapshot";
    SNAPSHOT_PART "snapshot_part";
    STORE_SNAPSHOT "store_snapshot";
    STREAMS "streams";
    STREAM_NAMES "stream_names";
    VACUUM_SIDE_ROWS "vacuum_side_rows";
    WRITE_SIDE_ROW_SUM "write_side_row_sum";
}

/// Migrations in order. The schema version is the number of migrations that have run, so they are only added, never
/// changed.
pub(super) const MIGRATIONS: [&str; 8] = [
    include_str!("../../sql/postgres/migrations/001.sql"),
    include_str!("../../sql/postgres/migrations/002.sql"),
    include_str!("../../sql/postgres/migrations/003.sql"),
    include_str!("../../sql/postgres/migrations/004.sql"),
    include_str!("../../sql/postgres/migrations/005.sql"),
    include_str!("../../sql/postgres/migrations/006.sql"),
    include_str!("../../sql/postgres/migrations/007.sql"),
    include_str!("../../sql/postgres/migrations/008.sql"),
];
