-- Who may do what, and how things are ranked.

-- name: save_profile
-- Keeps a ranking profile under its name.
INSERT INTO profile (tenant_id, name, body, updated_at) VALUES (%(tenant)s, %(name)s, %(body)s::jsonb, %(now)s)
ON CONFLICT (tenant_id, name) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at;

-- name: add_profile
-- Keeps a ranking profile under a name that is not taken yet; answers with the name, or with nothing where it is taken.
INSERT INTO profile (tenant_id, name, body, updated_at) VALUES (%(tenant)s, %(name)s, %(body)s::jsonb, %(now)s)
ON CONFLICT DO NOTHING RETURNING name;

-- name: profile
-- One saved profile.
SELECT body FROM profile WHERE tenant_id = %(tenant)s AND name = %(name)s;

-- name: profiles
-- Every saved profile, by name.
SELECT body FROM profile WHERE tenant_id = %(tenant)s ORDER BY name;

-- name: know_tenant
-- Notes that a tenant exists, so that scheduled work finds it.
INSERT INTO tenant (tenant_id, created_at) VALUES (%(tenant)s, %(now)s) ON CONFLICT DO NOTHING;

-- name: tenants
-- Every tenant, for the owner's scheduled work.
SELECT tenant_id FROM tenant ORDER BY tenant_id;

-- name: mark_changed
-- Gives a tenant's policies and rules a new revision, in the transaction that changes them.
INSERT INTO tenant AS t (tenant_id, governance, created_at) VALUES (%(tenant)s, %(revision)s, %(now)s)
ON CONFLICT (tenant_id) DO UPDATE SET governance = excluded.governance;

-- name: revision
-- The revision of a tenant's policies and rules; NULL, or no row, where it never had any.
SELECT t.governance FROM tenant t WHERE t.tenant_id = %(tenant)s;

-- name: add_rule
-- Keeps a rule on namespaces.
INSERT INTO namespace_rule (tenant_id, id, pattern, bonus, instruction, default_kind, personal_data, retention_days, created_at)
VALUES (%(tenant)s, %(id)s, %(pattern)s, %(bonus)s, %(instruction)s, %(default_kind)s, %(personal_data)s, %(retention_days)s, %(now)s);

-- name: rules
-- Every rule on namespaces, in the order in which they were added.
SELECT r.pattern, r.bonus, r.instruction, r.default_kind, r.personal_data, r.retention_days, r.id, r.created_at
FROM namespace_rule r WHERE r.tenant_id = %(tenant)s ORDER BY r.created_at, r.id;

-- name: remove_rule
-- Removes a rule, and answers with its id where there was one.
DELETE FROM namespace_rule r WHERE r.tenant_id = %(tenant)s AND r.id = %(id)s RETURNING r.id;

-- name: set_policy
-- Keeps the policy of an agent, or of a task of it, in place of what it was.
INSERT INTO policy (tenant_id, agent_id, task_id, fields, updated_at) VALUES (%(tenant)s, %(agent)s, %(task)s, %(fields)s::jsonb, %(now)s)
ON CONFLICT (tenant_id, agent_id, task_id) DO UPDATE SET fields = excluded.fields, updated_at = excluded.updated_at;

-- name: delete_policy
-- Deletes a policy, and answers with its agent where there was one.
DELETE FROM policy p WHERE p.tenant_id = %(tenant)s AND p.agent_id = %(agent)s AND p.task_id = %(task)s RETURNING p.agent_id;

-- name: policies
-- The policy of an agent and that of a task of it, NULL where there is none, and the revision they are of.
SELECT (SELECT p.fields FROM policy p WHERE p.tenant_id = %(tenant)s AND p.agent_id = %(agent)s AND p.task_id = ''),
       (SELECT p.fields FROM policy p WHERE p.tenant_id = %(tenant)s AND p.agent_id = %(agent)s AND p.task_id = %(task)s::text),
       (SELECT t.governance FROM tenant t WHERE t.tenant_id = %(tenant)s);

-- name: laid_down
-- What a tenant's settings say of personal data, NULL where they say nothing, and whether its memories may fade.
SELECT t.settings ->> 'personal_data', coalesce((t.settings ->> 'forgetting')::boolean, false) FROM tenant t WHERE t.tenant_id = %(tenant)s;

-- name: set_forgetting
-- Lets a tenant's memories fade, or no longer.
UPDATE tenant t SET settings = t.settings || jsonb_build_object('forgetting', %(enabled)s::boolean)
WHERE t.tenant_id = %(tenant)s;

-- name: set_personal_data
-- Sets what is done with personal data where no rule on a namespace says it.
UPDATE tenant t SET settings = jsonb_strip_nulls(t.settings || jsonb_build_object('personal_data', %(mode)s::text))
WHERE t.tenant_id = %(tenant)s;
