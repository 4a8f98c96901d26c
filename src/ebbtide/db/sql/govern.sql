-- Who may do what, and how things are ranked.

-- name: save_profile
-- Keeps a ranking profile under its name.
INSERT INTO profile (tenant_id, name, body, updated_at) VALUES (%(tenant)s, %(name)s, %(body)s::jsonb, %(now)s)
ON CONFLICT (tenant_id, name) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at;

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
