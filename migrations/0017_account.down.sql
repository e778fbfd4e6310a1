ALTER TABLE users DROP CONSTRAINT users_id_no_path_account, DROP COLUMN is_findable;
