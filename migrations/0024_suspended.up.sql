-- While it is set, the account has no sessions and no logins. It ends nothing else, and moves no version: friends and
-- groups see no difference.
ALTER TABLE users ADD COLUMN suspended_at timestamptz;
