#!/usr/bin/env bash
# Patroni runs it when it has made the cluster, with the superuser's connection string. The password is in PGPASSFILE.
set -euo pipefail
run() { psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 "$@"; }
run --dbname="$1" --command='CREATE DATABASE accounts'
database="$1 dbname=accounts"
run --dbname="$database" --file=../postgres/1-roles.sql
POSTGRES_USER=postgres POSTGRES_DB=$database bash ../postgres/2-passwords.sh
run --dbname="$database" --file=remote-apply.sql
