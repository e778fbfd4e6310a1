-- Accounts and what they are related by. Other services write friendships, groups and group_members in plain SQL, so the
-- names here are a contract; docs/data.md explains it.

-- Text ids compare by bytes: the order is the same on every platform, and indexes survive a change of the C library.
CREATE TABLE users (
  id text COLLATE "C" NOT NULL,
  nickname text NOT NULL DEFAULT '',
  portrait_uri text NOT NULL DEFAULT '',
  password_hash text NOT NULL DEFAULT '',
  -- Counts password changes; a session belongs to the count it was made under.
  credentials_version integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT now(),
  closed_at timestamptz,
  version bigint NOT NULL,
  CONSTRAINT users_pkey PRIMARY KEY (id),
  CONSTRAINT users_id_form CHECK (id ~ '^[A-Za-z0-9_-]{1,64}$'),
  -- POST /user/:id shares its place with the fixed paths, whatever their case.
  CONSTRAINT users_id_no_path CHECK (lower(id) NOT IN (
    'send_code', 'verify_code', 'check_phone_available', 'register', 'login', 'logout', 'reset_password',
    'change_password', 'set_nickname', 'set_portrait_uri', 'blacklist', 'add_to_blacklist', 'remove_from_blacklist',
    'get_token', 'get_image_token', 'get_sms_img_code', 'groups', 'sync', 'find', 'sessions', 'end_session')),
  CONSTRAINT users_nickname_bytes CHECK (closed_at IS NOT NULL OR octet_length(nickname) BETWEEN 1 AND 32),
  CONSTRAINT users_portrait_uri_bytes CHECK (octet_length(portrait_uri) <= 1024)
);

-- Its own table, the arbiter of "one account a phone".
CREATE TABLE phones (
  phone text COLLATE "C" NOT NULL,
  region text NOT NULL DEFAULT '',
  user_id text COLLATE "C" NOT NULL,
  CONSTRAINT phones_pkey PRIMARY KEY (phone),
  CONSTRAINT phones_e164 CHECK (phone ~ '^\+[1-9][0-9]{3,16}$')
);
CREATE INDEX phones_user_id ON phones (user_id);

CREATE TABLE blacklist (
  user_id text COLLATE "C" NOT NULL,
  friend_id text COLLATE "C" NOT NULL,
  status boolean NOT NULL DEFAULT true,
  updated_at timestamptz NOT NULL DEFAULT now(),
  version bigint NOT NULL,
  CONSTRAINT blacklist_pkey PRIMARY KEY (user_id, friend_id),
  CONSTRAINT blacklist_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id),
  CONSTRAINT blacklist_not_oneself CHECK (user_id <> friend_id)
);
CREATE INDEX blacklist_user_id_version ON blacklist (user_id, version);

CREATE TABLE friendships (
  user_id text COLLATE "C" NOT NULL,
  friend_id text COLLATE "C" NOT NULL,
  display_name text NOT NULL DEFAULT '',
  status smallint NOT NULL,
  updated_at timestamptz NOT NULL DEFAULT now(),
  version bigint NOT NULL,
  CONSTRAINT friendships_pkey PRIMARY KEY (user_id, friend_id),
  CONSTRAINT friendships_user_id_fkey FOREIGN KEY (user_id) REFERENCES users (id),
  CONSTRAINT friendships_not_oneself CHECK (user_id <> friend_id),
  -- 10 requested by me, 11 requested of me, 20 friends, 21 ignored, 30 deleted
  CONSTRAINT friendships_status CHECK (status IN (10, 11, 20, 21, 30))
);
CREATE INDEX friendships_user_id_version ON friendships (user_id, version);

CREATE TABLE groups (
  id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  portrait_uri text NOT NULL DEFAULT '',
  creator_id text COLLATE "C" NOT NULL,
  version bigint NOT NULL,
  CONSTRAINT groups_pkey PRIMARY KEY (id),
  CONSTRAINT groups_id_form CHECK (id ~ '^[A-Za-z0-9_-]{1,64}$')
);

CREATE TABLE group_members (
  group_id text COLLATE "C" NOT NULL,
  member_id text COLLATE "C" NOT NULL,
  display_name text NOT NULL DEFAULT '',
  -- 0 creator, 1 member, 2 manager
  role smallint NOT NULL DEFAULT 1,
  is_deleted boolean NOT NULL DEFAULT false,
  updated_at timestamptz NOT NULL DEFAULT now(),
  version bigint NOT NULL,
  -- The version at which the present membership began: a client that is older than it holds none of the group's members.
  joined_version bigint NOT NULL,
  CONSTRAINT group_members_pkey PRIMARY KEY (group_id, member_id),
  CONSTRAINT group_members_group_id_fkey FOREIGN KEY (group_id) REFERENCES groups (id),
  CONSTRAINT group_members_role CHECK (role IN (0, 1, 2))
);
CREATE INDEX group_members_member_id ON group_members (member_id);
CREATE INDEX group_members_group_id_version ON group_members (group_id, version);
