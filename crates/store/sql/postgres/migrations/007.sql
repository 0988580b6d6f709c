-- The search index. It keeps words and no texts, split by the program. `words` also has a word for partition and class, so
-- that the index itself leaves out what a caller may not see, and the words that occur at least three times in the body, with
-- a plus sign. `runs` has the characters of scripts without spaces, in order, to find phrases; null if there are none.
-- `words_hash` is of the words as they were stored, `digest` of the texts.
-- This may run twice: a store whose tokens are rows stays at version 4 until they are events, with the tables of the newest
-- version.
CREATE TABLE IF NOT EXISTS search_rows (
    collection text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    shard integer NOT NULL,
    stream text COLLATE "C" NOT NULL,
    partition text COLLATE "C" NOT NULL,
    serial bigint NOT NULL,
    class smallint NOT NULL,
    words tsvector NOT NULL,
    words_hash bytea NOT NULL,
    runs text COLLATE "C",
    digest bytea NOT NULL,
    PRIMARY KEY (collection, id),
    UNIQUE (collection, partition, serial)
);
CREATE INDEX IF NOT EXISTS search_rows_by_stream ON search_rows (stream, collection, id);
-- New entries wait in a list until it has this many kilobytes. Every search reads the list, so it is short.
CREATE INDEX IF NOT EXISTS search_rows_by_word ON search_rows USING gin (words) WITH (gin_pending_list_limit = 512);
