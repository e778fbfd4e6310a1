-- A session is good for the credentials that it began with, so that a new password ends all sessions by the change of one row.
-- Those that there are begin to be checked: until an upgrade is complete, a login on an older instance has to be repeated.
UPDATE session
   SET sess = (sess::jsonb || jsonb_build_object('credentialsVersion', users.credentials_version))::json
  FROM users
 WHERE users.id = sess ->> 'userId';

-- A new password also ends all verification tokens of its phone.
CREATE INDEX verification_tokens_phone ON verification_tokens (phone);
