-- Whether find shows the user also to those who are no friends.
ALTER TABLE users
  ADD COLUMN is_findable boolean NOT NULL DEFAULT true,
  ADD CONSTRAINT users_id_no_path_account CHECK (lower(id) NOT IN (
    'close_account', 'change_phone', 'export', 'set_findable', 'batch', 'remove_portrait'));

-- Nothing of a closed account begins, whoever writes it: such a row is left out. FOR SHARE waits for a close that is under
-- way. One that comes later waits for the transaction that has asked here, and then ends what it has written. A rename, too,
-- either waits and sees the new row in its fan-out, or is seen by whoever is sent that row.
CREATE FUNCTION is_any_closed(VARIADIC ids text[]) RETURNS boolean LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
BEGIN
  -- Two statements: one would lock none but closed accounts.
  PERFORM FROM users WHERE id = ANY (ids) ORDER BY id FOR SHARE;
  RETURN EXISTS (SELECT FROM users WHERE id = ANY (ids) AND closed_at IS NOT NULL);
END $$;

CREATE FUNCTION blacklist_of_open() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  RETURN CASE WHEN is_any_closed(NEW.user_id) THEN NULL ELSE NEW END;
END $$;
CREATE TRIGGER blacklist_of_open BEFORE INSERT ON blacklist FOR EACH ROW
  WHEN (NEW.status) EXECUTE FUNCTION blacklist_of_open();
CREATE TRIGGER blacklist_of_open_again BEFORE UPDATE ON blacklist FOR EACH ROW
  WHEN (NEW.status AND NOT OLD.status) EXECUTE FUNCTION blacklist_of_open();

CREATE FUNCTION friendships_of_open() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  RETURN CASE WHEN is_any_closed(NEW.user_id, NEW.friend_id) THEN NULL ELSE NEW END;
END $$;
CREATE TRIGGER friendships_of_open BEFORE INSERT ON friendships FOR EACH ROW
  WHEN (NEW.status <> 30) EXECUTE FUNCTION friendships_of_open();
CREATE TRIGGER friendships_of_open_again BEFORE UPDATE ON friendships FOR EACH ROW
  WHEN (NEW.status <> 30 AND OLD.status = 30) EXECUTE FUNCTION friendships_of_open();

CREATE FUNCTION group_members_of_open() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  RETURN CASE WHEN is_any_closed(NEW.member_id) THEN NULL ELSE NEW END;
END $$;
CREATE TRIGGER group_members_of_open BEFORE INSERT ON group_members FOR EACH ROW
  WHEN (NOT NEW.is_deleted) EXECUTE FUNCTION group_members_of_open();
CREATE TRIGGER group_members_of_open_again BEFORE UPDATE ON group_members FOR EACH ROW
  WHEN (NOT NEW.is_deleted AND OLD.is_deleted) EXECUTE FUNCTION group_members_of_open();
