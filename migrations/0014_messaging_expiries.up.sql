-- Counts how often the user's messaging tokens have ended: a token is kept only under the count at which it was asked for.
ALTER TABLE users ADD COLUMN messaging_round integer NOT NULL DEFAULT 0;

-- Users whose tokens have ended, while the messaging provider has not confirmed that it knows.
CREATE TABLE messaging_expiries (
  user_id text COLLATE "C" NOT NULL,
  -- Later than all tokens that have ended, earlier than all since: at the end of the running millisecond, for providers
  -- know no finer times, and not now(), for the transaction may have waited for a token to be kept.
  ended_at timestamptz(3) NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond',
  tried_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT messaging_expiries_pkey PRIMARY KEY (user_id),
  CONSTRAINT messaging_expiries_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);
CREATE INDEX messaging_expiries_tried_at ON messaging_expiries (tried_at);
