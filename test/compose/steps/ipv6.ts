import { writeFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { Person } from '../../faults/person';
import { dockerOutput } from '../docker';
import { nodeImage } from '../folder';
import { ensure, type Step } from '../step';

interface Told {
  own: string[];
  sessions: { ip: string; current: boolean }[];
}

type Networks = Record<string, { GlobalIPv6Address: string; NetworkID: string }>;

/** Two clients over IPv6, each at its own address, are seen at these addresses. */
export const ipv6: Step = {
  name: 'ipv6',
  async play(stage) {
    const deployment = await stage.deployment();
    const way = await stage.way();
    const person = new Person(way.calls, way.inbox, () => []);
    ensure(await person.arrive(), 'registration failed');
    const [password] = person.passwords;
    const login = JSON.stringify({ ...person.address, password });

    const { id } = await deployment.onlyContainer('proxy');
    const networks = JSON.parse(await deployment.inspect(id, '{{json .NetworkSettings.Networks}}')) as Networks;
    const network = Object.values(networks).find(({ GlobalIPv6Address }) => isIPv6(GlobalIPv6Address));
    if (!network) throw new Error('the proxy has no IPv6 address in any of its networks');
    const ca = join(deployment.folder, 'ca.crt');
    writeFileSync(ca, way.authority);
    const mounts = ['--volume', `${deployment.scripts}:/scripts:ro`, '--volume', `${ca}:/ca.crt:ro`];
    const guest = ['node', '/scripts/compose/in-container/guest.js', network.GlobalIPv6Address, login];
    const run = ['run', '--rm', '--network', network.NetworkID, ...mounts, nodeImage(), ...guest];
    const told = await Promise.all([1, 2].map(async () => JSON.parse(await dockerOutput(run)) as Told));

    const seen = told.map(({ own, sessions }) => {
      const ip = sessions.find(({ current }) => current)?.ip ?? 'none';
      ensure(isIPv6(ip) && own.includes(ip), `a client at ${own.join(', ')} is seen at ${ip}`);
      return ip;
    });
    ensure(new Set(seen).size === 2, `two clients are seen at ${seen.join(' and ')}`);
    return `two clients are seen at their own addresses, ${seen.join(' and ')}`;
  },
};
