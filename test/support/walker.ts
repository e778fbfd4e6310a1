import type { TestApp } from './app';
import { post, type Answer } from './calls';
import { FoldingClient, type SyncResult, type SyncState } from './folding-client';
import { field, insertPerson, newPhone, signIn, verificationToken, type Person, type SignedInPerson } from './people';
import { fullState } from './sync';

export type Instances = readonly [TestApp, TestApp];

/** A user with a session on each of two instances, who uses them in turn, and a client that keeps a copy by sync. */
export class Walker {
  /** Odd while the account itself is changing, so that sessions may end. */
  moves = 0;
  readonly client: FoldingClient;
  private turn = 0;

  private constructor(
    private person: Person,
    private sessions: readonly [SignedInPerson, SignedInPerson],
    private readonly instances: Instances,
    private readonly asked: object | undefined,
    private readonly ask: (walker: Walker, path: string, body?: object) => Promise<Answer>,
  ) {
    this.client = new FoldingClient(async (version) => {
      const answer = await this.ask(this, `/user/sync/${version}`, this.asked);
      if (answer.status !== 200) throw new NotSynced(`sync: ${answer.status}`);
      return field(answer.body, 'result') as SyncResult;
    });
  }

  /** `ask` sends the client's requests. */
  static async start(
    instances: Instances,
    asked: object | undefined,
    ask: (walker: Walker, path: string, body?: object) => Promise<Answer>,
  ): Promise<Walker> {
    const person = await insertPerson(instances[0]);
    return new Walker(person, await signInAtBoth(instances, person), instances, asked, ask);
  }

  get id(): string {
    return this.person.id;
  }

  get isMoving(): boolean {
    return this.moves % 2 === 1;
  }

  post(path: string, body?: object): Promise<Answer> {
    this.turn += 1;
    return post(this.sessions[this.turn % 2 === 0 ? 0 : 1].agent, path, body);
  }

  fullState(): Promise<SyncState> {
    return fullState(this.sessions[0], this.asked);
  }

  /** Changes the phone, which ends the other session, and starts a new one there. */
  async changePhone(): Promise<Answer> {
    this.moves += 1;
    const { password } = this.person;
    const phone = newPhone();
    const verification_token = await verificationToken(this.instances[0], phone);
    const answer = await this.post('/user/change_phone', { password, verification_token });
    if (answer.status === 200) this.person = { ...this.person, ...phone };
    this.sessions = await signInAtBoth(this.instances, this.person);
    this.moves += 1;
    return answer;
  }

  /** Closes the account. `moves` stays odd after success, since every session has ended. */
  async close(): Promise<Answer> {
    this.moves += 1;
    const answer = await this.post('/user/close_account', { password: this.person.password });
    if (answer.status !== 200) this.moves += 1;
    return answer;
  }
}

export class NotSynced extends Error {}

async function signInAtBoth(instances: Instances, person: Person): Promise<readonly [SignedInPerson, SignedInPerson]> {
  return [await signIn(instances[0], person), await signIn(instances[1], person)];
}
