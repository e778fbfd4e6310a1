-- Who is told of events, and how far: the messaging provider, and webhooks of other services.

CREATE TABLE event_readers (
  name text NOT NULL,
  -- The last event that it has read.
  version bigint NOT NULL,
  number integer NOT NULL,
  subject text COLLATE "C" NOT NULL,
  CONSTRAINT event_readers_pkey PRIMARY KEY (name)
);

-- Changes of a user or group that the messaging provider has not been told yet. The same change is told once.
CREATE TABLE messaging_changes (
  subject text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  other text COLLATE "C" NOT NULL,
  what text NOT NULL,
  -- Of its last event.
  version bigint NOT NULL,
  number integer NOT NULL,
  at timestamptz(3) NOT NULL,
  CONSTRAINT messaging_changes_pkey PRIMARY KEY (subject, kind, other, what)
);
-- One for each user or group with such changes, which are told by one instance at a time, in their order.
CREATE TABLE messaging_turns (
  subject text COLLATE "C" NOT NULL,
  -- When it may be taken. An instance that takes it puts this off, and another takes it if the first has died.
  due_at timestamptz NOT NULL DEFAULT now(),
  attempts integer NOT NULL DEFAULT 0,
  since timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT messaging_turns_pkey PRIMARY KEY (subject)
);
CREATE INDEX messaging_turns_due_at ON messaging_turns (due_at);

-- Tokens that the version before has ended, and whose provider it would tell itself.
CREATE FUNCTION messaging_expiries_tell() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM tell('tokens.ended', NEW.user_id);
  RETURN NULL;
END $$;
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
    CREATE TRIGGER messaging_expiries_tell AFTER INSERT OR UPDATE OF ended_at ON messaging_expiries
      FOR EACH ROW EXECUTE FUNCTION messaging_expiries_tell();
    -- Begins here, and not with the first instance of the new version.
    INSERT INTO event_readers SELECT 'messaging', sync_horizon(), 0, '' WHERE EXISTS (SELECT FROM messaging_tokens);
    PERFORM tell('tokens.ended', user_id) FROM messaging_expiries;
  END IF;
END $$;

CREATE TABLE webhooks (
  id text COLLATE "C" NOT NULL,
  url text NOT NULL,
  -- Kinds of the events that it is told. Empty: all.
  kinds text[] NOT NULL,
  secret text NOT NULL,
  -- The one before, which also signs for a while.
  old_secret text,
  old_secret_until timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- The last event that it was told, or that was not for it.
  version bigint NOT NULL,
  number integer NOT NULL,
  subject text COLLATE "C" NOT NULL,
  -- As in messaging_turns.
  due_at timestamptz NOT NULL DEFAULT now(),
  -- Counts how often it was taken: an instance with an older number has lost it.
  turn bigint NOT NULL DEFAULT 0,
  attempts integer NOT NULL DEFAULT 0,
  failing_since timestamptz,
  last_failure text NOT NULL DEFAULT '',
  paused_at timestamptz,
  CONSTRAINT webhooks_pkey PRIMARY KEY (id)
);
