DROP INDEX verification_tokens_phone;

UPDATE session SET sess = (sess::jsonb - 'credentialsVersion')::json WHERE sess ->> 'credentialsVersion' IS NOT NULL;
