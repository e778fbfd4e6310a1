-- The audit trail: what concerns somebody's account or somebody's money, with who asked for it. Rows are only added; those
-- that are older than a day may be removed, which the service does at the age that AUDIT_DAYS sets.
CREATE TABLE security_events (
  id bigint GENERATED ALWAYS AS IDENTITY,
  at timestamptz NOT NULL DEFAULT now(),
  event text NOT NULL,
  -- No foreign keys: an event outlives its account.
  user_id text COLLATE "C",
  phone text,
  region text,
  ip text NOT NULL,
  user_agent text NOT NULL,
  request_id text NOT NULL,
  detail text,
  CONSTRAINT security_events_pkey PRIMARY KEY (id),
  CONSTRAINT security_events_phone_masked CHECK (phone !~ '[0-9]{6}')
);
CREATE INDEX security_events_at ON security_events (at);
CREATE INDEX security_events_user_id ON security_events (user_id, at) WHERE user_id IS NOT NULL;

CREATE FUNCTION security_events_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'security_events is append-only: rows are not changed, nor deleted within a day'
    USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER security_events_no_update BEFORE UPDATE ON security_events
  FOR EACH ROW EXECUTE FUNCTION security_events_append_only();
CREATE TRIGGER security_events_no_delete BEFORE DELETE ON security_events
  FOR EACH ROW WHEN (OLD.at > now() - interval '1 day') EXECUTE FUNCTION security_events_append_only();
CREATE TRIGGER security_events_no_truncate BEFORE TRUNCATE ON security_events
  FOR EACH STATEMENT EXECUTE FUNCTION security_events_append_only();

-- Whether the audit trail knows that this bucket was met in its present window.
ALTER TABLE rate_limits ADD COLUMN noted boolean NOT NULL DEFAULT false;
