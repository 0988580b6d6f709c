-- Nothing happens unless the head is where the documents were made for.
WITH held AS (
    SELECT stream, shard FROM heads WHERE stream = $1 AND hash = $2 AND revision = $7 FOR UPDATE
), wanted AS (
    SELECT * FROM unnest($3::text[], $4::text[], $5::bigint[], $6::text[], $8::text[])
        AS w (collection, id, rank, body, partition)
), deleted AS (
    DELETE FROM documents d
    USING held
    WHERE d.stream = held.stream
        AND NOT EXISTS (SELECT 1 FROM wanted w WHERE w.collection = d.collection AND w.id = d.id)
), deleted_search_rows AS (
    DELETE FROM search_rows s USING held WHERE s.stream = held.stream
), put AS (
    INSERT INTO documents (collection, id, shard, stream, rank, body, partition)
    SELECT w.collection, w.id, held.shard, held.stream, w.rank, w.body, w.partition FROM wanted w, held
    ON CONFLICT (collection, id) DO UPDATE
    SET shard = excluded.shard, stream = excluded.stream, rank = excluded.rank, body = excluded.body,
        partition = excluded.partition
)
SELECT count(*) FROM held
