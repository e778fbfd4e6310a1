-- Tokens of the admin API (docs/admin-api.md). A revoked one stays, since the audit trail names it.
CREATE TABLE admin_tokens (
  -- SHA-256 of the token, which itself is kept nowhere.
  hash bytea NOT NULL,
  name text COLLATE "C" NOT NULL,
  scope text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  expires_at timestamptz NOT NULL,
  -- Written once an hour at most, so that calls stay reads.
  last_used_at timestamptz,
  revoked_at timestamptz,
  CONSTRAINT admin_tokens_pkey PRIMARY KEY (hash),
  CONSTRAINT admin_tokens_hash_sha256 CHECK (octet_length(hash) = 32),
  CONSTRAINT admin_tokens_scope_known CHECK (scope IN ('read', 'support', 'admin')),
  -- 400 days, in hours: days depend on the time zone of the session, and a backup is restored in any.
  CONSTRAINT admin_tokens_expires CHECK (expires_at <= created_at + interval '9600 hours')
);
CREATE UNIQUE INDEX admin_tokens_name ON admin_tokens (name) WHERE revoked_at IS NULL;
