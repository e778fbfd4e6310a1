import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { collectionOf, type Document, type Item } from '../../../scripts/describe/collection/collection';
import type { TestApp } from '../../support/app';
import { rememberSecret } from '../../support/secrets';
import { ROOT } from '../../support/service-process';
import { stage } from '../../support/stage';

const collection = collectionOf(JSON.parse(readFileSync(join(ROOT, 'docs/openapi.json'), 'utf8')) as Document);

/** Does what Postman does with a request: variables, cookies, and what a script keeps of the answer. */
class Player {
  readonly variables = new Map(collection.variable.map(({ key, value }) => [key, value]));
  private readonly agent: ReturnType<TestApp['agent']>;

  constructor(app: TestApp) {
    this.agent = app.agent();
    this.variables.set('base_url', '');
  }

  async play({ request: { url, header, body }, event = [] }: Item): Promise<unknown> {
    const path = (url.variable ?? []).reduce((raw, { key, value }) => raw.replace(`:${key}`, value), url.raw);
    const call = this.agent.post(this.filled(path));
    for (const { key, value } of header) call.set(key, value);
    const answered = await call.send(body?.mode === 'raw' ? this.filled(body.raw) : undefined);
    const answer: unknown = answered.body;
    const pm = { response: { json: () => answer }, collectionVariables: this.variables };
    for (const { script } of event) runInNewContext(script.exec.join('\n'), { pm });
    return answer;
  }

  private filled(text: string): string {
    return text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => this.variables.get(name) ?? '');
  }
}

describe('the collection for Postman', () => {
  const { app } = stage();

  it('leads from a phone to a synchronised client, with the requests of its first folder', async () => {
    const player = new Player(app);
    const answers: unknown[] = [];
    for (const item of collection.item[0]?.item ?? []) {
      answers.push(await player.play(item));
      if (item.name === '/user/send_code') player.variables.set('code', app.sms.codeFor('+447911123458'));
    }
    rememberSecret(player.variables.get('verification_token') ?? '');
    const done = { code: 200 };
    expect(answers).toMatchObject([done, done, done, done, { ...done, result: { user: { nickname: 'Ann' } } }, done]);
    expect(Number(player.variables.get('version'))).toBeGreaterThan(0);
  });
});
