-- Groups count against the user who made them, group and friend texts are counted in characters, a new bulletin is a change
-- of the group, and requests can end without an answer.

-- Runs the triggers that an earlier migration of this transaction has deferred: none may be pending at an ALTER TABLE.
SET CONSTRAINTS ALL IMMEDIATE;

ALTER TABLE users ADD CONSTRAINT users_id_no_path_withdraw CHECK (lower(id) <> 'withdraw');

ALTER TABLE groups
  -- The user against whose number of groups this one counts, whoever has it now. The stamp fills it in for other writers.
  ADD COLUMN made_by text COLLATE "C",
  -- Empty where there was never a bulletin, or none since this was kept.
  ADD COLUMN bulletin_updated_at timestamptz,
  DROP CONSTRAINT groups_bulletin_bytes,
  -- Not validated, here and below: each row was held to the same number of bytes.
  ADD CONSTRAINT groups_bulletin_characters CHECK (char_length(bulletin) <= 1024) NOT VALID;

-- The present creator is the best guess for a group from before.
UPDATE groups SET made_by = creator_id;
ALTER TABLE groups ALTER COLUMN made_by SET NOT NULL;
CREATE INDEX groups_made_by ON groups (made_by) WHERE dismissed_at IS NULL;

CREATE OR REPLACE FUNCTION groups_stamp() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    NEW.made_by := coalesce(NEW.made_by, NEW.creator_id);
    NEW.bulletin_updated_at := CASE WHEN NEW.bulletin <> '' THEN now() END;
    NEW.version := sync_next_version();
    RETURN NEW;
  END IF;
  IF NEW.bulletin <> OLD.bulletin THEN
    NEW.bulletin_updated_at := now();
  END IF;
  IF (NEW.name, NEW.portrait_uri, NEW.dismissed_at, NEW.bulletin)
    IS DISTINCT FROM (OLD.name, OLD.portrait_uri, OLD.dismissed_at, OLD.bulletin) THEN
    NEW.version := sync_next_version();
  ELSE
    NEW.version := OLD.version;
  END IF;
  RETURN NEW;
END $$;

-- A user who has quit and is kicked then is 'barred': not by joining, because of the kick, and not by being added, because
-- nobody is pulled back into what they left.
ALTER TABLE group_members
  DROP CONSTRAINT group_members_ending,
  ADD CONSTRAINT group_members_ending CHECK (ending IN ('', 'kicked', 'dismissed', 'barred')) NOT VALID;

-- Memberships of a user, for the limit of them.
CREATE INDEX group_members_living ON group_members (member_id) WHERE NOT is_deleted;

-- Counts the living memberships of a user, up to `most`. Volatile, so that a statement which has waited for the user's row
-- counts what was written during that wait, too.
CREATE FUNCTION memberships_of(member text, most integer) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (SELECT count(*) FROM (SELECT FROM group_members WHERE member_id = member AND NOT is_deleted LIMIT most) counted);
END $$;

ALTER TABLE friendships
  DROP CONSTRAINT friendships_message_bytes,
  ADD CONSTRAINT friendships_message_characters CHECK (char_length(message) <= 64) NOT VALID;

-- For those that nobody has answered in time.
CREATE INDEX friendships_asked_at ON friendships ((coalesce(requested_at, updated_at))) WHERE status IN (10, 11);

-- The side that was asked has answered a request that it deletes, as of the time of the request. The other side has not:
-- so an ended side whose request is newer than its answer is that of a user who has asked in vain.
CREATE OR REPLACE FUNCTION friendships_request() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' OR NEW.status <> OLD.status THEN
    IF NEW.status IN (10, 11) THEN
      NEW.requested_at := now();
    ELSIF NEW.status IN (20, 21) THEN
      -- A transaction that waited for the request may have begun before it.
      NEW.answered_at := greatest(now(), NEW.requested_at);
    ELSIF TG_OP = 'UPDATE' AND OLD.status = 11 THEN
      NEW.answered_at := coalesce(NEW.requested_at, NEW.updated_at);
    END IF;
  END IF;
  IF NEW.status <> 11 THEN
    NEW.message := '';
  END IF;
  RETURN NEW;
END $$;
