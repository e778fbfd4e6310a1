#!/bin/sh
# Backs up an installation: its database, its data folder and its settings. docs/backup.md explains how to use it.
#
#   backup.sh now             makes a backup, and removes all but the newest BACKUP_KEEP
#   backup.sh nightly         makes a backup each day at BACKUP_AT, in UTC
#   backup.sh fresh           fails unless there is a backup of the last 26 hours
#   backup.sh restore NAME    restores a backup; NAME may be "latest"
#     --replace               drops existing content of the database and the data folder
#     --nothing-lost          nothing was written after the backup: clients are not sent everything again
#     --end-sessions          ends all sessions: every user has to log in again
#   backup.sh resend          after another kind of restore: makes the service send clients everything again
#
# PGHOST, PGUSER, PGPASSWORD and PGDATABASE name the database. BACKUP_FROM names a standby that is dumped in its place, by
# what differs: "host=standby", or "port=5433". Restored objects belong to the owner of its schema public, and PGUSER must
# be a member of that role. BACKUP_ENV says how .env is kept: plain, none, or encrypted, for an age recipient (age1…) or
# for the gpg public key in the file that it names. A backup is a folder in BACKUP_DIR, named by its time. It gets this
# name when it is complete, and nothing else has such a name.
set -eu
umask 077

BACKUP_DIR=${BACKUP_DIR:-/backups}
BACKUP_KEEP=${BACKUP_KEEP:-14}
BACKUP_AT=${BACKUP_AT:-03:00}
DATA_DIR=${DATA_DIR:-/data}
ENV_FILE=${ENV_FILE:-/project/.env}
BACKUP_ENV=${BACKUP_ENV:-plain}
export LC_ALL=C PGCONNECT_TIMEOUT="${PGCONNECT_TIMEOUT:-10}"

UNFINISHED=$BACKUP_DIR/.unfinished
RESTORED=$DATA_DIR/.restored
RETRY_SECONDS=3600
COMMITTED='restored and committed'

task=backup
say() { printf '%s %s: %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$task" "$*"; }

fail() {
  say "failed: $*" >&2
  exit 1
}

# Prints the line of a program's output that gives the reason.
why() { printf '%s\n' "$1" | grep -m 1 -E 'error|ERROR|FATAL|[Cc]annot|FAILED' || printf '%s\n' "$1" | head -n 1; }

sql() { psql --no-psqlrc --quiet --tuples-only --no-align --set=ON_ERROR_STOP=1 --command="$1"; }

connect() {
  [ -n "${PGDATABASE:-}" ] || fail 'PGDATABASE is not set'
  tell=$(sql 'SELECT 1' 2>&1) || fail "the database cannot be reached: $(why "$tell")"
}

alone() {
  { mkdir -p "$BACKUP_DIR" && touch "$BACKUP_DIR/.lock"; } 2>/dev/null || fail "$BACKUP_DIR cannot be written"
  exec 9>"$BACKUP_DIR/.lock"
  flock --nonblock 9 || fail "another backup or restore is under way in $BACKUP_DIR"
}

# --- making a backup -----------------------------------------------------------------------------------------------

backups() { find "$BACKUP_DIR" -mindepth 1 -maxdepth 1 -type d -name 'accounts-*' "$@" | sort; }

make_backup() {
  alone
  whole "$BACKUP_KEEP" || fail "BACKUP_KEEP must be a whole number from 1: $BACKUP_KEEP"
  [ -d "$DATA_DIR" ] || fail "the folder $DATA_DIR does not exist: the service makes it at its start, so name its DATA_DIR"
  connect
  [ "$(sql "SELECT to_regclass('public.users') IS NOT NULL")" = t ] ||
    fail "the database $PGDATABASE has no table users: an empty database is not backed up"
  rm -rf "$UNFINISHED"
  trap 'rm -rf "$UNFINISHED"' EXIT
  trap 'exit 143' TERM INT
  mkdir "$UNFINISHED" || fail "$BACKUP_DIR cannot be written"

  # An image may be added or removed during the dump. Every image that a dumped row names is in one of the two passes.
  began=$(date +%s)
  pack --create
  # The owner of the tables may neither read large objects of other roles, nor restore rights to built-in functions.
  tell=$(pg_dump ${BACKUP_FROM:+"--dbname=$BACKUP_FROM"} --format=custom --no-unlogged-table-data --lock-wait-timeout=60s \
    --no-blobs --exclude-schema=pg_catalog --file="$UNFINISHED/database.dump" 2>&1) || fail "the database was not dumped: $(why_not_dumped "$tell")"
  pack --append --newer="@$((began - 60))"
  [ ! -f "$ENV_FILE" ] || keep_settings
  (cd "$UNFINISHED" && find . -type f ! -name SHA256SUMS -exec sha256sum {} + >SHA256SUMS) ||
    fail "the checksums of the files were not written, $(room)"
  find "$UNFINISHED" -exec sync {} +

  name=$(new_name)
  until [ ! -e "$BACKUP_DIR/$name" ]; do
    sleep 1
    name=$(new_name)
  done
  mv "$UNFINISHED" "$BACKUP_DIR/$name" || fail "$BACKUP_DIR cannot be written"
  say "$name is complete, $(du -sh "$BACKUP_DIR/$name" | cut -f 1)"
  note_backup
  prune
}

# Leaves a row in the audit trail: a backup holds all that users have given. The doctor of operators reads its age there,
# since it does not see this folder.
note_backup() {
  tell=$(sql "INSERT INTO security_events (event, ip, user_agent, request_id, detail)
    VALUES ('backed_up', '', 'deploy/backup.sh', '', '$name')" 2>&1) ||
    say "the audit trail does not have $name: $(why "$tell")"
}

# Adds a remedy to pg_dump's refusal of a newer server.
why_not_dumped() {
  server=$(printf '%s\n' "$1" | sed -n -E 's/.*server version: ([0-9]+).*/\1/p')
  ours=$(printf '%s\n' "$1" | sed -n -E 's/.*pg_dump version: ([0-9]+).*/\1/p')
  if [ -n "$server" ] && [ -n "$ours" ]; then
    echo "the server is PostgreSQL $server, but pg_dump is $ours: install postgresql-client-$server"
  else
    echo "$(why "$1"), $(room)"
  fi
}

keep_settings() {
  case $BACKUP_ENV in
    plain) tell=$(cp "$ENV_FILE" "$UNFINISHED/.env" 2>&1) ;;
    none) ;;
    age1*) tell=$(age --encrypt --recipient "$BACKUP_ENV" --output "$UNFINISHED/.env.age" "$ENV_FILE" 2>&1) ;;
    *) tell=$(encrypt_by_gpg 2>&1) ;;
  esac || fail "$ENV_FILE was not saved as BACKUP_ENV says: $(why "$tell")"
}

