-- Whether find shows the user also to those who are no friends.
ALTER TABLE users
  ADD COLUMN is_findable boolean NOT NULL DEFAULT true,
  ADD CONSTRAINT users_id_no_path_account CHECK (lower(id) NOT IN (
    'close_account', 'change_phone', 'export', 'set_findable', 'batch', 'remove_portrait'));
