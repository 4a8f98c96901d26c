-- What a check-up of a store asks, as the role that every transaction takes.

-- name: server
-- The server's and pgvector's versions, whom the transaction runs as, whether row-level security binds that role everywhere, and whose
-- the memories are.
SELECT current_setting('server_version') AS server_version,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS vector_version,
       current_user::text AS role,
       (SELECT r.rolsuper OR r.rolbypassrls OR EXISTS (
            SELECT FROM pg_policy p CROSS JOIN unnest(p.polroles) AS reader
            WHERE p.polrelid = 'ebbtide.memory'::regclass AND p.polname = 'reader_searches' AND pg_has_role(r.oid, reader, 'USAGE'))
        FROM pg_roles r WHERE r.rolname = current_user) AS bypasses,
       (SELECT bool_and(c.relrowsecurity AND c.relforcerowsecurity) FROM pg_class c
        WHERE c.relnamespace = 'ebbtide'::regnamespace
          AND c.oid IN (SELECT polrelid FROM pg_policy WHERE polname = 'same_tenant')) AS forced,
       (SELECT pg_get_userbyid(relowner)::text FROM pg_class WHERE oid = 'ebbtide.memory'::regclass) AS owner,
       to_regrole('ebbtide_reader') IS NOT NULL AS has_reader;

-- name: memories
-- How many memories a tenant has, how many of them are live, and how many still wait for their vector.
SELECT count(*) AS kept,
       count(*) FILTER (WHERE m.status = 'active' AND m.superseded_by IS NULL) AS live,
       count(*) FILTER (WHERE m.embedding_pending) AS pending
FROM memory m WHERE m.tenant_id = %(tenant)s AND m.status <> 'tombstoned';
