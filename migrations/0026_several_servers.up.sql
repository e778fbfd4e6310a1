-- For users and groups on several servers (docs/distributed.md), where these functions do something. On one server little is
-- left to do, so that every writer may call them on both.

-- Tells friends and members of the same groups of a new nickname or portrait. Triggers do it here.
CREATE FUNCTION user_renamed(renamed text) RETURNS void LANGUAGE sql AS '';

-- Keeps the rows of a user or group on their server until the end of the transaction.
CREATE FUNCTION hold_in_place(key text) RETURNS void LANGUAGE sql AS '';

-- Notes that a user is about to be a member of a group.
CREATE FUNCTION user_joins(member text, joined text) RETURNS void LANGUAGE sql AS '';

-- The groups that a user is or was a member of.
CREATE FUNCTION groups_of(member text) RETURNS SETOF text LANGUAGE sql STABLE AS $$
  SELECT group_id FROM group_members WHERE member_id = member
$$;
