import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { RESUMABLE_PATHS, UPLOAD_PATHS } from '../../packages/image-server/src';
import { REASONS } from '../../src/base/reasons';
import { SECRETS, VARIABLES } from '../../src/config/variables';
import { SERVICE_ROLE } from '../../src/database/service-role';
import { STEPS } from '../compose/steps';
import { interpolate } from '../support/compose';
import { ROOT } from '../support/service-process';

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');

interface Service {
  image?: string;
  build?: { context: string; args: string[] };
  user?: string;
  profiles?: string[];
  environment?: Record<string, string>;
  healthcheck?: { test: string[] };
  volumes?: string[];
  networks?: string[];
  depends_on?: Record<string, { condition: string; required?: boolean }>;
  mem_limit?: string;
  pids_limit?: number;
  shm_size?: string;
  stop_grace_period?: string;
  cap_drop?: string[];
  cap_add?: string[];
  read_only?: boolean;
  security_opt?: string[];
  logging?: unknown;
}

interface Compose {
  services: Record<string, Service>;
  networks: Record<string, { enable_ipv6?: string; internal?: boolean }>;
  volumes: Record<string, unknown>;
}

const file = read('docker-compose.yml');
const compose = parse(file, { merge: true }) as Compose;
const { postgres = {}, service = {}, proxy = {} } = compose.services;
const services = Object.entries(compose.services);
const example = read('.env.example');
const examples = [...example.matchAll(/^(?:# )?([A-Z][A-Z0-9_]+)=(.*)$/gm)].map(
  ([, name = '', value = '']) => [name, value] as const,
);
const exampleVariables = examples.map(([name]) => name);
const COMPOSE_ONLY = [
  'COMPOSE_PROFILES',
  'DOMAIN',
  'POSTGRES_PASSWORD',
  'POSTGRES_PASSWORD_FILE',
  'POSTGRES_MEMORY',
  'NETWORK_IPV6',
  'NODE_IMAGE',
  'POSTGRES_IMAGE',
  'POSTGRES_MAJOR',
  'ETCD_IMAGE',
  'HAPROXY_IMAGE',
  'CADDY_IMAGE',
  'PROMETHEUS_IMAGE',
  'GRAFANA_IMAGE',
  'IMAGE_INSTANCES',
  'VERSION',
  'REVISION',
  'SOURCE',
  'BACKUP_AT',
  'BACKUP_DIR',
  'BACKUP_ENV',
  'BACKUP_KEEP',
];

/** The least that the compose file accepts. */
const LEAST = {
  COMPOSE_PROFILES: 'database,proxy',
  DOMAIN: 'accounts.example',
  POSTGRES_PASSWORD: 'p',
  DATABASE_PASSWORD: 'd',
  DATABASE_MIGRATION_PASSWORD: 'm',
  SESSION_SECRETS: 's',
  MESSAGING_JWT_KEY: 'k',
  SMS_PROVIDER: 'twilio',
  STORAGE_PROVIDER: 'local',
  SEND_CODE_PER_DAY: '100',
};

/** Capabilities of each container, out of those that Docker gives by default. */
const RIGHTS: Record<string, string[]> = {
  proxy: ['NET_BIND_SERVICE'],
  // Files of the service and of the operator belong to other users.
  backup: ['DAC_OVERRIDE'],
  restore: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER'],
};

describe('.env.example', () => {
  it('lists each variable once, and only variables that are read', () => {
    expect([...exampleVariables].sort()).toEqual([...VARIABLES, ...COMPOSE_ONLY].sort());
  });

  it('shows the defaults of the compose file and of the Dockerfile', () => {
    const defaults = [
      ...read('deploy/high-availability/compose.yml').matchAll(/\$\{([A-Z0-9_]+):-([^${}]+)\}/g),
      ...file.matchAll(/\$\{([A-Z0-9_]+):-([^${}]+)\}/g),
      ...read('Dockerfile').matchAll(/(\w+)=(\S+)/g),
    ];
    const shown = examples.filter(([name, value]) => COMPOSE_ONLY.includes(name) && value !== '');
    const named = shown.filter(([name]) => name !== 'COMPOSE_PROFILES');
    expect(named.map(([name]) => name)).toEqual(expect.arrayContaining(['POSTGRES_IMAGE', 'NODE_IMAGE', 'VERSION']));
    for (const [name, value] of named)
      expect(defaults.map((one) => `${one[1]}=${one[2]}`)).toContain(`${name}=${value}`);
  });
});

describe('docker-compose.yml', () => {
  it('has the service, and a database and a proxy that can be left out', () => {
    expect(Object.keys(compose.services)).toEqual([
      'postgres',
      'service',
      'images',
      'proxy',
      'backup',
      'restore',
      'prometheus',
      'grafana',
    ]);
    expect([postgres.profiles, service.profiles, proxy.profiles]).toEqual([['database'], undefined, ['proxy']]);
    expect(service.build?.context).toBe('.');
    expect(service.depends_on).toEqual({ postgres: { condition: 'service_healthy', required: false } });
  });

  // guard deployment-3: missing variables of .env are reported before anything is built
  // docker-compose.yml
  // - ${SESSION_SECRETS?set
  // + ${SESSION_SECRETS:-set
  it.each(Object.keys(LEAST))('says what to do when %s is missing', (name) => {
    expect(() => interpolate(file, LEAST)).not.toThrow();
    expect(() => interpolate(file, { ...LEAST, [name]: undefined })).toThrow(
      new RegExp(`^${name}: set ${name} in .env`),
    );
  });

  it('accepts an empty variable only where a file, or a component of your own, can replace it', () => {
    const empty = Object.keys(LEAST).filter((name) => {
      try {
        return interpolate(file, { ...LEAST, [name]: '' }) !== '';
      } catch {
        return false;
      }
    });
    expect(empty).toEqual([
      'COMPOSE_PROFILES',
      'POSTGRES_PASSWORD',
      'DATABASE_PASSWORD',
      'DATABASE_MIGRATION_PASSWORD',
      'SESSION_SECRETS',
      'MESSAGING_JWT_KEY',
    ]);
  });

  it('accepts another address, another proxy and another database', () => {
    const ofTheService = (env: Record<string, string>) =>
      (parse(interpolate(file, { ...LEAST, ...env }), { merge: true }) as Compose).services.service?.environment;
    expect(ofTheService({})).toMatchObject({
      PUBLIC_URL: 'https://accounts.example',
      TRUST_PROXY: 1,
      DATABASE_PASSWORD: 'd',
      DATABASE_URL: 'postgresql://accounts_service@postgres:5432/accounts',
    });
    const others = { PUBLIC_URL: 'https://b.example/a', TRUST_PROXY: 'none', DATABASE_URL: 'postgresql://a@b/c' };
    const own = { ...others, DATABASE_PASSWORD: 'q' };
    expect(ofTheService({ ...own, DATABASE_MIGRATION_URL: '' })).toMatchObject({
      ...own,
      DATABASE_MIGRATION_URL: null,
    });
  });

  it('has a process for images only, which the proxy finds by IMAGE_INSTANCES', () => {
    const of = (env: Record<string, string>) =>
      (parse(interpolate(file, { ...LEAST, ...env }), { merge: true }) as Compose).services;
    const { service, images, proxy } = of({ IMAGE_INSTANCES: 'accounts-images-1:8585' });
    const environment = { ...service?.environment, IMAGES: 'only' };
    expect(images).toEqual({ ...service, profiles: ['images'], environment });
    expect(proxy?.environment?.IMAGE_INSTANCES).toBe('accounts-images-1:8585');
    const { INSTANCES, IMAGE_INSTANCES } = of({}).proxy?.environment ?? {};
    expect(IMAGE_INSTANCES).toBe(INSTANCES);
    const [, paths = ''] = /@images path (.*)/.exec(read('deploy/Caddyfile')) ?? [];
    const below = ['/files', ...RESUMABLE_PATHS].map((path) => `${path}/*`);
    expect(paths.split(' ').sort()).toEqual([...UPLOAD_PATHS, ...below].sort());
  });

  // guard deployment-1: the proxy cannot reach the database
  // docker-compose.yml
  // - networks: [front]
  // - ports:
  // -   - '80:80'
  // + networks: [front, database]
  // + ports:
  // +   - '80:80'
  // guard deployment-2: the network of the database is internal
  // docker-compose.yml
  // - internal: true
  // + internal: false
  it('lets the proxy reach only the service, and has the database in an internal network', () => {
    expect([postgres.networks, service.networks, proxy.networks]).toEqual([
      ['database'],
      ['front', 'database'],
      ['front'],
    ]);
    const { backup, restore, prometheus, grafana } = compose.services;
    expect([prometheus?.networks, grafana?.networks]).toEqual([['front'], ['front']]);
    expect([backup?.networks, restore?.networks]).toEqual([['database'], ['database']]);
    expect(compose.networks.database).toEqual({ internal: true });
  });

  it('has IPv6: without it all its clients share one address', () => {
    expect(compose.networks.front).toEqual({ enable_ipv6: '${NETWORK_IPV6:-true}' });
  });

  it.each(services)(
    'gives %s bounded memory and processes, a read-only file system, and no capabilities but those listed',
    (name, one) => {
      expect(one).toMatchObject({
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        read_only: true,
        mem_limit: expect.stringMatching(/\d[mg]\}?$/) as string,
        pids_limit: expect.any(Number) as number,
        stop_grace_period: expect.stringMatching(/^\d+[sm]$/) as string,
      });
      expect(one.cap_add).toEqual(RIGHTS[name]);
    },
  );

  it('runs the database as an unprivileged user, with shared memory for parallel queries', () => {
    expect(postgres).toMatchObject({ user: 'postgres', shm_size: '256m' });
  });

  it('bounds the logs of each service', () => {
    const logging = { driver: 'json-file', options: { 'max-size': '50m', 'max-file': '5' } };
    for (const [, one] of services) expect(one.logging).toEqual(logging);
  });

  it('lets the proxy ask instances by the names that compose gives them, whether or not they run', () => {
    const { environment = {}, volumes = [] } = proxy;
    const names = [1, 2, 3, 4].map((number) => `\${COMPOSE_PROJECT_NAME:-accounts}-service-${number}:8585`);
    expect(environment.INSTANCES?.split(' ')).toEqual(names);
    expect(volumes).toContain('./deploy/Caddyfile:/etc/caddy/Caddyfile:ro');
    const caddyfile = read('deploy/Caddyfile');
    const variables = [...caddyfile.matchAll(/\{\$([A-Z_]+)/g)].map(([, name]) => name ?? '');
    const ofGo = ['GOMEMLIMIT'];
    expect([...variables, ...ofGo].sort()).toEqual(Object.keys(environment).sort());
  });

  // guard deployment-5: the proxy does not count failures of a client against an instance
  // deploy/Caddyfile
  // - lb_try_interval 100ms
  // + fail_duration 2s
  it("does not let a client's request make the proxy avoid an instance", () => {
    expect(read('deploy/Caddyfile')).toMatch(/^\thealth_uri \/readyz$/m);
    expect(read('deploy/Caddyfile')).not.toMatch(/^\s*(fail_duration|max_fails|unhealthy_\w+)/m);
  });

  // guard deployment-6: the proxy ends request bodies that do not arrive
  // deploy/Caddyfile
  // - read_body 150s
  it('lets the proxy end incomplete heads and bodies, and idle connections', () => {
    const [, timeouts = ''] = /\n\t{2}timeouts \{\n([^]*?)\n\t{2}\}/.exec(read('deploy/Caddyfile')) ?? [];
    const named = [...timeouts.matchAll(/^\t{3}(\w+) \d+s$/gm)].map(([, name]) => name);
    expect(named).toEqual(['read_header', 'read_body', 'idle']);
  });

  it('lets the proxy free memory before it is killed for using too much', () => {
    expect([proxy.environment?.GOMEMLIMIT, proxy.mem_limit]).toEqual(['900MiB', '1g']);
  });

  it("checks the proxy's health at an address that its configuration has", () => {
    const asked = new URL(proxy.healthcheck?.test.at(-1) ?? '');
    expect(asked.pathname).toBe('/readyz');
    expect(read('deploy/Caddyfile')).toContain(`{$SITE}, ${asked.origin} {`);
  });

  // guard deployment-7: the proxy refuses with a reason
  // deploy/Caddyfile
  // - header X-Reason {reason}
  it('lets the proxy refuse like the service, with the reason of the status', () => {
    const caddyfile = read('deploy/Caddyfile');
    const reasons = [...caddyfile.matchAll(/^\t{3}(502|default) (\w+) (\d+)$/gm)].map((found) => found.slice(1));
    expect(reasons).toEqual([
      ['502', 'bad_gateway', String(REASONS.bad_gateway.code)],
      ['default', 'service_away', String(REASONS.service_away.code)],
    ]);
    expect(caddyfile).toContain('\n\t\theader X-Reason {reason}\n');
    expect(caddyfile).toMatch(/`\{"code":\{code\},"reason":"\{reason\}","message":"[^`]+"\}` \{code\}\n/);
  });

  it('names each volume that it mounts', () => {
    const mounted = services.flatMap(([, { volumes = [] }]) => volumes.map((v) => v.split(':')[0] ?? ''));
    expect([...new Set(mounted)].filter((source) => !/^[.$]/.test(source)).sort()).toEqual(
      Object.keys(compose.volumes).sort(),
    );
  });

  it('contains no secret: each comes from .env, which says how to make it', () => {
    const all = [...file.matchAll(/\$\{([A-Z0-9_]+)/g)].map(([, name]) => name ?? '');
    // Variables that Compose itself reads.
    const files = SECRETS.map((name) => `${name}_FILE`);
    const taken = all.filter((name) => name !== 'COMPOSE_PROJECT_NAME' && !files.includes(name));
    for (const name of taken) expect(exampleVariables).toContain(name);
    for (const name of [...SECRETS, 'POSTGRES_PASSWORD'])
      expect(file).not.toMatch(new RegExp(`${name}: (?!(&[a-z-]+ )?(>-\\s+)?\\$|\\*|''\n)`));
    expect(example).toMatch(/openssl rand -hex 32 makes one\.[^\n]*\n(# [^\n]*\n)*# SESSION_SECRETS=/);
    expect(example).toMatch(/openssl rand -hex 32 makes one\.[^\n]*\n# POSTGRES_PASSWORD=/);
    expect(example).toMatch(/openssl genpkey[^\n]*\n# MESSAGING_JWT_KEY=/);
  });

  it('sets only variables that the service reads, and unsets the one that it must not know', () => {
    const { POSTGRES_PASSWORD, ...environment } = service.environment ?? {};
    expect(POSTGRES_PASSWORD).toBe('');
    for (const name of Object.keys(environment)) expect(VARIABLES).toContain(name);
  });

  // guard deployment-4: the service of the compose file logs in as a role with the least rights
  // docker-compose.yml
  // - DATABASE_URL:-postgresql://accounts_service@
  // + DATABASE_URL:-postgresql://accounts@
  it('runs the service with a role of its own and migrations as the owner, and creates both with the database', () => {
    const own = (parse(interpolate(file, LEAST), { merge: true }) as Compose).services.service?.environment ?? {};
    const users = [own.DATABASE_URL, own.DATABASE_MIGRATION_URL].map((url) => new URL(url ?? '').username);
    expect(users).toEqual([SERVICE_ROLE, 'accounts_owner']);
    expect(users).not.toContain(postgres.environment?.POSTGRES_USER);
    expect(postgres.volumes).toContain('./deploy/postgres:/docker-entrypoint-initdb.d:ro');
    expect(readdirSync(join(ROOT, 'deploy/postgres'))).toEqual(['1-roles.sql', '2-passwords.sh']);
    const needed = [...read('deploy/postgres/2-passwords.sh').matchAll(/\$\{?([A-Z_]+)(?<!_FILE)(?=:\?|")/g)];
    expect(needed).toHaveLength(4);
    for (const [, name = ''] of needed) expect(Object.keys(postgres.environment ?? {})).toContain(name);
  });
});

describe('backups', () => {
  const { backup, restore } = compose.services;

  it("use programs of the database's own version", () => {
    for (const one of [backup, restore]) expect(one?.image).toBe(postgres?.image);
  });

  it('start only when asked for, and the nightly backup cannot write images', () => {
    expect([backup?.profiles, restore?.profiles]).toEqual([['backup'], ['restore']]);
    expect(backup?.volumes).toContain('data:/data:ro');
    expect(restore?.volumes).toContain('data:/data');
  });

  it('take their settings from .env', () => {
    expect(backup?.environment).toMatchObject({ BACKUP_AT: '${BACKUP_AT:-03:00}', BACKUP_KEEP: '${BACKUP_KEEP:-14}' });
    expect(backup?.volumes).toContain('${BACKUP_DIR:-./backups}:/backups');
  });
});

describe('Dockerfile', () => {
  const dockerfile = read('Dockerfile');

  it('builds an image that runs as an unprivileged user, with a health check and source lines in stack traces', () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf('FROM '));
    expect(last).toMatch(/^USER node$/m);
    expect(last).toMatch(/^HEALTHCHECK /m);
    expect(last).toContain('--enable-source-maps');
    expect(last).not.toMatch(/npm|COPY (?!--from)/);
  });

  it('installs packages before it copies sources, so that a change of sources keeps the installed packages', () => {
    const stages = dockerfile.split(/^(?=FROM )/m).filter((stage) => stage.includes('npm ci'));
    expect(stages).toHaveLength(2);
    for (const stage of stages) expect(stage).not.toMatch(/^COPY .*(src|migrations)/m);
  });

  it('names exact versions of images', () => {
    const named = [...`${file}${dockerfile}`.matchAll(/_IMAGE(?:=|:-)([^\s}]+)/g)].map(([, image]) => image);
    expect(new Set(named).size).toBe(5);
    for (const image of named) expect(image).toMatch(/^[a-z/]+:v?\d+\.\d+(\.\d+)?(-[a-z-]+)?$/);
  });

  it('copies nothing that .dockerignore excludes', () => {
    const letIn = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, name]) => name);
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) =>
      (names ?? '').split(' '),
    );
    expect(letIn.sort()).toEqual(copied.sort());
  });

  it('declares the arguments that the compose file passes', () => {
    const taken = [...dockerfile.matchAll(/^ARG (.+)$/gm)].flatMap(([, all]) => (all ?? '').match(/\w+(?==)/g) ?? []);
    expect(taken.sort()).toEqual([...(service.build?.args ?? [])].sort());
  });
});

describe('docs/deploying.md', () => {
  it('describes every step of npm run compose-test', () => {
    const [, section = ''] = /^## Trying a deployment\n([^]*?)^## /m.exec(read('docs/deploying.md')) ?? [];
    const told = [...section.matchAll(/^\| `([a-z0-9-]+)` \|/gm)].map(([, name]) => name);
    expect(told).toEqual(STEPS.map(({ name }) => name));
  });
});
