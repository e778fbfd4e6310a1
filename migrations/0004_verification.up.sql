-- One row a code sent; of a phone's codes only the newest counts.
CREATE TABLE verification_codes (
  id bigint GENERATED ALWAYS AS IDENTITY,
  phone text COLLATE "C" NOT NULL,
  code_hmac bytea NOT NULL,
  attempts smallint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  verified_at timestamptz,
  CONSTRAINT verification_codes_pkey PRIMARY KEY (id)
);
CREATE INDEX verification_codes_phone ON verification_codes (phone, id DESC);
CREATE INDEX verification_codes_created_at ON verification_codes (created_at);

-- Kept hashed; the row is removed by whoever uses the token.
CREATE TABLE verification_tokens (
  token_hash bytea NOT NULL,
  phone text COLLATE "C" NOT NULL,
  region text NOT NULL,
  expires_at timestamptz NOT NULL,
  CONSTRAINT verification_tokens_pkey PRIMARY KEY (token_hash)
);
CREATE INDEX verification_tokens_expires_at ON verification_tokens (expires_at);

CREATE TABLE captchas (
  id text COLLATE "C" NOT NULL,
  answer text NOT NULL,
  svg text NOT NULL,
  png bytea NOT NULL,
  expires_at timestamptz NOT NULL,
  CONSTRAINT captchas_pkey PRIMARY KEY (id)
);
CREATE INDEX captchas_expires_at ON captchas (expires_at);

-- One row a limit and subject ("login_failures_phone_day:+4479…"), for a window that begins with its first use.
CREATE TABLE rate_limits (
  key text COLLATE "C" NOT NULL,
  used integer NOT NULL,
  amount integer NOT NULL,
  resets_at timestamptz NOT NULL,
  CONSTRAINT rate_limits_pkey PRIMARY KEY (key)
);
CREATE INDEX rate_limits_resets_at ON rate_limits (resets_at);
