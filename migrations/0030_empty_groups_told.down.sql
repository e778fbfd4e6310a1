CREATE OR REPLACE FUNCTION groups_dismiss() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM FROM group_sizes WHERE group_id = NEW.id FOR NO KEY UPDATE;
  INSERT INTO group_dismissals (group_id) SELECT group_id FROM group_sizes WHERE group_id = NEW.id AND members > 0;
  RETURN NULL;
END $$;
