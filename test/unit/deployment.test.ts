import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { VARIABLES } from '../../src/config';

const read = (file: string) => readFileSync(join(__dirname, '..', '..', file), 'utf8');

interface Compose {
  services: Record<
    string,
    {
      image?: string;
      build?: string;
      environment?: Record<string, string>;
      healthcheck?: unknown;
      volumes?: string[];
      depends_on?: Record<string, { condition: string }>;
      mem_limit?: string;
      cap_drop?: string[];
      security_opt?: string[];
      logging?: unknown;
    }
  >;
  volumes: Record<string, unknown>;
}

const compose = parse(read('docker-compose.yml')) as Compose;
const example = read('.env.example');
const exampleVariables = [...example.matchAll(/^(?:# )?([A-Z][A-Z0-9_]+)=/gm)].map(([, name]) => name ?? '');
const COMPOSE_ONLY = ['DOMAIN', 'POSTGRES_PASSWORD'];

describe('.env.example', () => {
  it('lists every variable once, and none that is not read', () => {
    expect([...exampleVariables].sort()).toEqual([...VARIABLES, ...COMPOSE_ONLY].sort());
  });
});

describe('docker-compose.yml', () => {
  it('has a database with a health check and a volume, the service, and a proxy', () => {
    expect(Object.keys(compose.services)).toEqual(['postgres', 'service', 'proxy']);
    expect(compose.services.postgres?.healthcheck).toBeDefined();
    expect(compose.services.service?.build).toBe('.');
    expect(compose.services.service?.depends_on).toEqual({ postgres: { condition: 'service_healthy' } });
  });

  it('gives the service bounded memory and no rights beside those of its user', () => {
    const { mem_limit, cap_drop, security_opt } = compose.services.service ?? {};
    expect({ mem_limit, cap_drop, security_opt }).toEqual({
      mem_limit: '2g',
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  });

  it('bounds the logs of each service', () => {
    const logging = { driver: 'json-file', options: { 'max-size': '50m', 'max-file': '5' } };
    for (const one of Object.values(compose.services)) expect(one.logging).toEqual(logging);
  });

  it('has the proxy ask instances by the names that compose gives them, whether they go on', () => {
    const { environment = {}, volumes = [] } = compose.services.proxy ?? {};
    const names = [1, 2, 3, 4].map((number) => `\${COMPOSE_PROJECT_NAME:-accounts}-service-${number}:8585`);
    expect(environment.INSTANCES?.split(' ')).toEqual(names);
    expect(volumes).toContain('./deploy/Caddyfile:/etc/caddy/Caddyfile:ro');
    const caddyfile = read('deploy/Caddyfile');
    const variables = [...caddyfile.matchAll(/\{\$([A-Z_]+)/g)].map(([, name]) => name ?? '');
    expect(variables.sort()).toEqual(Object.keys(environment).sort());
  });

  it('names each volume that it mounts', () => {
    const mounted = Object.values(compose.services).flatMap(({ volumes = [] }) =>
      volumes.map((v) => v.split(':')[0] ?? ''),
    );
    expect([...new Set(mounted)].filter((source) => !source.startsWith('.')).sort()).toEqual(
      Object.keys(compose.volumes).sort(),
    );
  });

  it('holds no secret: each comes from .env, which says how to make it', () => {
    const all = [...read('docker-compose.yml').matchAll(/\$\{([A-Z_]+)/g)].map(([, name]) => name ?? '');
    // Compose's own.
    const taken = all.filter((name) => name !== 'COMPOSE_PROJECT_NAME');
    expect([...new Set(taken)].sort()).toEqual(['DOMAIN', 'POSTGRES_PASSWORD', 'SESSION_SECRETS']);
    for (const name of taken) expect(exampleVariables).toContain(name);
    expect(example).toMatch(/openssl rand -hex 32 makes one\.[^\n]*\n(# [^\n]*\n)*SESSION_SECRETS=/);
    expect(example).toMatch(/openssl rand -hex 32 makes one\.[^\n]*\nPOSTGRES_PASSWORD=/);
    expect(example).toMatch(/openssl genpkey[^\n]*\nMESSAGING_JWT_KEY=/);
  });

  it('sets only variables that the service reads', () => {
    for (const name of Object.keys(compose.services.service?.environment ?? {})) expect(VARIABLES).toContain(name);
  });
});

describe('Dockerfile', () => {
  const dockerfile = read('Dockerfile');

  it('builds in one image and runs in another, not as root, with a health check', () => {
    expect(dockerfile.match(/^FROM /gm)).toHaveLength(2);
    expect(dockerfile).toMatch(/^USER node$/m);
    expect(dockerfile).toMatch(/^HEALTHCHECK /m);
    expect(dockerfile).toContain('npm ci --omit=dev');
  });

  it('copies nothing that .dockerignore keeps out', () => {
    const letIn = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, name]) => name);
    const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, names]) =>
      (names ?? '').split(' '),
    );
    expect(letIn.sort()).toEqual(copied.sort());
  });
});
