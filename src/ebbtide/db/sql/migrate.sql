-- What opening and migrating a store asks of its server, as the owner of the schema.

-- name: server_facts
-- The server's version.
SELECT current_setting('server_version_num')::integer AS version;

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
-- The store's version, the model its vectors come from, whether policies bind this user, and what its two roles are good for: whether
-- transactions can take the one, and whether full text, searched as the other, may use its index.
SELECT store.schema_version, store.text_search_configuration, store.model_name, store.model_dimension,
       (SELECT u.rolsuper OR u.rolbypassrls FROM pg_roles u WHERE u.rolname = current_user) AS bypasses,
       EXISTS (SELECT FROM pg_roles a WHERE a.rolname = 'ebbtide_app' AND has_schema_privilege(a.oid, 'ebbtide', 'USAGE')
               AND has_table_privilege(a.oid, to_regclass('ebbtide.searched_memory'), 'SELECT')
               AND pg_has_role(current_user, a.oid, CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END)) AS has_role,
       EXISTS (SELECT FROM pg_class v JOIN pg_roles o ON o.oid = v.relowner
               WHERE v.oid = to_regclass('ebbtide.searched_memory') AND has_column_privilege(o.oid, 'ebbtide.memory'::regclass, 'search', 'SELECT')
                 AND (o.rolsuper OR o.rolbypassrls OR EXISTS (
                     SELECT FROM pg_policy p WHERE p.polrelid = 'ebbtide.memory'::regclass AND p.polname = 'reader_searches' AND o.oid = ANY(p.polroles)))) AS words_indexed
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

-- name: means
-- Which of the two roles this user may set up here: as the owner of the memories, one that it makes, administers or, for that of
-- transactions, has. A role by the reader's name that somebody could be is left alone.
WITH me AS (SELECT oid, rolsuper OR rolcreaterole AS makes_roles FROM pg_roles WHERE rolname = current_user),
known AS (
    SELECT r.*, pg_has_role(me.oid, r.oid, 'MEMBER WITH ADMIN OPTION')
                OR me.makes_roles AND current_setting('server_version_num')::integer < 160000 AS administered
    FROM pg_roles r CROSS JOIN me WHERE r.rolname IN ('ebbtide_app', 'ebbtide_reader'))
SELECT owner.is_me AND (app.oid IS NULL AND me.makes_roles OR app.administered OR pg_has_role(me.oid, app.oid, 'MEMBER')) IS TRUE AS app,
       owner.is_me AND (reader.oid IS NULL AND me.makes_roles OR reader.administered AND NOT (
           reader.rolcanlogin OR reader.rolsuper OR reader.rolbypassrls OR EXISTS (
               SELECT FROM pg_auth_members g JOIN pg_roles u ON u.oid = g.member
               WHERE g.roleid = reader.oid AND NOT u.rolsuper AND pg_has_role(u.oid, reader.oid, 'USAGE')))) IS TRUE AS reader
FROM me
CROSS JOIN (SELECT pg_has_role(relowner, 'USAGE') AS is_me FROM pg_class WHERE oid = 'ebbtide.memory'::regclass) owner
LEFT JOIN known app ON app.rolname = 'ebbtide_app'
LEFT JOIN known reader ON reader.rolname = 'ebbtide_reader';

-- name: create_role
-- One of the store's two roles, named by the transaction: no owner, no superuser, no way around the policies.
DO $$
DECLARE
    name text := current_setting('ebbtide.role');
BEGIN
    IF to_regrole(name) IS NULL THEN
        EXECUTE format('CREATE ROLE %%I NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE', name);
    END IF;
EXCEPTION
    WHEN duplicate_object OR unique_violation THEN NULL;
END
$$;

-- name: join_role
-- Lets the owner of the memories act as that role. Another database of the server may be giving its owner the same.
DO $$
DECLARE
    owner name := (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = 'ebbtide.memory'::regclass);
BEGIN
    IF NOT pg_has_role(owner, 'ebbtide_app', CASE WHEN current_setting('server_version_num')::integer < 160000 THEN 'MEMBER' ELSE 'SET' END) THEN
        EXECUTE format('GRANT ebbtide_app TO %%I', owner);
    END IF;
EXCEPTION
    WHEN unique_violation THEN NULL;
END
$$;

-- name: let_reader_search
-- Gives the role that full text is searched as the view of words: it may read the conditions of a search, of any tenant, and nobody
-- may be it. To hand the view over, this user has to have the role and the role has to be free to create; neither is so any more when
-- the transaction ends.
DO $$
DECLARE
    me name := current_user;
    owner name := (SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = 'ebbtide.memory'::regclass);
    superuser boolean := (SELECT rolsuper FROM pg_roles WHERE rolname = current_user);
    columns text := (SELECT string_agg(quote_ident(attname), ', ') FROM pg_attribute
                     WHERE attrelid = 'ebbtide.searched_memory'::regclass AND attnum > 0);
BEGIN
    IF NOT superuser THEN
        GRANT ebbtide_reader TO CURRENT_USER;
    END IF;
    GRANT USAGE, CREATE ON SCHEMA ebbtide TO ebbtide_reader;
    EXECUTE format('GRANT SELECT (%%s) ON ebbtide.memory TO ebbtide_reader', columns);
    DROP POLICY IF EXISTS reader_searches ON ebbtide.memory;
    CREATE POLICY reader_searches ON ebbtide.memory FOR SELECT TO ebbtide_reader USING (true);
    ALTER VIEW ebbtide.searched_memory OWNER TO ebbtide_reader;
    SET LOCAL ROLE ebbtide_reader;
    EXECUTE format('GRANT SELECT ON ebbtide.searched_memory TO %%I', owner);
    IF to_regrole('ebbtide_app') IS NOT NULL THEN
        GRANT SELECT ON ebbtide.searched_memory TO ebbtide_app;
    END IF;
    EXECUTE format('SET LOCAL ROLE %%I', me);
    REVOKE ALL ON SCHEMA ebbtide FROM ebbtide_reader;
    IF NOT superuser THEN
        REVOKE ebbtide_reader FROM CURRENT_USER;
    END IF;
END
$$;

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
    IF (SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = 'ebbtide.searched_memory'::regclass) THEN
        GRANT SELECT ON ebbtide.searched_memory TO ebbtide_app;
    END IF;
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