# Encrypts with a separate key ring: the user's may trust other keys, or be missing.
encrypt_by_gpg() {
  [ -f "$BACKUP_ENV" ] || { echo "cannot read the public key $BACKUP_ENV" && return 1; }
  mkdir "$UNFINISHED/.gnupg" || return 1
  gpg --homedir "$UNFINISHED/.gnupg" --batch --quiet --trust-model always --recipient-file "$BACKUP_ENV" \
    --output "$UNFINISHED/.env.gpg" --encrypt "$ENV_FILE" || return 1
  rm -rf "$UNFINISHED/.gnupg"
}

new_name() { date -u +accounts-%Y-%m-%dT%H-%M-%SZ; }

room() { echo "$(df -h --output=avail "$BACKUP_DIR" | tail -n 1 | tr -d ' ') free in $BACKUP_DIR"; }

# Packs the data folder without an embedded database, which is dumped instead, and without incomplete uploads. tar exits
# with 1 if a file changes or disappears while it is read, which is usual.
pack() {
  status=0
  tell=$(tar --file="$UNFINISHED/data.tar" --directory="$DATA_DIR" --numeric-owner --anchored \
    --exclude='./postgres*' --exclude=./database-url --exclude='./uploads/.*' --exclude=./.restored \
    "$@" . 2>&1) || status=$?
  [ "$status" -le 1 ] || fail "$DATA_DIR was not packed: $(why "$tell"), $(room)"
}

prune() {
  backups | head -n "-$BACKUP_KEEP" | while read -r old; do
    rm -rf "$old"
    say "$(basename "$old") was removed, the newest $BACKUP_KEEP are kept"
  done
}

# --- each night ----------------------------------------------------------------------------------------------------

nightly() {
  case $BACKUP_AT in
    [01][0-9]:[0-5][0-9] | 2[0-3]:[0-5][0-9]) ;;
    *) fail "BACKUP_AT must be a time of day such as 03:00: $BACKUP_AT" ;;
  esac
  sleeping=''
  trap '[ -z "$sleeping" ] || kill "$sleeping"; exit 0' TERM INT
  fresh || attempt
  while true; do
    wait_until "$(next_night)"
    attempt
  done
}

