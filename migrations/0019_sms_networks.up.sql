-- Codes that one network asked for in ten minutes (a /24 of IPv4, a /48 of IPv6), and how many of these were verified since.
-- The spend guard counts at most five open codes of a network in what it judges a region by, so that one address cannot
-- close a country.
CREATE TABLE sms_networks (
  network text COLLATE "C" NOT NULL,
  slot timestamptz NOT NULL,
  sent integer NOT NULL DEFAULT 0,
  verified integer NOT NULL DEFAULT 0,
  CONSTRAINT sms_networks_pkey PRIMARY KEY (network, slot)
);
CREATE INDEX sms_networks_slot ON sms_networks (slot);

-- A code that an older instance sent has no network, and counts.
ALTER TABLE verification_codes
  ADD COLUMN network text,
  ADD COLUMN is_counted boolean NOT NULL DEFAULT true;
