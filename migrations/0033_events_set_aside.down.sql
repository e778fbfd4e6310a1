ALTER TABLE webhooks DROP COLUMN set_aside;
