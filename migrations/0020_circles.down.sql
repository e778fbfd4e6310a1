CREATE OR REPLACE FUNCTION friendships_request() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' OR NEW.status <> OLD.status THEN
    IF NEW.status IN (10, 11) THEN
      NEW.requested_at := now();
    ELSIF NEW.status IN (20, 21) THEN
      NEW.answered_at := now();
    END IF;
  END IF;
  IF NEW.status <> 11 THEN
    NEW.message := '';
  END IF;
  RETURN NEW;
END $$;
DROP INDEX friendships_asked_at;
-- A character has four bytes at most.
UPDATE friendships SET message = left(message, 16) WHERE octet_length(message) > 64;
ALTER TABLE friendships
  DROP CONSTRAINT friendships_message_characters,
  ADD CONSTRAINT friendships_message_bytes CHECK (octet_length(message) <= 64);

DROP FUNCTION memberships_of;
DROP INDEX group_members_living;
UPDATE group_members SET ending = 'kicked' WHERE ending = 'barred';
ALTER TABLE group_members
  DROP CONSTRAINT group_members_ending,
  ADD CONSTRAINT group_members_ending CHECK (ending IN ('', 'kicked', 'dismissed'));

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
UPDATE groups SET bulletin = left(bulletin, 256) WHERE octet_length(bulletin) > 1024;
ALTER TABLE groups
  DROP COLUMN made_by,
  DROP COLUMN bulletin_updated_at,
  DROP CONSTRAINT groups_bulletin_characters,
  ADD CONSTRAINT groups_bulletin_bytes CHECK (octet_length(bulletin) <= 1024);

ALTER TABLE users DROP CONSTRAINT users_id_no_path_withdraw;
