-- The images that this service keeps itself (STORAGE_PROVIDER=local): so that an account's are limited, and those that
-- nobody shows are removed.
CREATE TABLE images (
  user_id text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  -- As stored.
  bytes bigint NOT NULL,
  -- Of the file as it was sent, so that sending it again is no other image. Empty where it is not known.
  hash text NOT NULL DEFAULT '',
  -- Since this is true, the image is removed as soon as another portrait replaces it.
  was_portrait boolean NOT NULL DEFAULT false,
  -- When the service looks next whether it is shown anywhere.
  due_at timestamptz NOT NULL DEFAULT now() + interval '1 day',
  CONSTRAINT images_pkey PRIMARY KEY (user_id, name)
);
CREATE INDEX images_due_at ON images (due_at);
