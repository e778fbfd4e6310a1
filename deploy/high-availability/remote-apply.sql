-- What the service has answered can be read at the synchronous standby too.
ALTER ROLE accounts_service SET synchronous_commit = remote_apply;
