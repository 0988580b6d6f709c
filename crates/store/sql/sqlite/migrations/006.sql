-- A document has a partition: the campaign that it belongs to, empty if none. Lists are read by it. What is stored already
-- gets the partition that its body names. This may run twice: a store whose tokens are rows stays at version 4 until they
-- are events, with the tables of the newest version.
-- There is no default: a program of before that is still running fails to write instead of writing no partition.
CREATE TABLE documents_with_partition (
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    shard INTEGER NOT NULL,
    stream TEXT NOT NULL,
    rank INTEGER NOT NULL,
    body TEXT NOT NULL,
    partition TEXT NOT NULL,
    PRIMARY KEY (collection, id)
) STRICT;
INSERT INTO documents_with_partition (collection, id, shard, stream, rank, body, partition)
SELECT collection, id, shard, stream, rank, body,
    CASE
        WHEN collection = 'campaigns' THEN id
        WHEN NOT json_valid(body) THEN ''
        WHEN collection = 'universes' THEN coalesce(body ->> 'campaignId', '')
        WHEN collection = 'universe_places' THEN coalesce(nullif(body ->> 'campaign_id', '*'), '')
        ELSE coalesce(body ->> 'campaign_id', '')
    END
FROM documents;
DROP TABLE documents;
ALTER TABLE documents_with_partition RENAME TO documents;
CREATE INDEX documents_by_rank ON documents (collection, rank DESC, id);
CREATE INDEX documents_by_partition ON documents (collection, partition, rank DESC, id);
CREATE INDEX documents_by_stream ON documents (stream, collection, id);
