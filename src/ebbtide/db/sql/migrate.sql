-- What opening and migrating a store asks of its server, as the owner of the schema.

-- name: server_facts
-- The server's version, and whether this user may do what only a superuser or a role-maker may.
SELECT current_setting('server_version_num')::integer AS version,
       role.rolsuper AS superuser,
       role.rolsuper OR role.rolcreaterole AS creates_roles,
       role.rolsuper OR role.rolbypassrls AS bypasses_isolation
FROM pg_roles role
WHERE role.rolname = current_user;

-- name: extension_versions
-- The extensions Ebbtide needs: the version installed in this database, and the one the server could install.
SELECT name, installed_version, default_version
FROM pg_available_extensions
WHERE name IN ('vector', 'btree_gin');

-- name: schema_exists
-- Whether this database holds an Ebbtide store.
SELECT to_regclass('ebbtide.store') IS NOT NULL;

-- name: lock
-- Serialises migrations of one database; released with the transaction.
SELECT pg_advisory_xact_lock(hashtextextended('ebbtide.migrate', 0));

-- name: store
-- The store's version, the model its vectors come from, and whether full text can use its index under row-level security.
SELECT store.schema_version, store.text_search_configuration, store.model_name, store.model_dimension,
       (SELECT proleakproof FROM pg_proc WHERE oid = 'pg_catalog.ts_match_vq(tsvector, tsquery)'::regprocedure) AS text_leakproof,
       EXISTS (SELECT FROM pg_roles WHERE rolname = 'ebbtide_app') AND pg_has_role(current_user, 'ebbtide_app', 'MEMBER') AS has_role
FROM store;

-- name: has_configuration
-- Whether the server can stem words by this configuration.
SELECT EXISTS (SELECT FROM pg_ts_config WHERE cfgname = %(configuration)s AND pg_ts_config_is_visible(oid));

-- name: record_store
-- A new store's birth certificate.
INSERT INTO store (schema_version, text_search_configuration, created_at)
VALUES (%(version)s, %(configuration)s, %(now)s);

-- name: record_version
-- The version a migration arrived at.
UPDATE store SET schema_version = %(version)s;

-- name: record_model
-- The model all vectors of this store come from.
UPDATE store SET model_name = %(name)s, model_dimension = %(dimension)s;

-- name: create_schema
-- The schema and the extensions, wherever the server already keeps the latter.
CREATE SCHEMA IF NOT EXISTS ebbtide;

-- name: create_vector
-- Vectors and their index.
CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA ebbtide;

-- name: create_btree_gin
-- One index over scope and words.
CREATE EXTENSION IF NOT EXISTS btree_gin WITH SCHEMA ebbtide;

-- name: make_text_leakproof
-- Lets full text use its index under a policy: ts_match_vq reveals nothing of its arguments, but is not marked so.
ALTER FUNCTION pg_catalog.ts_match_vq(tsvector, tsquery) LEAKPROOF;

-- name: create_role
-- The role every tenant's transaction runs as: no owner, no superuser, no way around the policies.
DO $$
BEGIN
    CREATE ROLE ebbtide_app NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN NULL;
END
$$;

-- name: join_role
-- Lets the owner act as that role.
GRANT ebbtide_app TO CURRENT_USER;

-- name: grant_role
-- What the role may touch. Tombstones, receipts and the audit can only grow, the store's facts can only be read, and jobs can only be added.
DO $$
DECLARE
    name text;
BEGIN
    GRANT USAGE ON SCHEMA ebbtide TO ebbtide_app;
    FOR name IN
        SELECT tablename FROM pg_tables
        WHERE schemaname = 'ebbtide' AND tablename NOT LIKE 'procrastinate%%' AND tablename !~ '^memory_[0-9]+$'
          AND tablename NOT IN ('store', 'tombstone', 'receipt', 'audit', 'audit_seal', 'job_failure')
    LOOP
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ebbtide.%%I TO ebbtide_app', name);
    END LOOP;
    GRANT SELECT ON ebbtide.store TO ebbtide_app;
    GRANT SELECT, INSERT ON ebbtide.tombstone, ebbtide.receipt, ebbtide.audit, ebbtide.audit_seal TO ebbtide_app;
    GRANT INSERT ON ebbtide.procrastinate_jobs, ebbtide.procrastinate_events TO ebbtide_app;
    GRANT SELECT (id, status, queueing_lock) ON ebbtide.procrastinate_jobs TO ebbtide_app;
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA ebbtide TO ebbtide_app;
END
$$;

-- name: set_vector_dimension
-- Fixes the dimension of the vector columns; quick while they are empty.
DO $$
BEGIN
    EXECUTE format('ALTER TABLE memory ALTER embedding TYPE halfvec(%%s), ALTER context_embedding TYPE halfvec(%%s)',
                   current_setting('ebbtide.dimension'), current_setting('ebbtide.dimension'));
    EXECUTE format('ALTER TABLE memory_version ALTER embedding TYPE halfvec(%%s), ALTER context_embedding TYPE halfvec(%%s)',
                   current_setting('ebbtide.dimension'), current_setting('ebbtide.dimension'));
END
$$;
