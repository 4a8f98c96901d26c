-- The whole store, told in the order of a memory's life.
--
-- Who may use it (tenant, api_key, policy, namespace_rule, profile), what is remembered (memory, its
-- strength and its earlier versions), what it is about (entities, relations), where it came from (sessions,
-- turns, documents), what is disputed, held, erased and proven (conflict, legal_hold, receipt, audit), and
-- what the engine learns about itself (recall_log and the statistics).
--
-- Three rules hold everywhere. `tenant_id` leads every primary key and every foreign key, so one
-- `create_distributed_table` a table puts the store on Citus. Row-level security is on and forced: a
-- transaction sees the tenant named by the setting `ebbtide.tenant`, and raises an error when none is
-- named. Times are UTC and come from the caller, never from now(): an answer can be computed again.

CREATE TABLE store (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    schema_version integer NOT NULL,
    text_search_configuration text NOT NULL,
    model_name text,
    model_dimension integer,
    created_at timestamptz NOT NULL
);

-- `governance` is a new value whenever a policy or a rule of the tenant changes: what was read of them at another is out of date.
-- `session_revision` is that of every session without a row of its own.
CREATE TABLE tenant (
    tenant_id text PRIMARY KEY,
    settings jsonb NOT NULL DEFAULT '{}',
    governance uuid,
    session_revision integer NOT NULL DEFAULT 1,
    created_at timestamptz NOT NULL
);

CREATE TABLE api_key (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    agent_id text NOT NULL,
    name text NOT NULL,
    secret_hash bytea NOT NULL,
    scopes text[] NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    PRIMARY KEY (tenant_id, id)
);

CREATE TABLE policy (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    task_id text NOT NULL DEFAULT '',
    fields jsonb NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, task_id)
);

CREATE TABLE namespace_rule (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    pattern text NOT NULL,
    bonus double precision NOT NULL DEFAULT 0,
    instruction text,
    default_kind text,
    personal_data text,
    retention_days integer,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE TABLE profile (
    tenant_id text NOT NULL,
    name text NOT NULL,
    body jsonb NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, name)
);

-- Everything searchable is a row here. Columns that change on every read live in strength instead, since
-- rewriting this wide, much-indexed row for a counter would cost more than the recall itself.
-- What an exact search looks at in every row comes first: to reach a column, the server walks over all before it.
CREATE TABLE memory (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    agent_id text NOT NULL,
    namespace text NOT NULL,
    status text NOT NULL CHECK (status IN ('active', 'archived', 'quarantined', 'deleted', 'tombstoned')),
    maturity text NOT NULL CHECK (maturity IN ('unconfirmed', 'confirmed', 'superseded', 'invalidated')),
    superseded_by uuid,
    valid_from timestamptz,
    invalidated_at timestamptz,
    expires_at timestamptz,
    search tsvector NOT NULL,
    -- The vector of the content alone; its dimension is fixed when a model is recorded.
    embedding halfvec,
    -- For a turn of a conversation, norm(v + .7 v_previous): what was said, in the light of what it answers.
    context_embedding halfvec,
    chat_id text,
    sequence integer,
    speaker text,
    kind text NOT NULL,
    content_hash bytea NOT NULL,
    created_at timestamptz NOT NULL,
    observed_at timestamptz,
    -- Whether a message ends as a question does.
    asks boolean NOT NULL GENERATED ALWAYS AS (kind = 'message' AND right(rtrim(content), 1) IN ('?', '？', '؟')) STORED,
    -- Since when nothing that was extracted from it holds any more; NULL while something does, or nothing was.
    outdated_at timestamptz,
    content text NOT NULL,
    user_id text,
    task_id text,
    session_id text,
    embedding_pending boolean NOT NULL DEFAULT false,
    labels text[] NOT NULL DEFAULT '{}',
    tags text[] NOT NULL DEFAULT '{}',
    metadata jsonb NOT NULL DEFAULT '{}',
    source text,
    subject text,
    predicate text,
    personal_data text[] NOT NULL DEFAULT '{}',
    -- How many tokens the content is, and by which counter; a count by another one is made anew where it is needed.
    tokens integer,
    counted_by text,
    importance double precision NOT NULL,
    confidence double precision NOT NULL,
    confirmed_at timestamptz,
    revision integer NOT NULL,
    updated_at timestamptz NOT NULL,
    last_mentioned_at timestamptz,
    deleted_at timestamptz,
    -- Since when the row has said what it says now: the start of this revision in system time.
    current_since timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
) PARTITION BY HASH (tenant_id);

