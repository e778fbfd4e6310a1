-- Events of a row are in the order of its changes. The id of a transaction alone does not tell that order: it is drawn when
-- the transaction begins to write, and later ones may have changed the row before this one does.

-- Numbers events in the order in which they are told. It begins above the numbers of the version before, which counted the
-- events of a transaction. An event's id has room for nine digits.
CREATE SEQUENCE events_number AS integer MINVALUE 1000001 MAXVALUE 999999999 CYCLE
  OWNED BY events.number;

-- On several servers the function is another one, which stays until that is replaced (migrations/distributed).
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
    RETURN;
  END IF;
  EXECUTE $replace$
    CREATE OR REPLACE FUNCTION tell(kind text, subject text, other text DEFAULT '', what text DEFAULT '') RETURNS void
      LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = public, pg_temp AS $tell$
    DECLARE
      own bigint := pg_current_xact_id()::text::bigint;
      -- The newest transaction that has ended. A volatile function takes a snapshot of its own: that of the statement may be
      -- from before it waited for the row. Whoever changed the row before has ended, since this transaction has its lock.
      ended bigint := pg_snapshot_xmax(pg_current_snapshot())::text::bigint - 1;
    BEGIN
      -- Never below the transaction itself, so that whatever is at or below sync_horizon() stays complete.
      INSERT INTO events (version, number, subject, kind, other, what)
      VALUES (sync_next_version() + greatest(ended - own, 0), nextval('events_number'), subject, kind, other, what);
    END $tell$
  $replace$;
END $$;
