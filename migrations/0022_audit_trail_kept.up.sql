-- The least number of days that events are kept, whatever the service's role asks for. Only the owner changes it.
CREATE TABLE security_events_kept (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  days integer NOT NULL DEFAULT 30 CHECK (days >= 1)
);
INSERT INTO security_events_kept DEFAULT VALUES;

CREATE OR REPLACE FUNCTION security_events_sweep(days integer) RETURNS integer LANGUAGE plpgsql STRICT SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
DECLARE
  before timestamptz := now() - make_interval(days => greatest(days, (SELECT kept.days FROM security_events_kept kept)));
  removed integer;
BEGIN
  DELETE FROM security_events
   WHERE ctid = ANY (ARRAY(SELECT ctid FROM security_events WHERE at < before LIMIT 5000)) AND at < before;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END $$;

-- An event of the service's role is of now: no row can be dated back to be swept, or forward to outlive the sweep. The owner
-- may put in events of another time.
CREATE FUNCTION security_events_at_now() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT pg_has_role((SELECT relowner FROM pg_catalog.pg_class WHERE oid = TG_RELID), 'USAGE') THEN
    NEW.at := now();
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER security_events_at_now BEFORE INSERT ON security_events
  FOR EACH ROW EXECUTE FUNCTION security_events_at_now();
