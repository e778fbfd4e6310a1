-- Codes by several ways, in the language of the phone. Test numbers. Sessions by a code. Numbers that change hands.

ALTER TABLE users ADD CONSTRAINT users_id_no_path_codes CHECK (lower(id) NOT IN (
  'login_by_token', 'register_by_token', 'set_password', 'start_over', 'keep_number', 'number_claim'));

ALTER TABLE verification_codes
  -- The country of the phone, and the sender and channel that took the message. Empty in rows of the version before.
  ADD COLUMN country text NOT NULL DEFAULT '',
  ADD COLUMN way text NOT NULL DEFAULT '',
  -- The provider's name for the message, by which it is asked for codes of its own, and tells what became of it.
  ADD COLUMN reference text NOT NULL DEFAULT '',
  -- Empty until the provider has told.
  ADD COLUMN receipt text NOT NULL DEFAULT '',
  -- Tag of the language that the client asked for, if there are words in it.
  ADD COLUMN language text NOT NULL DEFAULT '',
  -- It was not sent: the code of a test number.
  ADD COLUMN is_test boolean NOT NULL DEFAULT false;
CREATE INDEX verification_codes_reference ON verification_codes (reference) WHERE reference <> '';

-- A token that has begun a session is kept for a minute, for a client that lost the answer. The version before takes it
-- for expired.
ALTER TABLE verification_tokens
  ADD COLUMN used_at timestamptz,
  ADD COLUMN asker_hmac bytea,
  ADD COLUMN sid text,
  -- Those of its code.
  ADD COLUMN language text NOT NULL DEFAULT '',
  ADD COLUMN is_test boolean NOT NULL DEFAULT false;

ALTER TABLE phones
  -- Of messages to the phone. Empty: the default.
  ADD COLUMN language text NOT NULL DEFAULT '',
  -- Proved only by codes that were not sent.
  ADD COLUMN is_test boolean NOT NULL DEFAULT false,
  -- When a session of the account was last begun or renewed, to a day. Older phones count from now.
  ADD COLUMN awake_at timestamptz NOT NULL DEFAULT now();

-- Other services are not told of these columns. A Citus of the version before has no such trigger yet.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'phones'::regclass AND tgname = 'phones_tell') THEN
    CREATE OR REPLACE TRIGGER phones_tell AFTER INSERT OR UPDATE OF phone, region, user_id ON phones
      FOR EACH ROW EXECUTE FUNCTION phones_tell();
  END IF;
END $$;

-- Phones that were proved by others than their accounts, which are awake: these have until due_at to answer.
CREATE TABLE number_claims (
  phone text COLLATE "C" NOT NULL,
  user_id text COLLATE "C" NOT NULL,
  -- Of the account: the claim is void once it has another password or phone.
  credentials_version integer NOT NULL,
  claimed_at timestamptz NOT NULL DEFAULT now(),
  due_at timestamptz NOT NULL,
  CONSTRAINT number_claims_pkey PRIMARY KEY (phone)
);
CREATE INDEX number_claims_user_id ON number_claims (user_id);
