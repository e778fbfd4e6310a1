-- Triggers tell of changes, and pass groups on, with the rights of the owner. Without this, everybody who may connect to
-- the database can make events, which webhooks then get with a signature.
REVOKE EXECUTE ON FUNCTION tell, group_pass_on FROM PUBLIC;

-- Right here, since an instance of the version before may run beside the migration.
DO $$
BEGIN
  IF to_regrole('accounts_service') IS NOT NULL THEN
    GRANT EXECUTE ON FUNCTION tell, group_pass_on TO accounts_service;
  END IF;
END $$;
