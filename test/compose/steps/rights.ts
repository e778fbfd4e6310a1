import type { Deployment } from '../deployment';
import { docker } from '../docker';
import { nodeImage } from '../folder';
import { ensure, type Step } from '../step';

const NO_CAPABILITIES = '0000000000000000';

/** The rights of an attacker who has broken into a container. */
export const rights: Step = {
  name: 'rights',
  async play(stage) {
    const deployment = await stage.deployment();
    await stage.way();
    const user = await within(deployment, 'service', 'id -u');
    ensure(user !== '0', 'the service is root');
    const status = await within(deployment, 'service', 'cat /proc/1/status /proc/self/status');
    const found = [...status.matchAll(/^Cap(?:Prm|Eff|Bnd):\s*(\w+)$/gm)].map(([, set]) => set);
    ensure(found.length > 0 && found.every((set) => set === NO_CAPABILITIES), `the service has rights: ${status}`);
    ensure(/^NoNewPrivs:\s*1$/m.test(status), 'the service may get new rights');
    for (const service of ['service', 'proxy']) await cannotWriteRoot(deployment, service);
    await within(deployment, 'service', 'touch /data/.written && rm /data/.written');
    await cannotReachDatabase(deployment);
    return `the service is user ${user} without capabilities; what can be written is its volume; the proxy finds no database`;
  },
};

function within(deployment: Deployment, service: string, command: string): Promise<string> {
  return deployment.compose('exec', '-T', service, 'sh', '-c', command);
}

async function cannotWriteRoot(deployment: Deployment, service: string): Promise<void> {
  for (const folder of ['/', '/usr/bin', '/etc']) {
    const write = ['sh', '-c', `touch ${folder}/.written`];
    const { status, stderr } = await deployment.tryCompose('exec', '-T', '--user', 'root', service, ...write);
    ensure(status !== 0 && /read-only/i.test(stderr), `${service} can write to ${folder} ${stderr}`);
  }
}

/** Tries the database from the proxy's own networks, by name and by address. */
async function cannotReachDatabase(deployment: Deployment): Promise<void> {
  const [proxy, postgres] = [await deployment.onlyContainer('proxy'), await deployment.onlyContainer('postgres')];
  const template = '{{range .NetworkSettings.Networks}}{{.IPAddress}} {{.GlobalIPv6Address}} {{end}}';
  const addresses = (await deployment.inspect(postgres.id, template)).split(/\s+/).filter(isAddress);
  ensure(addresses.length > 0, 'the database has no address');
  for (const host of ['postgres', ...addresses]) {
    const connect = `require('net').connect({ host: '${host}', port: 5432, timeout: 3000 })
      .on('connect', () => process.exit(0)).on('timeout', () => process.exit(3)).on('error', () => process.exit(3))`;
    const beside = ['run', '--rm', '--network', `container:${proxy.id}`, nodeImage(), 'node', '-e', connect];
    ensure((await docker(beside)).status === 3, `the proxy can reach the database at ${host}`);
  }
}

const isAddress = (text: string) => /[.:]/.test(text);
