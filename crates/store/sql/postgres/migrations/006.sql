-- A document has a partition: the campaign that it belongs to, empty if none. Lists are read by it. What is stored already
-- gets the partition that its body names. This may run twice: a store whose tokens are rows stays at version 4 until they
-- are events, with the tables of the newest version.
ALTER TABLE documents ADD COLUMN IF NOT EXISTS partition text COLLATE "C" NOT NULL DEFAULT '';
-- There is no default: a program of before that is still running fails to write instead of writing no partition.
ALTER TABLE documents ALTER COLUMN partition DROP DEFAULT;
UPDATE documents SET partition =
    CASE collection
        WHEN 'campaigns' THEN id
        WHEN 'universes' THEN coalesce(body::json ->> 'campaignId', '')
        WHEN 'universe_places' THEN coalesce(nullif(body::json ->> 'campaign_id', '*'), '')
        ELSE coalesce(body::json ->> 'campaign_id', '')
    END;
CREATE INDEX IF NOT EXISTS documents_by_partition ON documents (collection, partition, rank DESC, id);
