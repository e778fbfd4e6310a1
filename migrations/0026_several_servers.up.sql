-- For users and groups on several servers (docs/distributed.md), where both functions do something. On one server nothing is
-- left to do, so that whoever writes may call them on both.

-- Tells friends and members of the same groups of a new nickname or portrait. Triggers do it here.
CREATE FUNCTION user_renamed(renamed text) RETURNS void LANGUAGE sql AS '';

-- Keeps the rows of a user or group on their server until the end of the transaction.
CREATE FUNCTION hold_in_place(key text) RETURNS void LANGUAGE sql AS '';
