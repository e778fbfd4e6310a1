-- The role of the service adds to the audit trail and reads it, and no more. What is old is removed by this function, with
-- the rights of its owner: nothing of the last day, and so many rows at a time that each statement is short. It returns how
-- many these were.
CREATE FUNCTION security_events_sweep(days integer) RETURNS integer LANGUAGE plpgsql STRICT SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
DECLARE
  before timestamptz := now() - make_interval(days => greatest(days, 1));
  removed integer;
BEGIN
  DELETE FROM security_events
   WHERE ctid = ANY (ARRAY(SELECT ctid FROM security_events WHERE at < before LIMIT 5000)) AND at < before;
  GET DIAGNOSTICS removed = ROW_COUNT;
  RETURN removed;
END $$;
REVOKE EXECUTE ON FUNCTION security_events_sweep FROM PUBLIC;
