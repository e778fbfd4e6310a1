-- Groups, which the operations under /group make and change. Other services go on writing groups and group_members: what
-- must hold of a group holds for them too.

LOCK TABLE groups, group_members IN SHARE ROW EXCLUSIVE MODE;

ALTER TABLE groups
  ADD COLUMN bulletin text NOT NULL DEFAULT '',
  -- From then on it has no members, whatever their rows say: these are ended one after the other.
  ADD COLUMN dismissed_at timestamptz,
  ADD CONSTRAINT groups_bulletin_bytes CHECK (octet_length(bulletin) <= 1024),
  -- POST /group/:id shares its place with the fixed paths, whatever their case.
  ADD CONSTRAINT groups_id_no_path CHECK (lower(id) NOT IN (
    'create', 'add', 'join', 'quit', 'kick', 'dismiss', 'transfer', 'set_manager', 'remove_manager', 'rename',
    'set_portrait_uri', 'set_bulletin', 'set_display_name'));
CREATE INDEX groups_creator_id ON groups (creator_id) WHERE dismissed_at IS NULL;

ALTER TABLE group_members
  -- When the present membership began. Empty in rows from before: there updated_at has to do.
  ADD COLUMN joined_at timestamptz,
  -- How it ended: by leaving (empty), 'kicked', or with the group.
  ADD COLUMN ending text NOT NULL DEFAULT '',
  ADD CONSTRAINT group_members_ending CHECK (ending IN ('', 'kicked', 'dismissed'));

-- How many memberships of a group hold. Whoever begins or ends one, or changes who the creator is, locks this row first:
-- so the number is right at each moment, and what is decided by it holds. Apart from groups, whose rows are wide.
CREATE TABLE group_sizes (
  group_id text COLLATE "C" NOT NULL,
  members integer NOT NULL,
  CONSTRAINT group_sizes_pkey PRIMARY KEY (group_id),
  CONSTRAINT group_sizes_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups (id)
) WITH (fillfactor = 50);
INSERT INTO group_sizes (group_id, members)
  SELECT id, count(member_id) FROM groups LEFT JOIN group_members ON group_id = id AND NOT is_deleted GROUP BY id;

-- Dismissed groups with memberships that are still to be ended.
CREATE TABLE group_dismissals (
  group_id text COLLATE "C" NOT NULL,
  CONSTRAINT group_dismissals_pkey PRIMARY KEY (group_id),
  CONSTRAINT group_dismissals_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups (id)
);

CREATE FUNCTION groups_make_size() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO group_sizes (group_id, members) VALUES (NEW.id, 0);
  RETURN NULL;
END $$;
CREATE TRIGGER groups_make_size AFTER INSERT ON groups FOR EACH ROW EXECUTE FUNCTION groups_make_size();

-- Once for each statement: a row that is written again and again in one transaction becomes slow.
CREATE FUNCTION group_members_count() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF current_setting('group_sizes.later', true) = 'on' THEN
    RETURN NULL;
  ELSIF TG_OP = 'INSERT' THEN
    UPDATE group_sizes size SET members = size.members + change.members
      FROM (SELECT group_id, count(*) AS members FROM written WHERE NOT is_deleted GROUP BY group_id) change
     WHERE size.group_id = change.group_id;
  ELSE
    UPDATE group_sizes size SET members = size.members + change.members
      FROM (SELECT group_id, sum(one) AS members
              FROM (SELECT group_id, 1 AS one FROM written WHERE NOT is_deleted
                    UNION ALL SELECT group_id, -1 FROM before WHERE NOT is_deleted) AS ones
             GROUP BY group_id HAVING sum(one) <> 0) change
     WHERE size.group_id = change.group_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER group_members_count_new AFTER INSERT ON group_members
  REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION group_members_count();
CREATE TRIGGER group_members_count AFTER UPDATE ON group_members
  REFERENCING OLD TABLE AS before NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION group_members_count();

-- A DELETE buries one row after the other, each by a statement: these are counted together at the end. No row of this table
-- is ever committed.
CREATE UNLOGGED TABLE group_members_buried (group_id text COLLATE "C" NOT NULL);
CREATE OR REPLACE FUNCTION group_members_bury() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM set_config('group_sizes.later', 'on', true);
  UPDATE group_members SET is_deleted = true
    WHERE group_id = OLD.group_id AND member_id = OLD.member_id AND NOT is_deleted;
  IF FOUND THEN
    INSERT INTO group_members_buried (group_id) VALUES (OLD.group_id);
  END IF;
  PERFORM set_config('group_sizes.later', '', true);
  RETURN NULL;
END $$;
CREATE FUNCTION group_members_count_buried() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
BEGIN
  WITH buried AS (DELETE FROM group_members_buried RETURNING group_id)
  UPDATE group_sizes size SET members = size.members - ended.members
    FROM (SELECT group_id, count(*) AS members FROM buried GROUP BY group_id) ended
   WHERE size.group_id = ended.group_id;
  RETURN NULL;
END $$;
CREATE TRIGGER group_members_count_buried AFTER DELETE ON group_members
  FOR EACH STATEMENT EXECUTE FUNCTION group_members_count_buried();

-- Who the creator is, groups says: role 0 follows it, whatever is written there. A dismissed group gets no member: such a
-- row is left out. After group_members_stamp, by its name, so that the user is locked before the group.
CREATE FUNCTION group_members_take_place() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
  SET search_path = public, pg_temp AS $$
