-- A group may be dismissed after its last membership has ended. Nothing is left to end then, and group_dismissals_tell,
-- which tells of all other dismissals, sees no row.
CREATE OR REPLACE FUNCTION groups_dismiss() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM FROM group_sizes WHERE group_id = NEW.id FOR NO KEY UPDATE;
  INSERT INTO group_dismissals (group_id) SELECT group_id FROM group_sizes WHERE group_id = NEW.id AND members > 0;
  IF NOT FOUND THEN
    PERFORM tell('group.dismissed', NEW.id);
  END IF;
  RETURN NULL;
END $$;
