-- Codes sent to a calling code in ten minutes, and how many of these were verified since: what the spend guard judges by.
CREATE TABLE sms_traffic (
  region text COLLATE "C" NOT NULL,
  slot timestamptz NOT NULL,
  sent integer NOT NULL DEFAULT 0,
  verified integer NOT NULL DEFAULT 0,
  CONSTRAINT sms_traffic_pkey PRIMARY KEY (region, slot)
);
CREATE INDEX sms_traffic_slot ON sms_traffic (slot);

CREATE FUNCTION sms_traffic_slot(at timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS
  $$ SELECT date_bin('10 minutes', at, 'epoch') $$;