CREATE TABLE memory_0 PARTITION OF memory FOR VALUES WITH (MODULUS 8, REMAINDER 0);
CREATE TABLE memory_1 PARTITION OF memory FOR VALUES WITH (MODULUS 8, REMAINDER 1);
CREATE TABLE memory_2 PARTITION OF memory FOR VALUES WITH (MODULUS 8, REMAINDER 2);
CREATE TABLE memory_3 PARTITION OF memory FOR VALUES WITH (MODULUS 8, REMAINDER 3);
CREATE TABLE memory_4 PARTITION OF memory FOR VALUES WITH (MODULUS 8, REMAINDER 4);
CREATE TABLE memory_5 PARTITION OF memory FOR VALUES WITH (MODULUS 8, REMAINDER 5);
CREATE TABLE memory_6 PARTITION OF memory FOR VALUES WITH (MODULUS 8, REMAINDER 6);
CREATE TABLE memory_7 PARTITION OF memory FOR VALUES WITH (MODULUS 8, REMAINDER 7);

-- Vectors and text stay inside the row: an exact search reads every one of them.
ALTER TABLE memory_0 ALTER embedding SET STORAGE MAIN, ALTER context_embedding SET STORAGE MAIN, SET (toast_tuple_target = 4080);
ALTER TABLE memory_1 ALTER embedding SET STORAGE MAIN, ALTER context_embedding SET STORAGE MAIN, SET (toast_tuple_target = 4080);
ALTER TABLE memory_2 ALTER embedding SET STORAGE MAIN, ALTER context_embedding SET STORAGE MAIN, SET (toast_tuple_target = 4080);
ALTER TABLE memory_3 ALTER embedding SET STORAGE MAIN, ALTER context_embedding SET STORAGE MAIN, SET (toast_tuple_target = 4080);
ALTER TABLE memory_4 ALTER embedding SET STORAGE MAIN, ALTER context_embedding SET STORAGE MAIN, SET (toast_tuple_target = 4080);
ALTER TABLE memory_5 ALTER embedding SET STORAGE MAIN, ALTER context_embedding SET STORAGE MAIN, SET (toast_tuple_target = 4080);
ALTER TABLE memory_6 ALTER embedding SET STORAGE MAIN, ALTER context_embedding SET STORAGE MAIN, SET (toast_tuple_target = 4080);
ALTER TABLE memory_7 ALTER embedding SET STORAGE MAIN, ALTER context_embedding SET STORAGE MAIN, SET (toast_tuple_target = 4080);

-- One live statement of a text in a namespace; a superseded or archived one does not stand in the way of saying it anew.
CREATE UNIQUE INDEX memory_exact_duplicate ON memory (tenant_id, agent_id, namespace, content_hash)
    WHERE status = 'active' AND superseded_by IS NULL;
