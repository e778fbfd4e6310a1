-- What a messaging provider was last told of a user, and the token it gave for it.
CREATE TABLE messaging_tokens (
  user_id text COLLATE "C" NOT NULL,
  -- The credentials that the token was issued under: it is worth nothing under others.
  app text NOT NULL,
  token text NOT NULL,
  nickname text NOT NULL,
  portrait_uri text NOT NULL,
  CONSTRAINT messaging_tokens_pkey PRIMARY KEY (user_id, app),
  CONSTRAINT messaging_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id)
);
