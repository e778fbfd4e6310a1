DROP TABLE number_claims;
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_trigger WHERE tgrelid = 'phones'::regclass AND tgname = 'phones_tell') THEN
    CREATE OR REPLACE TRIGGER phones_tell AFTER INSERT OR UPDATE ON phones FOR EACH ROW EXECUTE FUNCTION phones_tell();
  END IF;
END $$;
ALTER TABLE phones DROP COLUMN awake_at, DROP COLUMN is_test, DROP COLUMN language;
-- Otherwise the version before would take a token again that has begun a session.
DELETE FROM verification_tokens WHERE used_at IS NOT NULL;
ALTER TABLE verification_tokens
  DROP COLUMN is_test, DROP COLUMN language, DROP COLUMN sid, DROP COLUMN asker_hmac, DROP COLUMN used_at;
ALTER TABLE verification_codes
  DROP COLUMN is_test, DROP COLUMN language, DROP COLUMN receipt, DROP COLUMN reference, DROP COLUMN way, DROP COLUMN country;
ALTER TABLE users DROP CONSTRAINT users_id_no_path_codes;
