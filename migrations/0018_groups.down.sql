CREATE OR REPLACE FUNCTION groups_stamp() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' OR (NEW.name, NEW.portrait_uri) IS DISTINCT FROM (OLD.name, OLD.portrait_uri) THEN
    NEW.version := sync_next_version();
  ELSE
    NEW.version := OLD.version;
  END IF;
  RETURN NEW;
END $$;

DROP TRIGGER groups_stay_dismissed ON groups;
DROP TRIGGER groups_dismiss ON groups;
DROP TRIGGER groups_pass_on ON groups;
DROP TRIGGER group_members_pass_on ON group_members;

ALTER FUNCTION is_any_closed RESET plan_cache_mode;

-- Without dismissed_at the rows alone say who is a member.
UPDATE group_members SET is_deleted = true
 WHERE NOT is_deleted AND group_id IN (SELECT group_id FROM group_dismissals);

DROP TRIGGER groups_change_creator ON groups;
DROP TRIGGER group_members_take_place ON group_members;
DROP TRIGGER group_members_take_place_new ON group_members;
CREATE OR REPLACE FUNCTION group_members_bury() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE group_members SET is_deleted = true
    WHERE group_id = OLD.group_id AND member_id = OLD.member_id AND NOT is_deleted;
  RETURN NULL;
END $$;
DROP TRIGGER group_members_count_buried ON group_members;
DROP TRIGGER group_members_count ON group_members;
DROP TRIGGER group_members_count_new ON group_members;
DROP TRIGGER groups_make_size ON groups;
DROP FUNCTION groups_dismiss;
DROP FUNCTION groups_pass_on;
DROP FUNCTION group_members_pass_on;
DROP FUNCTION group_pass_on;
DROP FUNCTION groups_change_creator;
DROP FUNCTION group_members_take_place;
DROP FUNCTION group_members_count_buried;
DROP FUNCTION group_members_count;
DROP FUNCTION groups_make_size;
DROP TABLE group_dismissals;
DROP TABLE group_members_buried;
DROP TABLE group_sizes;
ALTER TABLE group_members DROP COLUMN ending, DROP COLUMN joined_at;
DROP INDEX groups_creator_id;
ALTER TABLE groups DROP CONSTRAINT groups_id_no_path, DROP COLUMN dismissed_at, DROP COLUMN bulletin;
