-- Places of a limit that are only held, until it is known whether they count: each ends by itself, in microseconds since
-- 1970, so that nothing stays counted of what a killed instance had under way.
ALTER TABLE rate_limits ADD COLUMN held bigint[] NOT NULL DEFAULT '{}';

CREATE FUNCTION rate_limits_now() RETURNS bigint LANGUAGE sql VOLATILE AS
  $$ SELECT floor(extract(epoch FROM clock_timestamp()) * 1e6)::bigint $$;

CREATE FUNCTION rate_limits_live(held bigint[]) RETURNS bigint[] LANGUAGE sql VOLATILE AS
  $$ SELECT coalesce(array_agg(ends), '{}') FROM unnest(held) AS ends WHERE ends > rate_limits_now() $$;

-- Without the first of the places that end then.
CREATE FUNCTION rate_limits_without(held bigint[], ends bigint) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN place IS NULL THEN held ELSE held[:place - 1] || held[place + 1:] END
    FROM array_position(held, ends) AS place
$$;
