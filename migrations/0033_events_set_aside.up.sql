-- Events that a webhook has refused for a day, while it took the next ones: a list of id, reason and time, which an operator
-- tells it again by hand.
ALTER TABLE webhooks ADD COLUMN set_aside jsonb NOT NULL DEFAULT '[]';
