-- Background work: what the jobs read and write, and the queue's own tables as far as Ebbtide adds to them.

-- name: announce
-- A transaction that may lean on a waiting job says so: the job, once started, waits until the transaction has ended.
SELECT pg_advisory_xact_lock_shared(hashtextextended('ebbtide.job:' || %(queueing_lock)s::text, 0));

-- name: waits
-- Whether a job waits under a lock.
SELECT EXISTS (SELECT FROM procrastinate_jobs WHERE status = 'todo' AND queueing_lock = %(queueing_lock)s::text);

-- name: await_writers
-- Waits for the transactions that leaned on a job that has just started, so that it sees what they wrote.
SELECT pg_advisory_xact_lock(hashtextextended('ebbtide.job:' || %(queueing_lock)s::text, 0));

-- name: needs_embedding
-- Whether a tenant has memories without their vectors, and no job that waits or runs to make them.
SELECT EXISTS (SELECT FROM memory m WHERE m.tenant_id = %(tenant)s AND m.embedding_pending)
   AND NOT EXISTS (SELECT FROM procrastinate_jobs WHERE status IN ('todo', 'doing') AND queueing_lock = %(queueing_lock)s::text);

-- name: record_failure
-- Why the last attempt at a job failed.
INSERT INTO job_failure (job_id, error, failed_at) VALUES (%(job)s, %(error)s, %(now)s)
ON CONFLICT (job_id) DO UPDATE SET error = excluded.error, failed_at = excluded.failed_at;

-- name: take_up
-- Jobs whose worker is gone wait again; given up after too many attempts, or where another waits to do the same.
UPDATE procrastinate_jobs j
SET status = CASE WHEN j.attempts >= %(most_attempts)s THEN 'failed'
                  WHEN EXISTS (SELECT FROM procrastinate_jobs twin
                               WHERE twin.status = 'todo' AND twin.queueing_lock = j.queueing_lock) THEN 'aborted'
                  ELSE 'todo' END::procrastinate_job_status,
    attempts = j.attempts + 1, scheduled_at = NULL, abort_requested = false
WHERE j.status = 'doing' AND j.worker_id IS NULL
RETURNING j.id;

-- name: list
-- Jobs, the newest first, each with the error of its last failed attempt.
SELECT j.id, j.task_name AS task, j.status::text AS status, j.attempts, j.scheduled_at, j.args ->> 'tenant' AS tenant, f.error, f.failed_at
FROM procrastinate_jobs j LEFT JOIN job_failure f ON f.job_id = j.id
WHERE (%(status)s::text IS NULL OR j.status::text = %(status)s::text)
  AND (%(everything)s::boolean OR j.args ->> 'tenant' = %(tenant)s::text)
  AND (%(before)s::bigint IS NULL OR j.id < %(before)s::bigint)
ORDER BY j.id DESC LIMIT %(limit)s::integer;

-- name: for_update
-- Locks one job and answers with its status.
SELECT j.status::text AS status FROM procrastinate_jobs j
WHERE j.id = %(job)s::bigint AND (%(everything)s::boolean OR j.args ->> 'tenant' = %(tenant)s::text)
FOR UPDATE;

-- name: retry
-- Puts an ended or waiting job into the queue for now, with all its attempts before it.
UPDATE procrastinate_jobs j SET status = 'todo', attempts = 0, scheduled_at = NULL, abort_requested = false, worker_id = NULL
WHERE j.id = %(job)s::bigint;

-- name: cancel
-- A waiting job will not run; a running one is asked to stop.
SELECT procrastinate_cancel_job_v1(%(job)s::bigint, true, false);

-- name: delete_ended
-- Jobs that ended long ago: those that went well, and, kept for longer, the others.
DELETE FROM procrastinate_jobs j
WHERE (j.status = 'succeeded' AND NOT EXISTS (
           SELECT FROM procrastinate_events e WHERE e.job_id = j.id AND e.at >= %(succeeded_before)s::timestamptz))
   OR (j.status IN ('failed', 'cancelled', 'aborted') AND NOT EXISTS (
           SELECT FROM procrastinate_events e WHERE e.job_id = j.id AND e.at >= %(failed_before)s::timestamptz));

