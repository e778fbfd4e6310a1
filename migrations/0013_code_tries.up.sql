-- Of a code's tries, those of the address that asked for it (attempts) are apart from those of all others. The address is
-- kept as an HMAC. A code that an older instance sent has none: its tries are all counted together, as they were before.
ALTER TABLE verification_codes
  ADD COLUMN asker_hmac bytea,
  ADD COLUMN others_attempts smallint NOT NULL DEFAULT 0;
