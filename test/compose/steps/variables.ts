import type { Deployment } from '../deployment';
import { docker } from '../docker';
import { ensure, type Step } from '../step';

/** Mistakes of an operator. Each must be reported with the variable's name. */
const MISTAKES: [name: string, value: string | undefined][] = [
  ['MESSAGING_JWT_KEY', undefined],
  ['MESSAGING_JWT_KEY', 'no-key'],
  ['SMS_PROVIDER', undefined],
  ['SMS_PROVIDER', 'console'],
  ['TWILIO_AUTH_TOKEN', undefined],
  ['STORAGE_PROVIDER', undefined],
  ['STORAGE_PROVIDER', 'nowhere'],
  ['SESSION_SECRETS', 'short'],
  ['BCRYPT_COST', '4'],
  ['ALLOWED_REGIONS', 'Atlantis'],
];

/** Missing variables are reported before anything is built, wrong ones by the service before it listens. */
export const variables: Step = {
  name: 'variables',
  async play(stage) {
    const { image } = await stage.deployment();
    const deployment = await stage.another('variables');
    const { required } = deployment;
    for (const name of required) await isAskedFor(deployment, name);
    // Tags the existing build with this project's name.
    await docker(['tag', image, deployment.image]);
    for (const [name, value] of MISTAKES) await isRefused(deployment, name, value);
    return `${required.join(', ')} asked for before the build; ${MISTAKES.length} mistakes told by their names`;
  },
};

async function isAskedFor(deployment: Deployment, name: string): Promise<void> {
  deployment.configure({ [name]: undefined });
  const { status, stderr } = await deployment.tryCompose('up', '--build', '--detach');
  ensure(status !== 0 && stderr.includes(name), `without ${name} compose ends with ${status}: ${stderr}`);
  ensure(/set |openssl/.test(stderr), `without ${name} compose does not say what to do: ${stderr}`);
  const built = await docker(['image', 'inspect', deployment.image]);
  ensure(built.status !== 0, `without ${name} the image is built all the same`);
}

async function isRefused(deployment: Deployment, name: string, value: string | undefined): Promise<void> {
  deployment.configure({ [name]: value });
  const { status, stdout, stderr } = await deployment.tryCompose('run', '--rm', '--no-deps', '-T', 'service');
  const told = `${stdout}${stderr}`.split('\n').filter((line) => line.includes(`${name}`));
  ensure(status !== 0 && told.length > 0, `with ${name}=${value} the service ends with ${status}: ${stdout}${stderr}`);
}
