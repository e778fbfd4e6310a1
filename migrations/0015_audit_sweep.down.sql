DROP FUNCTION security_events_sweep;
