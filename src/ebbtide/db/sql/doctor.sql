-- What a check-up of a store asks, as the role that every transaction takes.

-- name: server
-- The server's and pgvector's versions, whom the transaction runs as, and whether row-level security binds that role everywhere.
SELECT current_setting('server_version') AS server_version,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector_version,
       current_user::text AS role,
       (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user) AS bypasses,
       (SELECT bool_and(c.relrowsecurity AND c.relforcerowsecurity) FROM pg_class c
        WHERE c.relnamespace = 'ebbtide'::regnamespace
          AND c.oid IN (SELECT polrelid FROM pg_policy WHERE polname = 'same_tenant')) AS forced;

-- name: memories
-- How many memories a tenant has, how many of them are live, and how many still wait for their vector.
SELECT count(*) AS kept,
       count(*) FILTER (WHERE m.status = 'active' AND m.superseded_by IS NULL) AS live,
       count(*) FILTER (WHERE m.embedding_pending) AS pending
FROM memory m WHERE m.tenant_id = %(tenant)s AND m.status <> 'tombstoned';
