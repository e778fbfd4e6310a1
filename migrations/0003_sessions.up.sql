-- The table of connect-pg-simple, with its names.
CREATE TABLE session (
  sid text COLLATE "C" NOT NULL,
  sess json NOT NULL,
  expire timestamp(6) with time zone NOT NULL,
  CONSTRAINT session_pkey PRIMARY KEY (sid)
);
CREATE INDEX session_expire ON session (expire);
-- Ends all sessions of a user in one statement.
CREATE INDEX session_user_id ON session ((sess ->> 'userId'));
