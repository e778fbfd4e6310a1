import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { VARIABLES } from '../../src/config/variables';
import { SERVICE_ROLE } from '../../src/database/service-role';
import { ROOT } from '../support/service-process';

const read = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8');
const own = (file: string) => read('deploy', 'high-availability', file);

interface Service {
  environment?: Record<string, string>;
  networks?: string[];
  cap_drop?: string[];
  read_only?: boolean;
  mem_limit?: string;
  pids_limit?: number;
}

interface Compose {
  services: Record<string, Service>;
  networks?: Record<string, { internal?: boolean }>;
  volumes: Record<string, unknown>;
}

const main = parse(read('docker-compose.yml'), { merge: true }) as Compose;
const overlay = parse(own('compose.yml'), { merge: true }) as Compose;
const added = Object.entries(overlay.services).filter(([name]) => !(name in main.services));

it('deploy/high-availability/patroni.yml resets a machine that stands still, where it can', () => {
  expect(parse(own('patroni.yml'))).toMatchObject({ watchdog: { mode: 'automatic', device: '/dev/watchdog' } });
});

describe('deploy/high-availability/compose.yml', () => {
  it('adds three etcd, three nodes and a proxy, locked down like the other containers', () => {
    expect(added.map(([name]) => name)).toEqual(['etcd1', 'etcd2', 'etcd3', 'node1', 'node2', 'node3', 'database']);
    for (const [name, { cap_drop, read_only, mem_limit, pids_limit, networks }] of added) {
      expect({ cap_drop, read_only, networks }).toEqual({
        cap_drop: ['ALL'],
        read_only: true,
        networks: name === 'database' ? ['cluster', 'database'] : ['cluster'],
      });
      expect([mem_limit, pids_limit]).not.toContain(undefined);
    }
    expect(overlay.networks).toEqual({ cluster: { internal: true } });
  });

  it('has three nodes and three etcd that differ only by their number', () => {
    for (const kind of ['node', 'etcd'])
      for (const number of ['2', '3']) {
        const first = JSON.stringify(overlay.services[`${kind}1`]);
        const lists =
          /etcd1=\S+?,etcd2=\S+?,etcd3=[^"]+|'etcd1:2379','etcd2:2379','etcd3:2379'|"depends_on":\{[^}]+\}+/g;
        const renamed = (text: string) => text.replace(lists, '').replaceAll(`${kind}1`, `${kind}${number}`);
        expect(renamed(JSON.stringify(overlay.services[`${kind}${number}`]))).toBe(renamed(first));
      }
    expect(Object.keys(overlay.volumes)).toEqual(['etcd1', 'etcd2', 'etcd3', 'node1', 'node2', 'node3']);
  });

  it('leads the service, backups and restores to the proxy, and the reads of a standby to its second port', () => {
    const { database, service, images, backup, restore } = overlay.services;
    expect(service?.environment).toEqual({
      DATABASE_URL: `postgresql://${SERVICE_ROLE}@database:5432/accounts`,
      DATABASE_MIGRATION_URL: 'postgresql://accounts_owner@database:5432/accounts',
      DATABASE_REPLICA_URL: `postgresql://${SERVICE_ROLE}@database:5433/accounts`,
      DATABASE_WAIT_SECONDS: '300',
    });
    expect(images?.environment?.DATABASE_URL).toBe(service?.environment?.DATABASE_URL);
    expect(backup?.environment).toEqual({ PGHOST: 'database', BACKUP_FROM: 'port=5433' });
    expect(restore?.environment).toMatchObject({ PGHOST: 'database' });
    expect(database?.environment).toEqual({ LISTEN: '0.0.0.0', NODE1: 'node1', NODE2: 'node2', NODE3: 'node3' });
    const proxy = own('haproxy.cfg');
    expect(
      [...proxy.matchAll(/bind "\$\{LISTEN\}:(\d+)"\s+option httpchk OPTIONS (\S+)/g)].map(([, ...rest]) => rest),
    ).toEqual([
      ['5432', '/primary'],
      ['5433', '/sync'],
    ]);
  });

  it('has the major version of the image that .env.example shows', () => {
    const example = read('.env.example');
    const [, major] = /POSTGRES_MAJOR=(\d+)/.exec(example) ?? [];
    expect(example).toContain(`# POSTGRES_IMAGE=postgres:${major}.`);
  });
});

interface Manifest {
  kind: string;
  metadata: { name: string };
  spec: {
    bootstrap?: { initdb: { postInitApplicationSQLRefs: { configMapRefs: { key: string }[] } } };
    template?: {
      spec: {
        containers: {
          env: { name: string; value?: string }[];
          ports: { name: string; containerPort: number }[];
          livenessProbe: { httpGet: { path: string; port: string } };
          readinessProbe: { httpGet: { path: string; port: string } };
        }[];
      };
    };
  };
}

describe('deploy/high-availability/kubernetes.yml', () => {
  const manifests = parseAllDocuments(own('kubernetes.yml')).map((document) => document.toJS() as Manifest);
  const of = (kind: string) => manifests.find((one) => one.kind === kind)?.spec;

  it('sets variables that the service reads, and addresses of services that the operator makes', () => {
    const [container] = of('Deployment')?.template?.spec.containers ?? [];
    const env = Object.fromEntries((container?.env ?? []).map(({ name, value }) => [name, value]));
    for (const name of Object.keys(env)) expect(VARIABLES).toContain(name);
    expect(env).toMatchObject({
      PORT: String(container?.ports.find(({ name }) => name === 'http')?.containerPort),
      METRICS_PORT: String(container?.ports.find(({ name }) => name === 'metrics')?.containerPort),
      DATABASE_URL: `postgresql://${SERVICE_ROLE}@accounts-rw:5432/accounts`,
      DATABASE_REPLICA_URL: `postgresql://${SERVICE_ROLE}@accounts-ro:5432/accounts`,
    });
    expect(container?.livenessProbe.httpGet).toEqual({ path: '/healthz', port: 'http' });
    expect(container?.readinessProbe.httpGet).toEqual({ path: '/readyz', port: 'http' });
  });

  it('makes the roles by the files that docs/high-availability.md puts into their map', () => {
    const page = read('docs', 'high-availability.md');
    const keys = of('Cluster')?.bootstrap?.initdb.postInitApplicationSQLRefs.configMapRefs.map(({ key }) => key);
    expect(keys).toEqual(['1-roles.sql', 'remote-apply.sql']);
    expect(page).toContain(
      '--from-file=deploy/postgres/1-roles.sql --from-file=deploy/high-availability/remote-apply.sql',
    );
  });
});
