DROP TABLE webhooks, messaging_turns, messaging_changes, event_readers;
DROP FUNCTION messaging_expiries_tell CASCADE;
