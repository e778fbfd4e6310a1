DROP INDEX group_members_ended;