# Retries until a backup succeeds, since the cause of a failure may be temporary.
attempt() {
  until sh "$0" now; do wait_until $(($(date +%s) + RETRY_SECONDS)); done
}

next_night() {
  now=$(date +%s)
  hour=${BACKUP_AT%:*} minute=${BACKUP_AT#*:}
  at=$((${hour#0} * 3600 + ${minute#0} * 60))
  echo $((now + (at - now % 86400 + 86399) % 86400 + 1))
}

# Sleeps for short times, since the clock may be corrected, and in the background, so that a stop need not wait.
wait_until() {
  while [ "$(date +%s)" -lt "$1" ]; do
    sleep 20 &
    sleeping=$!
    wait "$sleeping"
    sleeping=''
  done
}

fresh() { [ -n "$(backups -mmin -1560)" ]; }

# --- restoring a backup --------------------------------------------------------------------------------------------

restore() {
  name='' replace='' nothing_lost='' end_sessions=''
  for argument; do
    case $argument in
      --replace) replace=yes ;;
      --nothing-lost) nothing_lost=yes ;;
      --end-sessions) end_sessions=yes ;;
      -*) fail "there is no option $argument" ;;
      *) name=$argument ;;
    esac
  done
  alone
  [ "$name" != latest ] || name=$(basename "$(backups | tail -n 1)")
  from=$BACKUP_DIR/$name
  [ -n "$name" ] && [ -f "$from/SHA256SUMS" ] || fail "there is no backup ${name:-without a name} in $BACKUP_DIR"
  tell=$(cd "$from" && sha256sum --check --quiet SHA256SUMS 2>&1) ||
    fail "$name is damaged, nothing was restored: $(why "$tell")"

  connect
  refuse_open_connections
  [ -n "$replace" ] || refuse_tables
  trap 'rm -rf "$RESTORED"' EXIT
  trap 'exit 143' TERM INT
  unpack
  [ -n "$replace" ] || refuse_files

  # One transaction: if it fails, the database is unchanged.
  tell=$({ restoring | psql --no-psqlrc --quiet --tuples-only --set=ON_ERROR_STOP=1; } 2>&1) ||
    fail "the database is unchanged: $(why "$tell")"
  case $tell in
    *"$COMMITTED") ;;
    *) fail 'the database is unchanged: the dump is truncated' ;;
  esac
  move_files
  # ANALYZE warns a role that is not a superuser about each shared catalogue.
  sql "SET client_min_messages = error; ANALYZE" || say 'the statistics are missing until autovacuum has collected them'
  say "$name was restored into the database $PGDATABASE and $DATA_DIR: the service may be started"
  [ ! -f "$from/.env" ] || cmp -s "$from/.env" "$ENV_FILE" ||
    say "$ENV_FILE differs from the settings of the backup: compare it with $from/.env"
  for file in "$from/.env.age" "$from/.env.gpg"; do
    [ ! -f "$file" ] || say "the settings of the backup are encrypted: decrypt $file, and compare it with $ENV_FILE"
  done
}

refuse_open_connections() {
  others="SELECT count(*), string_agg(DISTINCT usename, ', ') FROM pg_stat_activity
    WHERE datname = current_database() AND usename IS NOT NULL AND pid <> pg_backend_pid()"
  # PostgreSQL lists a connection for a moment after its client has ended.
  for _ in 1 2 3 4 5; do
    found=$(sql "$others")
    [ "${found%%|*}" != 0 ] || return 0
    sleep 1
  done
  fail "the database $PGDATABASE is in use, ${found%%|*} connections of ${found#*|}: stop the service first"
}

refuse_tables() {
  tables=$(sql "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')")
  [ "$tables" = 0 ] ||
    fail "the database $PGDATABASE is not empty, it has $tables tables: --replace drops them first"
}

unpack() {
  rm -rf "$RESTORED"
  mkdir -p "$RESTORED" || fail "$DATA_DIR cannot be written"
  tell=$(tar --extract --file="$from/data.tar" --directory="$RESTORED" --numeric-owner --preserve-permissions 2>&1) ||
    fail "the files were not unpacked into $DATA_DIR, nothing was restored: $(why "$tell")"
}

files() { find "$RESTORED" -mindepth 1 -maxdepth 1; }

refuse_files() {
  files | while read -r file; do
    there=$DATA_DIR/$(basename "$file")
    [ ! -e "$there" ] || [ -z "$(ls -A "$there")" ] ||
      fail "$there already exists: --replace drops it first"
  done
}

