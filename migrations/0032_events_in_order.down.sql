DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
    RETURN;
  END IF;
  EXECUTE $replace$
    CREATE OR REPLACE FUNCTION tell(kind text, subject text, other text DEFAULT '', what text DEFAULT '') RETURNS void
      LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $tell$
    DECLARE
      -- Counts the events of the transaction.
      number integer := coalesce(nullif(current_setting('events.number', true), ''), '0')::integer + 1;
    BEGIN
      PERFORM set_config('events.number', number::text, true);
      INSERT INTO events (version, number, subject, kind, other, what)
      VALUES (sync_next_version(), number, subject, kind, other, what);
    END $tell$
  $replace$;
END $$;
DROP SEQUENCE events_number;