CREATE INDEX memory_browse ON memory (tenant_id, agent_id, created_at, id);
CREATE INDEX memory_turn ON memory (tenant_id, chat_id, sequence) WHERE chat_id IS NOT NULL;
CREATE INDEX memory_successor ON memory (tenant_id, superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX memory_subject ON memory (tenant_id, agent_id, namespace, subject) WHERE subject IS NOT NULL;
CREATE INDEX memory_source ON memory (tenant_id, source) WHERE source IS NOT NULL;
CREATE INDEX memory_speaker ON memory (tenant_id, agent_id, speaker) WHERE speaker IS NOT NULL;
CREATE INDEX memory_pending ON memory (tenant_id, id) WHERE embedding_pending;
CREATE INDEX memory_words ON memory USING gin (tenant_id, agent_id, search);
-- What was deleted softly, to be found again by its words when nothing live says them.
CREATE INDEX memory_deleted ON memory (tenant_id, agent_id) WHERE status = 'deleted';

-- What the word arm searches: the memories of the transaction's tenant, without their contents and vectors. Under a policy the planner
-- will not use memory_words, since `@@` is not known to be leakproof. A view reads as its owner, and where roles can be made that is
-- ebbtide_reader, which the policy does not bind and nobody is; the condition here takes the policy's place. A security barrier would
-- bring the policy's plan back, so the view is no barrier, and no other statement reads it.
CREATE VIEW searched_memory AS
SELECT tenant_id, id, agent_id, namespace, user_id, task_id, chat_id, session_id, sequence, speaker, kind, search, labels, tags, metadata,
       source, subject, predicate, importance, confidence, status, maturity, confirmed_at, revision, superseded_by, created_at,
       updated_at, last_mentioned_at, observed_at, valid_from, invalidated_at, expires_at, deleted_at
FROM memory
WHERE tenant_id = current_setting('ebbtide.tenant');

-- How firmly a memory is held. No row means never accessed: the defaults below, which decay from the memory's creation on, as
-- they do where `decayed_at` is NULL. Up to `decayed_at` the decay is in the columns, and what comes after it is added on reading.
-- `imported_at` is when the memory came here from elsewhere: nobody could have used it before. Half of each page is left free, so that
-- a night's new image of every row stays on its page and out of the index.
CREATE TABLE strength (
    tenant_id text NOT NULL,
    memory_id uuid NOT NULL,
    access_count integer NOT NULL DEFAULT 0,
    last_accessed_at timestamptz,
    stability double precision NOT NULL DEFAULT 1.0,
    difficulty double precision NOT NULL DEFAULT 2.5,
    half_life double precision NOT NULL DEFAULT 30.0,
    decayed_at timestamptz,
    imported_at timestamptz,
    positive integer NOT NULL DEFAULT 0,
    negative integer NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, memory_id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memory (tenant_id, id) ON DELETE CASCADE
) WITH (fillfactor = 50);

-- Every earlier image of a memory with the interval [current_since, current_until) in which it was current.
CREATE TABLE memory_version (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    revision integer NOT NULL,
    agent_id text NOT NULL,
    namespace text NOT NULL,
    user_id text,
    task_id text,
    chat_id text,
    session_id text,
    sequence integer,
    speaker text,
    kind text NOT NULL,
    content text NOT NULL,
    content_hash bytea NOT NULL,
    asks boolean NOT NULL GENERATED ALWAYS AS (kind = 'message' AND right(rtrim(content), 1) IN ('?', '？', '؟')) STORED,
    search tsvector NOT NULL,
    embedding halfvec,
    context_embedding halfvec,
    labels text[] NOT NULL,
    tags text[] NOT NULL,
    metadata jsonb NOT NULL,
    source text,
    subject text,
    predicate text,
    personal_data text[] NOT NULL,
    tokens integer,
    counted_by text,
    importance double precision NOT NULL,
    confidence double precision NOT NULL,
    status text NOT NULL,
    maturity text NOT NULL,
    confirmed_at timestamptz,
    superseded_by uuid,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    last_mentioned_at timestamptz,
    observed_at timestamptz,
    valid_from timestamptz,
    invalidated_at timestamptz,
    expires_at timestamptz,
    deleted_at timestamptz,
    current_since timestamptz NOT NULL,
    current_until timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id, revision),
    FOREIGN KEY (tenant_id, id) REFERENCES memory (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX memory_version_scope ON memory_version (tenant_id, agent_id, current_since);
CREATE INDEX memory_version_turn ON memory_version (tenant_id, chat_id, sequence) WHERE chat_id IS NOT NULL;
CREATE INDEX memory_version_successor ON memory_version (tenant_id, superseded_by) WHERE superseded_by IS NOT NULL;

-- Who and what the memories of an agent speak of. `name` is one of its aliases; how sure it is, is the average over its facts, taken
-- when it is read. `memory_id` is its page, wanted where `page_namespace` says so. One that was merged into another stays as a shell, to be taken out again.
CREATE TABLE entity (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    agent_id text NOT NULL,
    type text NOT NULL,
    name text NOT NULL,
    name_hash bytea NOT NULL,
    memory_id uuid,
    page_namespace text,
    merged_into uuid,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX entity_name ON entity (tenant_id, agent_id, name_hash);
CREATE INDEX entity_listed ON entity (tenant_id, agent_id, id);
CREATE INDEX entity_page ON entity (tenant_id, memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX entity_paged ON entity (tenant_id, id) WHERE page_namespace IS NOT NULL;
CREATE INDEX entity_merged ON entity (tenant_id, merged_into) WHERE merged_into IS NOT NULL;

-- The names of entities. A `given` one is the entity's own, or was given as its alias by a text or a person; others were learnt, since
-- they are similar to one of those. What a person added or removed stays so whatever memories say.
CREATE TABLE entity_alias (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    agent_id text NOT NULL,
    entity_id uuid NOT NULL,
    alias text NOT NULL,
    -- As it is compared.
    folded text NOT NULL,
    alias_hash bytea NOT NULL,
    given boolean NOT NULL,
    added boolean NOT NULL DEFAULT false,
    removed boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entity (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX entity_alias_entity ON entity_alias (tenant_id, entity_id);
CREATE INDEX entity_alias_lookup ON entity_alias (tenant_id, agent_id, alias_hash);

-- Under which keys similar names find an alias: a table, since under a policy no index of arrays is used. `size` counts its words.
CREATE TABLE entity_key (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    key bigint NOT NULL,
    size smallint NOT NULL,
    alias_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, key, size, alias_id),
    FOREIGN KEY (tenant_id, alias_id) REFERENCES entity_alias (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX entity_key_alias ON entity_key (tenant_id, alias_id);

-- How a name goes on from each of its words, as it is compared, as far as its first 40 characters: by these a list finds names of which
-- a word begins in some way. A table in the order of bytes, since under a policy an index serves comparisons and no search in a text.
CREATE TABLE entity_word (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    rest text COLLATE "C" NOT NULL,
    entity_id uuid NOT NULL,
    alias_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, rest, entity_id, alias_id),
    FOREIGN KEY (tenant_id, alias_id) REFERENCES entity_alias (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX entity_word_alias ON entity_word (tenant_id, alias_id);

CREATE TABLE mention (
    tenant_id text NOT NULL,
    memory_id uuid NOT NULL,
    entity_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, memory_id, entity_id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memory (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, entity_id) REFERENCES entity (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX mention_entity ON mention (tenant_id, entity_id, memory_id);

-- Which memories use a name: with the last of them it goes.
CREATE TABLE alias_source (
    tenant_id text NOT NULL,
    memory_id uuid NOT NULL,
    alias_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, memory_id, alias_id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memory (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, alias_id) REFERENCES entity_alias (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX alias_source_alias ON alias_source (tenant_id, alias_id);

-- What holds between two entities while the memory that says so does. A derived one follows from two others, and holds while both
-- memories do: that of the first premise, and `other_memory_id`.
CREATE TABLE relation (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    agent_id text NOT NULL,
    subject_id uuid NOT NULL,
    predicate text NOT NULL,
    object_id uuid NOT NULL,
    memory_id uuid NOT NULL,
    other_memory_id uuid,
    derived boolean NOT NULL DEFAULT false CHECK (derived = (other_memory_id IS NOT NULL)),
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, subject_id) REFERENCES entity (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, object_id) REFERENCES entity (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memory (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, other_memory_id) REFERENCES memory (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX relation_subject ON relation (tenant_id, subject_id);
CREATE INDEX relation_object ON relation (tenant_id, object_id);
CREATE INDEX relation_memory ON relation (tenant_id, memory_id);
CREATE INDEX relation_other_memory ON relation (tenant_id, other_memory_id) WHERE other_memory_id IS NOT NULL;

-- A derived relation and the two it follows from; it vanishes with either.
CREATE TABLE derivation (
    tenant_id text NOT NULL,
    relation_id uuid NOT NULL,
    premise_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, relation_id, premise_id),
    FOREIGN KEY (tenant_id, relation_id) REFERENCES relation (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, premise_id) REFERENCES relation (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX derivation_premise ON derivation (tenant_id, premise_id);

-- What was done to entities by hand, so that it can be undone: which alias it was, and which rows moved to another entity.
CREATE TABLE entity_change (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    agent_id text NOT NULL,
    operation text NOT NULL CHECK (operation IN ('merge', 'split', 'add_alias', 'remove_alias')),
    entity_id uuid NOT NULL,
    counterpart_id uuid,
    -- What an alias was before it was added or removed: whether there was one, given, added, removed.
    before jsonb NOT NULL DEFAULT '{}',
    created_at timestamptz NOT NULL,
    undone_at timestamptz,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX entity_change_entity ON entity_change (tenant_id, entity_id);
CREATE INDEX entity_change_counterpart ON entity_change (tenant_id, counterpart_id) WHERE counterpart_id IS NOT NULL;

-- The rows of a change by their ids: of a `mention`, the memory's; of a relation, by the side that moved.
CREATE TABLE entity_change_item (
    tenant_id text NOT NULL,
    change_id uuid NOT NULL,
    kind text NOT NULL CHECK (kind IN ('mention', 'alias', 'subject', 'object')),
    item_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, change_id, kind, item_id),
    FOREIGN KEY (tenant_id, change_id) REFERENCES entity_change (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX entity_change_item_item ON entity_change_item (tenant_id, item_id);

-- A session's revision fences late work: what was captured at an older one is refused. There is a row once something of a
-- session was forgotten.
CREATE TABLE session (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    session_id text NOT NULL,
    user_id text,
    revision integer NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, session_id)
);

-- A conversation is a tree: `main`, and branches that go on from a turn of another one. A branch has its parent's turns up to
-- `forked_after`, as far as the parent has those itself, and its own. The first branch of a chat has no row. Its name may be read where
-- one of its turns may, or what lies in its `namespace`.
CREATE TABLE branch (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    chat_id text NOT NULL,
    name text NOT NULL,
    parent text NOT NULL,
    forked_after bigint NOT NULL,
    namespace text NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, chat_id, name)
);

-- A turn is a memory at a place on a branch: what was said is in the memory alone, and its turns go with it. Places grow along a
-- branch, from 0, with gaps; where a message has a sequence it is that, else the next of the whole chat.
CREATE TABLE turn (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    chat_id text NOT NULL,
    branch text NOT NULL,
    place bigint NOT NULL,
    memory_id uuid NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, chat_id, branch, memory_id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memory (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX turn_place ON turn (tenant_id, agent_id, chat_id, place);
CREATE INDEX turn_memory ON turn (tenant_id, memory_id);

-- A file or a text whose passages are remembered: memories with its id as their source, the last of which takes it along. Without a
-- content_hash they are not yet, or not quite, those of its last version. Who writes them holds the claim. `is_file`: a file is expected
-- at its path, so that it is noticed when there is none any more.
CREATE TABLE document (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    agent_id text NOT NULL,
    namespace text NOT NULL,
    path text NOT NULL,
    content_hash bytea,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    title text NOT NULL DEFAULT '',
    media text NOT NULL DEFAULT 'text',
    options_hash bytea,
    is_file boolean NOT NULL DEFAULT false,
    claim uuid,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX document_path ON document (tenant_id, agent_id, namespace, path);

-- Where in its document a passage stands: on which lines, or pages of a PDF. It moves when something before it changes, and then
-- this narrow row changes and the memory does not.
CREATE TABLE passage (
    tenant_id text NOT NULL,
    memory_id uuid NOT NULL,
    document_id uuid NOT NULL,
    position integer NOT NULL,
    first integer NOT NULL,
    last integer NOT NULL,
    PRIMARY KEY (tenant_id, memory_id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memory (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, document_id) REFERENCES document (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX passage_document ON passage (tenant_id, document_id, position);

CREATE TABLE conflict (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    agent_id text NOT NULL,
    older_id uuid NOT NULL,
    newer_id uuid NOT NULL,
    reason text NOT NULL,
    resolution text,
    created_at timestamptz NOT NULL,
    resolved_at timestamptz,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, older_id) REFERENCES memory (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, newer_id) REFERENCES memory (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX conflict_older ON conflict (tenant_id, older_id);
CREATE INDEX conflict_newer ON conflict (tenant_id, newer_id);
CREATE INDEX conflict_open ON conflict (tenant_id, agent_id) WHERE resolution IS NULL;

-- Which memories nearly repeat which earlier ones.
CREATE TABLE memory_link (
    tenant_id text NOT NULL,
    memory_id uuid NOT NULL,
    other_id uuid NOT NULL,
    -- `update`: the memory was found to replace the other one, and how sure that was.
    kind text NOT NULL CHECK (kind IN ('near_duplicate', 'update')),
    confidence double precision,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, memory_id, other_id, kind),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memory (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, other_id) REFERENCES memory (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX memory_link_other ON memory_link (tenant_id, other_id);

-- What a memory was made from. A `whole` one says something of each of its sources and goes with any of them; of the others each
-- source says it all, and they go with the last. What a user says too has no origin: it stands for itself.
CREATE TABLE memory_origin (
    tenant_id text NOT NULL,
    memory_id uuid NOT NULL,
    source_id uuid NOT NULL,
    whole boolean NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, memory_id, source_id),
    FOREIGN KEY (tenant_id, memory_id) REFERENCES memory (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, source_id) REFERENCES memory (tenant_id, id) ON DELETE CASCADE
);
CREATE INDEX memory_origin_source ON memory_origin (tenant_id, source_id);

CREATE TABLE legal_hold (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    reason text NOT NULL,
    filter jsonb NOT NULL,
    placed_at timestamptz NOT NULL,
    released_at timestamptz,
    PRIMARY KEY (tenant_id, id)
);

-- What is left of a forgotten memory for ever: its id is never used again.
CREATE TABLE tombstone (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    revision integer NOT NULL,
    deleted_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

-- One erasure each, in a chain of digests per tenant: digest = sha256(previous_digest || body). The body is canonical JSON.
CREATE TABLE receipt (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    number bigint NOT NULL,
    memory_id uuid,
    body text NOT NULL,
    previous_digest bytea NOT NULL,
    digest bytea NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX receipt_number ON receipt (tenant_id, number);
CREATE INDEX receipt_memory ON receipt (tenant_id, memory_id);

-- The first answer to a client's key, given again to a retry.
CREATE TABLE idempotency (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    key text NOT NULL,
    body_hash bytea NOT NULL,
    memory_id uuid,
    outcome text NOT NULL,
    warnings text[] NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, key)
);
CREATE INDEX idempotency_memory ON idempotency (tenant_id, memory_id);

-- Numbers are given while the writer holds the tenant's audit lock, so all below one that a sealer sees are there or never will
-- be. The digest is of the row itself; what has a wrong one was not written, or not left, by the engine.
CREATE TABLE audit (
    tenant_id text NOT NULL,
    number bigint GENERATED ALWAYS AS IDENTITY,
    id uuid NOT NULL,
    at timestamptz NOT NULL,
    agent_id text NOT NULL,
    user_id text,
    action text NOT NULL CHECK (action IN ('read', 'write', 'update', 'delete', 'status', 'warning')),
    memory_id uuid,
    detail jsonb NOT NULL DEFAULT '{}',
    digest bytea,
    PRIMARY KEY (tenant_id, id)
);
CREATE UNIQUE INDEX audit_number ON audit (tenant_id, number);
CREATE INDEX audit_memory ON audit (tenant_id, memory_id);

-- A link of the audit's chain: it covers the rows with after_number < number <= last_number, and follows from the seal before.
CREATE TABLE audit_seal (
    tenant_id text NOT NULL,
    number bigint NOT NULL,
    after_number bigint NOT NULL,
    last_number bigint NOT NULL,
    row_count integer NOT NULL,
    previous_digest bytea NOT NULL,
    digest bytea NOT NULL,
    sealed_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, number)
);

-- When something was asked, by whom, and under which profile; never what. `signature` is of the profile without its weights, and says
-- what the readings of the hits are; NULL where there are none.
CREATE TABLE recall_log (
    tenant_id text NOT NULL,
    id uuid NOT NULL,
    agent_id text NOT NULL,
    user_id text,
    profile text NOT NULL,
    signature bytea,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);
CREATE INDEX recall_log_time ON recall_log (tenant_id, created_at);

-- Which memories came back, at which place and with which relevance. A row each, so that a forgotten one is found quickly.
-- `readings` are what the profile weighed, each factor's value before its weight; `rating` is what whoever asked said of it.
CREATE TABLE recall_hit (
    tenant_id text NOT NULL,
    memory_id uuid NOT NULL,
    recall_id uuid NOT NULL,
    place integer NOT NULL,
    relevance double precision NOT NULL,
    readings real[],
    rating text CHECK (rating IN ('positive', 'negative', 'neutral')),
    rated_at timestamptz,
    PRIMARY KEY (tenant_id, recall_id, memory_id)
);
CREATE INDEX recall_hit_memory ON recall_hit (tenant_id, memory_id);
CREATE INDEX recall_hit_rated ON recall_hit (tenant_id, rated_at) WHERE rating IS NOT NULL;

CREATE TABLE serendipity_arm (
    tenant_id text NOT NULL,
    user_id text NOT NULL,
    alpha double precision NOT NULL DEFAULT 1,
    beta double precision NOT NULL DEFAULT 1,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, user_id)
);

-- Which types of entities the hits for a word of queries mentioned, as of `matched_at`; it halves from there. Of nobody in
-- particular where `user_id` is empty. Words alone, each by itself: no query, and nothing of a memory.
CREATE TABLE route_statistic (
    tenant_id text NOT NULL,
    agent_id text NOT NULL,
    user_id text NOT NULL,
    term text NOT NULL,
    entity_type text NOT NULL,
    matches double precision NOT NULL,
    matched_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, agent_id, user_id, term, entity_type)
);

-- Why the last attempt at a job failed. The queue's own tables keep everything else about jobs.
CREATE TABLE job_failure (
    job_id bigint PRIMARY KEY,
    error text NOT NULL,
    failed_at timestamptz NOT NULL
);

-- Isolation: the tenant of the transaction, and nothing else. current_setting raises when it was never set,
-- so a forgotten setting fails closed; '' (left behind by an earlier transaction) matches no tenant.
DO $policies$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'tenant', 'api_key', 'policy', 'namespace_rule', 'profile', 'memory', 'strength', 'memory_version',
        'entity', 'entity_alias', 'entity_key', 'entity_word', 'mention', 'alias_source', 'relation', 'derivation',
        'entity_change', 'entity_change_item', 'session', 'branch', 'turn', 'document', 'passage', 'conflict', 'memory_link', 'memory_origin',
        'legal_hold', 'tombstone', 'receipt', 'idempotency', 'audit', 'audit_seal', 'recall_log', 'recall_hit',
        'serendipity_arm', 'route_statistic']
    LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            'CREATE POLICY same_tenant ON %I USING (tenant_id = current_setting(''ebbtide.tenant'')) '
            'WITH CHECK (tenant_id = current_setting(''ebbtide.tenant''))', name);
    END LOOP;
END
$policies$;

-- Scheduled work walks over the tenants: the owner of the schema may list their names, and sets each in turn.
CREATE POLICY owner_lists ON tenant FOR SELECT TO CURRENT_USER USING (true);