# Also sets the owner of the folder itself to the service's user: in a new volume it is root.
move_files() {
  files | while read -r file; do
    rm -rf "${DATA_DIR:?}/$(basename "$file")"
    mv "$file" "$DATA_DIR/" || fail "the database was restored, but $file was not moved to $DATA_DIR: move it by hand"
  done
  chown --reference="$RESTORED" "$DATA_DIR"
  chmod --reference="$RESTORED" "$DATA_DIR"
}

restoring() {
  echo "BEGIN; SET LOCAL lock_timeout = '10s';"
  [ -z "$replace" ] || drop_all
  make_roles
  become_owner
  if ! pg_restore --no-owner --no-comments --file=- "$from/database.dump"; then
    echo "DO \$\$ BEGIN RAISE 'the dump cannot be read'; END \$\$;"
    return
  fi
  echo 'SET search_path = public;'
  [ -n "$nothing_lost" ] || { forget_versions && revoke_tokens; }
  [ -z "$end_sessions" ] || echo 'DELETE FROM session;'
  echo "COMMIT; SELECT '$COMMITTED';"
}

# A token of the admin API may have been revoked since the backup. Older backups have none.
revoke_tokens() {
  cat <<'SQL'
DO $$ BEGIN
  IF to_regclass('admin_tokens') IS NOT NULL THEN
    UPDATE admin_tokens SET revoked_at = now() WHERE revoked_at IS NULL;
  END IF;
END $$;
SQL
}

# Drops all tables and routines, but not the schema, which has its own owner and rights, nor objects of an extension.
drop_all() {
  cat <<'SQL'
DO $$ BEGIN EXECUTE (
  SELECT coalesce(string_agg(format('DROP %s IF EXISTS %s CASCADE', kind, name), '; '), '') FROM (
    SELECT oid, 'TABLE' AS kind, oid::regclass::text AS name
      FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
    UNION ALL
    SELECT oid, 'ROUTINE', oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace) AS ours
   WHERE NOT EXISTS (SELECT FROM pg_depend WHERE objid = ours.oid AND deptype = 'e'));
END $$;
SQL
}

# Creates missing roles, so that their rights are kept. Roles belong to the server and are not in a dump of a database.
# A created role cannot log in until it is given LOGIN.
make_roles() {
  pg_restore --schema-only --file=- "$from/database.dump" |
    sed -n -E 's/^(GRANT|REVOKE|ALTER DEFAULT PRIVILEGES) .* (TO|FROM) ("[^"]+"|[a-z_0-9$]+)( WITH .*)?;$/\3/p' |
    sort -u | while read -r role; do
    cat <<SQL
DO \$\$ BEGIN
  IF to_regrole('$role') IS NULL THEN CREATE ROLE $role; END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE 'the role % is missing: have a superuser create it first', '$role';
END \$\$;
SQL
  done
}

become_owner() {
  cat <<'SQL'
SELECT set_config('role', rolname, true) FROM pg_roles, pg_namespace, pg_database
 WHERE nspname = 'public' AND datname = current_database() AND pg_has_role(pg_roles.oid, 'MEMBER')
   AND pg_roles.oid = CASE nspowner WHEN 'pg_database_owner'::regrole THEN datdba ELSE nspowner END;
SQL
}

# Gives each row a new version, above all versions that clients have, so that clients are sent the current rows. They
# may have seen changes that were made after the backup and are now lost. Triggers are off, since they would also change
# the rows' dates.
forget_versions() {
  for table in users blacklist friendships groups group_members; do
    cat <<SQL
ALTER TABLE $table DISABLE TRIGGER USER;
UPDATE $table SET version = (SELECT sync_next_version());
ALTER TABLE $table ENABLE TRIGGER USER;
SQL
  done
}

resend() {
  alone
  connect
  refuse_open_connections
  tell=$({ echo 'BEGIN;' && forget_versions && echo 'COMMIT;'; } |
    psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 2>&1) ||
    fail "no row was changed: $(why "$tell")"
  say "every client is sent everything with its next sync: the service may be started"
}

whole() {
  case $1 in
    '' | *[!0-9]* | 0*) return 1 ;;
  esac
}

# -------------------------------------------------------------------------------------------------------------------

command=${1:-}
[ $# = 0 ] || shift
case $command in
  now) make_backup ;;
  nightly) nightly ;;
  fresh) fresh ;;
  restore) task=restore && restore "$@" ;;
  resend) task=resend && resend ;;
  *) fail "the command must be now, nightly, fresh, restore NAME or resend" ;;
esac
