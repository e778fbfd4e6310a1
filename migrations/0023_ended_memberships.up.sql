-- Memberships of a user that have ended, for sync. There may be any number of them, and group_members_member_id would read
-- all of them for the few that a client lacks.
CREATE INDEX group_members_ended ON group_members (member_id, version, group_id) WHERE is_deleted;
