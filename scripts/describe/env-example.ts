import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Row } from '../../src/base/settings';
import { SECRETS, SECTIONS } from '../../src/config/variables';

const WIDTH = 122;
const COMPOSE = readFileSync(join(__dirname, '../../docker-compose.yml'), 'utf8');

const HEAD = [
  `Every variable of the service, with its default. npm run tables writes this file. Copy it to .env and set what you
  need. An empty value counts as unset. Variables marked "required in production" are checked at start when
  NODE_ENV=production. For the compose file, npm run setup writes an .env with the required values and fresh secrets.`,
  `A secret may be in a file: NAME_FILE is then the path of the file, as in SESSION_SECRETS_FILE. This works for:`,
  `With the compose file, variables shown as "# NAME=" must be in .env, even if empty, except DATABASE_MIGRATION_URL. It
  reports missing ones before it builds anything. It sets NODE_ENV, HOST, PORT and DATA_DIR itself. It has defaults for
  PUBLIC_URL, TRUST_PROXY, DATABASE_URL and DATABASE_MIGRATION_URL.`,
] as const;

/** Variables of the compose files, which the service does not read. */
const COMPOSE_ONLY = `# Parts of the compose file to start. database: its PostgreSQL. proxy: its proxy. Leave out what you bring yourself.
# images: a separate process that keeps images. backup: a backup each night.
COMPOSE_PROFILES=database,proxy
# With images in COMPOSE_PROFILES: address of that process for the proxy, accounts-images-1:8585. Default: the instances
# of the service.
IMAGE_INSTANCES=
# Host name that clients use. The proxy gets a certificate for it. Required by the compose file.
DOMAIN=
# Password of the database's superuser, which the service does not use. openssl rand -hex 32 makes one.
# POSTGRES_PASSWORD=
# Path of a file with POSTGRES_PASSWORD, which the container of the database can read
POSTGRES_PASSWORD_FILE=
# Maximum memory of the database
# POSTGRES_MEMORY=2g
# Set to false on a machine without any IPv6
# NETWORK_IPV6=true
# Images. docs/deploying.md explains how to pin and renew them.
# NODE_IMAGE=node:24.21.0-bookworm-slim
# POSTGRES_IMAGE=postgres:18.4-bookworm
# With deploy/high-availability: the major version of POSTGRES_IMAGE, and the images beside it.
# POSTGRES_MAJOR=18
# ETCD_IMAGE=quay.io/coreos/etcd:v3.6.6
# HAPROXY_IMAGE=haproxy:3.2-alpine
# CADDY_IMAGE=caddy:2.11.7
# With observe in COMPOSE_PROFILES
# PROMETHEUS_IMAGE=prom/prometheus:v3.5.0
# GRAFANA_IMAGE=grafana/grafana:12.3.0
# Labels of the image
# VERSION=unknown
# REVISION=unknown
# SOURCE=unknown
# Backups (docs/backup.md): folder, best on another disk; time of day in UTC; number of backups to keep
# BACKUP_DIR=./backups
# BACKUP_AT=03:00
# BACKUP_KEEP=14
# How a backup holds this file: plain, none, or encrypted for an age recipient (age1…) or for the gpg public key at a
# path (/project/… is this folder)
# BACKUP_ENV=plain
`;

/** Rows that share their words: the first has them. */
export interface Printed {
  names: string[];
  says: string;
  rows: Row[];
}

/** Returns each section with the rows that no earlier one has. */
export function printedSections(): { title: string; says?: string | undefined; rows: Printed[] }[] {
  const seen = new Set<string>();
  return SECTIONS.map(({ title, says, rows }) => {
    const printed: Printed[] = [];
    for (const [name, row] of Object.entries(rows)) {
      if (seen.has(name)) continue;
      seen.add(name);
      if (row.says === undefined && printed.length > 0) {
        printed.at(-1)?.names.push(name);
        printed.at(-1)?.rows.push(row);
      } else printed.push({ names: [name], says: wordsOf(row), rows: [row] });
    }
    return { title, says: says && oneLine(says), rows: printed };
  }).filter(({ rows }) => rows.length > 0);
}

/** Returns what a row says, with what its other fields say. */
function wordsOf({ says = '', default: elsewhere, production, required }: Row): string {
  return [
    oneLine(says),
    ...(production === undefined ? [] : [`Default: ${production} in production, otherwise ${elsewhere}.`]),
    ...(required === undefined ? [] : ['Required in production.']),
  ].join(' ');
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ');
}

export function envExample(): string {
  const [first, files, compose] = HEAD;
  const head = [
    commented(first),
    '#\n',
    commented(files),
    commented(SECRETS.join(' '), '#   '),
    '#\n',
    commented(compose),
  ];
  const sections = printedSections().map(({ title, says, rows }) => {
    const entries = rows.map(({ names, says, rows }) => {
      const lines = rows.map((row, index) => shown(names[index] ?? '', row));
      return commented(says) + lines.join('');
    });
    return `${banner(title)}${says ? `${commented(says)}\n` : ''}${entries.join('')}`;
  });
  return [head.join(''), ...sections, `${banner('docker compose only')}${COMPOSE_ONLY}`].join('\n');
}

function banner(title: string): string {
  return `${`# --- ${title} `.padEnd(WIDTH - 3, '-')}\n`;
}

/** Comments out a default that is only production's, and a variable that the compose file distinguishes when unset. */
function shown(name: string, { default: elsewhere, production }: Row): string {
  const isUnset = production !== undefined || new RegExp(`\\$\\{${name}[?-]`).test(COMPOSE);
  return `${isUnset ? '# ' : ''}${name}=${production ?? elsewhere ?? ''}\n`;
}

function commented(text: string, mark = '# '): string {
  const lines = [''];
  for (const word of oneLine(text).replaceAll('`', '').split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last && last.length + word.length + mark.length + 1 > WIDTH) lines.push(word);
    else lines.splice(-1, 1, last ? `${last} ${word}` : word);
  }
  return lines.map((one) => `${mark}${one}\n`).join('');
}