-- name: delete_failures
-- The errors of jobs that are there no more.
DELETE FROM job_failure f WHERE NOT EXISTS (SELECT FROM procrastinate_jobs j WHERE j.id = f.job_id);

-- name: delete_answers
-- Answers to idempotency keys that were kept long enough.
DELETE FROM idempotency i WHERE i.tenant_id = %(tenant)s AND i.created_at < %(before)s;

-- name: delete_recalls
-- Recalls that were logged long enough ago; those of which a hit was rated stay longer, to learn from.
WITH old AS (
    DELETE FROM recall_log r
    WHERE r.tenant_id = %(tenant)s AND r.created_at < %(before)s
      AND NOT EXISTS (SELECT FROM recall_hit h WHERE h.tenant_id = %(tenant)s AND h.recall_id = r.id AND h.rated_at >= %(rated_before)s)
    RETURNING r.id)
DELETE FROM recall_hit h USING old WHERE h.tenant_id = %(tenant)s AND h.recall_id = old.id;

-- name: delete_habits
-- What words of queries matched last long enough ago.
DELETE FROM route_statistic r WHERE r.tenant_id = %(tenant)s AND r.matched_at < %(before)s;

-- name: has_pending
-- Whether a tenant has memories without their vectors.
SELECT EXISTS (SELECT FROM memory m WHERE m.tenant_id = %(tenant)s AND m.embedding_pending);

-- name: pending
-- The next memories without their vectors, with what fences their embedding.
SELECT {{memory_row}}, m.content_hash
FROM memory m LEFT JOIN strength s ON s.tenant_id = %(tenant)s AND s.memory_id = m.id
WHERE m.tenant_id = %(tenant)s AND m.embedding_pending
ORDER BY m.id LIMIT %(limit)s;

-- name: fence
-- Locks, in the order of their ids, the memories that still say what was embedded and still lack its vector.
SELECT m.id FROM memory m
JOIN unnest(%(ids)s::uuid[], %(revisions)s::integer[], %(hashes)s::bytea[]) AS e(id, revision, content_hash)
  ON m.id = e.id AND m.revision = e.revision AND m.content_hash = e.content_hash
WHERE m.tenant_id = %(tenant)s AND m.embedding_pending
ORDER BY m.id FOR NO KEY UPDATE OF m;

-- name: set_vectors
-- Gives memories the vectors they waited for.
UPDATE memory m SET embedding = e.embedding, context_embedding = e.context_embedding, embedding_pending = false
FROM unnest(%(ids)s::uuid[], %(embeddings)s::halfvec[], %(context_embeddings)s::halfvec[]) AS e(id, embedding, context_embedding)
WHERE m.tenant_id = %(tenant)s AND m.id = e.id;

-- name: lock_build
-- Takes the place of the one session that builds an index, if it is free. Held until the session ends, and never waited
-- for inside the server: a build waits for every older statement, this one included.
SELECT pg_try_advisory_lock(hashtextextended('ebbtide.build_vector_index', 0));

-- name: index_is_valid
-- Whether an index may be used; no row where there is none.
SELECT i.indisvalid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
WHERE c.relname = %(index)s AND c.relnamespace = 'ebbtide'::regnamespace;

-- name: drop_vector_index
-- Removes what an interrupted build left behind.
DROP INDEX CONCURRENTLY IF EXISTS {index};

-- name: create_vector_index
-- Builds a partition's vector index while the partition is read and written.
CREATE INDEX CONCURRENTLY IF NOT EXISTS {index} ON {partition} USING hnsw (embedding halfvec_cosine_ops)
WITH (m = 16, ef_construction = {width});
