DROP FUNCTION rate_limits_without, rate_limits_live, rate_limits_now;
ALTER TABLE rate_limits DROP COLUMN held;
