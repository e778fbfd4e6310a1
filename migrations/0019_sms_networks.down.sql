ALTER TABLE verification_codes DROP COLUMN network, DROP COLUMN is_counted;
DROP TABLE sms_networks;
