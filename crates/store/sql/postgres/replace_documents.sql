-- Nothing happens unless the head is where the documents were made for.
WITH held AS (
    SELECT stream, shard FROM heads WHERE stream = $1 AND hash = $2 AND revision = $7 FOR UPDATE
), wanted AS (
    SELECT * FROM unnest($3::text[], $4::text[], $5::bigint[], $6::text[], $8::text[])
        AS w (collection, id, rank, body, partition)
), deleted AS (
    DELETE FROM documents d
    USING held
    WHERE d.stream = held.stream AND (d.collection, d.id) NOT IN (SELECT collection, id FROM wanted)
), put AS (
    INSERT INTO documents (collection, id, shard, stream, rank, body, partition)
    SELECT w.collection, w.id, held.shard, held.stream, w.rank, w.body, w.partition FROM wanted w, held
    ON CONFLICT (collection, id) DO UPDATE
    SET shard = excluded.shard, stream = excluded.stream, rank = excluded.rank, body = excluded.body,
        partition = excluded.partition
)
SELECT count(*) FROM held
