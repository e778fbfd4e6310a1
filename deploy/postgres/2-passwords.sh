#!/usr/bin/env bash
# Sets the passwords of the two roles of 1-roles.sql, which may contain any characters. They come from the environment,
# or from files that it names, but not from the command line, which other users can see.
[ -z "${DATABASE_PASSWORD_FILE:-}" ] || DATABASE_PASSWORD=$(cat "$DATABASE_PASSWORD_FILE")
[ -z "${DATABASE_MIGRATION_PASSWORD_FILE:-}" ] || DATABASE_MIGRATION_PASSWORD=$(cat "$DATABASE_MIGRATION_PASSWORD_FILE")
export DATABASE_PASSWORD=${DATABASE_PASSWORD:?} DATABASE_MIGRATION_PASSWORD=${DATABASE_MIGRATION_PASSWORD:?}
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" <<'SQL'
\getenv service DATABASE_PASSWORD
\getenv owner DATABASE_MIGRATION_PASSWORD
ALTER ROLE accounts_service PASSWORD :'service';
ALTER ROLE accounts_owner PASSWORD :'owner';
SQL
