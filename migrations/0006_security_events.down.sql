ALTER TABLE rate_limits DROP COLUMN noted;
DROP TABLE security_events;
DROP FUNCTION security_events_append_only;