DECLARE
  creator text;
  dismissed boolean;
BEGIN
  PERFORM FROM group_sizes WHERE group_id = NEW.group_id FOR NO KEY UPDATE;
  SELECT creator_id, dismissed_at IS NOT NULL INTO creator, dismissed FROM groups WHERE id = NEW.group_id;
  IF NEW.is_deleted THEN
    IF dismissed THEN
      NEW.ending := 'dismissed';
    END IF;
    RETURN NEW;
  END IF;
  IF TG_OP = 'INSERT' OR OLD.is_deleted THEN
    IF dismissed THEN
      RETURN NULL;
    END IF;
    NEW.joined_at := now();
    NEW.ending := '';
  END IF;
  IF NEW.member_id = creator THEN
    NEW.role := 0;
  ELSIF NEW.role = 0 THEN
    NEW.role := 1;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER group_members_take_place_new BEFORE INSERT ON group_members FOR EACH ROW
  WHEN (NOT NEW.is_deleted) EXECUTE FUNCTION group_members_take_place();
CREATE TRIGGER group_members_take_place BEFORE UPDATE ON group_members FOR EACH ROW
  WHEN ((NEW.role, NEW.is_deleted) IS DISTINCT FROM (OLD.role, OLD.is_deleted))
  EXECUTE FUNCTION group_members_take_place();

CREATE FUNCTION groups_change_creator() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM FROM group_sizes WHERE group_id = NEW.id FOR NO KEY UPDATE;
  UPDATE group_members SET role = 1 WHERE group_id = NEW.id AND member_id = OLD.creator_id AND role = 0 AND NOT is_deleted;
  UPDATE group_members SET role = 0 WHERE group_id = NEW.id AND member_id = NEW.creator_id AND role <> 0 AND NOT is_deleted;
  RETURN NULL;
END $$;
CREATE TRIGGER groups_change_creator AFTER UPDATE ON groups FOR EACH ROW
  WHEN (NEW.creator_id <> OLD.creator_id) EXECUTE FUNCTION groups_change_creator();

-- The place of a creator who is no member goes to the manager, else to the member, who has been there longest. Where nobody
-- is left, it stays.
CREATE FUNCTION group_pass_on(passed text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM FROM group_sizes WHERE group_id = passed FOR NO KEY UPDATE;
  UPDATE groups SET creator_id = heir.member_id
    FROM (SELECT member_id FROM group_members WHERE group_id = passed AND NOT is_deleted
           ORDER BY role = 1, joined_version, member_id LIMIT 1) heir
   WHERE id = passed AND dismissed_at IS NULL
     AND NOT EXISTS (SELECT FROM group_members WHERE group_id = passed AND member_id = creator_id AND NOT is_deleted);
END $$;

-- At the end of the transaction, which may have given the place to somebody itself, or have ended all memberships.
CREATE FUNCTION group_members_pass_on() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM group_pass_on(NEW.group_id);
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER group_members_pass_on AFTER UPDATE ON group_members DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.role = 0 AND NOT OLD.is_deleted AND NEW.is_deleted) EXECUTE FUNCTION group_members_pass_on();
CREATE FUNCTION groups_pass_on() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM group_pass_on(NEW.id);
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER groups_pass_on AFTER UPDATE ON groups DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.creator_id <> OLD.creator_id) EXECUTE FUNCTION groups_pass_on();

CREATE FUNCTION groups_dismiss() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM FROM group_sizes WHERE group_id = NEW.id FOR NO KEY UPDATE;
  INSERT INTO group_dismissals (group_id) SELECT group_id FROM group_sizes WHERE group_id = NEW.id AND members > 0;
  RETURN NULL;
END $$;
CREATE TRIGGER groups_dismiss AFTER UPDATE ON groups FOR EACH ROW
  WHEN (OLD.dismissed_at IS NULL AND NEW.dismissed_at IS NOT NULL) EXECUTE FUNCTION groups_dismiss();
-- Clients were told that it is gone.
CREATE TRIGGER groups_stay_dismissed BEFORE UPDATE ON groups FOR EACH ROW
  WHEN (OLD.dismissed_at IS NOT NULL AND NEW.dismissed_at IS NULL) EXECUTE FUNCTION refuse_removal();

CREATE OR REPLACE FUNCTION groups_stamp() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' OR (NEW.name, NEW.portrait_uri, NEW.dismissed_at)
    IS DISTINCT FROM (OLD.name, OLD.portrait_uri, OLD.dismissed_at) THEN
    NEW.version := sync_next_version();
  ELSE
    NEW.version := OLD.version;
  END IF;
  RETURN NEW;
END $$;

-- For each member who comes in: to plan it anew for the ids in hand took four times as long as all the rest.
ALTER FUNCTION is_any_closed SET plan_cache_mode = force_generic_plan;

-- What other services have written so far.
UPDATE group_members member SET role = CASE WHEN member_id = creator_id THEN 0 ELSE 1 END
  FROM groups WHERE groups.id = member.group_id AND NOT is_deleted AND (role = 0) <> (member_id = creator_id);
SELECT group_pass_on(id) FROM groups
 WHERE NOT EXISTS (SELECT FROM group_members WHERE group_id = id AND member_id = creator_id AND NOT is_deleted)
   AND EXISTS (SELECT FROM group_members WHERE group_id = id AND NOT is_deleted);
