ALTER TABLE verification_codes DROP COLUMN asker_hmac, DROP COLUMN others_attempts;
