-- Where each stream ends. An append moves it, or does not happen; `previous` is the hash that it moved from.
CREATE TABLE heads (
    stream text COLLATE "C" NOT NULL PRIMARY KEY,
    shard integer NOT NULL,
    revision bigint NOT NULL,
    previous bytea NOT NULL,
    hash bytea NOT NULL
) WITH (fillfactor = 50);

-- What happened. Transactions commit in another order than they take positions, so followers go by transaction first.
CREATE TABLE records (
    position bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    transaction xid8 NOT NULL DEFAULT pg_current_xact_id(),
    shard integer NOT NULL,
    stream text COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    kind text NOT NULL,
    at bigint NOT NULL,
    by text NOT NULL,
    body text NOT NULL,
    previous bytea NOT NULL,
    hash bytea NOT NULL,
    UNIQUE (stream, revision)
);
CREATE INDEX records_in_order ON records (transaction, position);

-- What was answered under which key.
CREATE TABLE commands (
    stream text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    shard integer NOT NULL,
    request bytea NOT NULL,
    revision bigint NOT NULL,
    answer text NOT NULL,
    PRIMARY KEY (stream, key)
);

-- Read models: made from the records, and made again whenever somebody asks.
CREATE TABLE documents (
    collection text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    shard integer NOT NULL,
    stream text COLLATE "C" NOT NULL,
    rank bigint NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (collection, id)
);
CREATE INDEX documents_by_rank ON documents (collection, rank DESC, id);
CREATE INDEX documents_by_stream ON documents (stream, collection, id);

-- States, so that opening a stream need not read all of it. All may be deleted at any time.
CREATE TABLE snapshots (
    stream text COLLATE "C" NOT NULL PRIMARY KEY,
    shard integer NOT NULL,
    version integer NOT NULL,
    revision bigint NOT NULL,
    hash bytea NOT NULL,
    body text NOT NULL
);

-- What is no event: tokens, contexts.
CREATE TABLE shelf (
    kind text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    body text NOT NULL,
    PRIMARY KEY (kind, key)
);
