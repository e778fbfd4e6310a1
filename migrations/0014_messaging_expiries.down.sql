DROP TABLE messaging_expiries;
ALTER TABLE users DROP COLUMN messaging_round;
