import { fork } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Decoding } from '../src/decoder-process';
import { Decoders } from '../src/decoders';
import { ImageRewriter } from '../src/image-rewriter';
import { imageType } from '../src/image-type';
import { openQueues } from '../../../src/load/queues';
import { PATIENCE } from '../../../test/support/patience';
import { Gate } from '../../../test/support/gate';
import { longWebp } from '../../../test/support/hostile-images';
import { PNG, inspectImage } from '../../../test/support/images';
import { TYPESCRIPT } from '../../../test/support/service-process';
import { until } from '../../../test/support/until';

const DECODER = require.resolve('../src/image-decoder.cjs');
const LIMITS = { maxPixels: 25_000_000, maxFrames: 1_000_000 };
const SHARP = JSON.stringify(require.resolve('sharp'));
const PATIENT_MS = 60_000;
const READY = `process.send({ outcome: 'ready' });`;
/** A decoder that answers with its own id. */
const SAYS_ID = `${READY} process.on('message', () => process.send({ outcome: 'written', message: String(process.pid) }));`;
/** A decoder that writes its id into the folder, and is ready once a file `go` is there. */
const SAYS_ID_ONCE_THERE = (folder: string) => `
  const { existsSync, writeFileSync } = require('node:fs');
  writeFileSync(${JSON.stringify(folder)} + '/' + process.pid + '.id', '');
  process.on('message', () => process.send({ outcome: 'written', message: String(process.pid) }));
  const look = setInterval(() => {
    if (!existsSync(${JSON.stringify(folder)} + '/go')) return;
    clearInterval(look);
    process.send({ outcome: 'ready' });
  }, 5);`;
const idsIn = async (folder: string) =>
  (await readdir(folder)).filter((name) => name.endsWith('.id')).map((name) => name.slice(0, -3));
/** Hangs for minutes, as the decoder would without a limit of frames. process.exit would wait for it. */
const HANGS_AT_WEBP = `
  const sharp = require(${SHARP});
  const { writeFileSync } = require('node:fs');
  process.on('message', async ({ source, target, mime }) => {
    writeFileSync(target, String(process.pid));
    if (mime === 'image/webp') await sharp(source, { animated: true }).metadata();
    process.send({ outcome: 'written' });
  });
  ${READY}`;

describe('decoders', () => {
  let folder: string;
  let decoders: Decoders;
  const files: Record<string, Buffer> = { 'a.png': PNG, 'bomb.webp': longWebp(250_000) };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'decoders-'));
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
  });
  beforeEach(() => {
    decoders = new Decoders();
  });
  afterEach(async () => {
    await decoders.close();
    for (const name of await readdir(folder)) if (/\.id$|^go$/.test(name)) await rm(join(folder, name));
  });
  afterAll(() => rm(folder, { recursive: true }));

  const script = async (text: string) => {
    const path = join(folder, 'decoder.cjs');
    await writeFile(path, text);
    return path;
  };
  const begin = async (text: string, idleMs = PATIENT_MS) => {
    decoders = new Decoders({ script: await script(text), idleMs });
  };
  const decode = (milliseconds = PATIENT_MS) =>
    decoders.decode(
      { source: join(folder, 'a.png'), target: join(folder, 'b.png'), mime: 'image/png', ...LIMITS },
      milliseconds,
    );
  const isRunning = (pid: unknown) => {
    try {
      return process.kill(Number(pid), 0);
    } catch {
      return false;
    }
  };

  it('re-encode an image', async () => {
    expect(await decode()).toEqual({ outcome: 'written' });
    expect(await inspectImage(join(folder, 'b.png'))).toEqual({ format: 'png', width: 1, height: 1 });
  });

  it('are started once for many images', async () => {
    await begin(SAYS_ID);
    const { message } = await decode();
    expect([await decode(), await decode()]).toEqual(Array(2).fill({ outcome: 'written', message }));
  });

  it('start the first process before its image has arrived, and no second one', async () => {
    await begin(SAYS_ID_ONCE_THERE(folder));
    decoders.prepare();
    decoders.prepare();
    await until(async () => (await idsIn(folder)).length > 0);
    decoders.prepare();
    const answer = decode();
    await writeFile(join(folder, 'go'), '');
    const { message } = await answer;
    decoders.prepare();
    expect(await decode()).toMatchObject({ message });
    expect(await idsIn(folder)).toEqual([message]);
  });

  // guard image-decoders-18: a start that was too slow for its image is kept for the next one
  // packages/image-server/src/decoders.ts
  // - if (error instanceof TookTooLong) this.keep(starting);
  it('keep a start that was too slow for its image, so that a busy machine need not begin again', async () => {
    decoders = new Decoders({ script: await script(SAYS_ID_ONCE_THERE(folder)), waitMs: 1 });
    await expect(decode()).rejects.toHaveProperty('reason', 'images_unavailable');
    await until(async () => (await idsIn(folder)).length > 0);
    const [id] = await idsIn(folder);
    await writeFile(join(folder, 'go'), '');
    // A machine that is busy may take longer than a millisecond to tell that it is ready.
    await until(async () => (await decode().catch(() => undefined))?.message === id);
    expect(await idsIn(folder)).toEqual([id]);
  });

  it('run one process for each simultaneous image', async () => {
    await begin(SAYS_ID);
    const [one, other] = await Promise.all([decode(), decode()]);
    expect(one.message).not.toBe(other.message);
  });

  // guard image-decoders-9: an idle decoder ends
  // packages/image-server/src/decoders.ts
  // - setTimeout(() => void this.end(decoder), this.idleMs)
  // + setTimeout(() => {}, this.idleMs)
  it('end after a while without images, and others are started later', async () => {
    await begin(SAYS_ID, 20);
    const { message } = await decode();
    await until(() => !isRunning(message));
    expect((await decode()).message).not.toBe(message);
  });

  // guard image-decoders-10: no decoder is started once the service ends
  // packages/image-server/src/decoders.ts
  // - if (this.closed) throw decodersUnavailable();
  it('end when they are closed, and no other is started', async () => {
    await begin(SAYS_ID);
    const { message } = await decode();
    await decoders.close();
    expect(isRunning(message)).toBe(false);
    await expect(decode()).rejects.toHaveProperty('reason', 'images_unavailable');
  });

  // guard image-decoders-5: the image is not blamed for a decoder that has ended by itself
  // packages/image-server/src/decoder-process.ts
  // - reject(decodersUnavailable(cause))
  // + reject(cause)
  it('fail one image, which may be sent again, when one ends by itself', async () => {
    await begin(`${READY} process.on('message', () => process.abort());`);
    await expect(decode()).rejects.toHaveProperty('reason', 'images_unavailable');
    await script(SAYS_ID);
    expect(await decode()).toMatchObject({ outcome: 'written' });
  });

  // guard image-decoders-12: a decoder that has ended by itself is not asked
  // packages/image-server/src/decoders.ts
  // - findLast(({ isGone }) => !isGone)
  // + at(-1)
  it('do not fail an image when an idle one ends', async () => {
    await begin(SAYS_ID);
    const { message } = await decode();
    process.kill(Number(message), 'SIGKILL');
    await until(() => !isRunning(message));
    expect(await decode()).toMatchObject({ outcome: 'written' });
  });

  // guard image-decoders-14: answers of a decoder are validated
  // packages/image-server/src/decoder-process.ts
  // - return decoderAnswer.parse(
  // + return (
  it('are not trusted when an image has taken one over', async () => {
    await begin(`${READY} process.on('message', () => process.send({ outcome: 'all is mine', pid: process.pid }));`);
    await expect(decode()).rejects.toThrow('outcome');
  });

  // guard image-decoders-11: the image is not blamed for a decoder that cannot be started
  // packages/image-server/src/decoders.ts
  // - throw decodersUnavailable(error);
  // + throw error;
  it.each([
    ['does not start', 'throw new Error();'],
    ['begins with another message', `process.send({ outcome: 'written' }); setInterval(() => {}, 1_000);`],
  ])('do not blame the image when one %s', async (_what, text) => {
    await begin(text);
    await expect(decode()).rejects.toHaveProperty('reason', 'images_unavailable');
    await script(SAYS_ID);
    expect(await decode()).toMatchObject({ outcome: 'written' });
  });

  it('do not blame the image when there is no decoder', async () => {
    decoders = new Decoders({ script: join(folder, 'nothing.cjs') });
    await expect(decode()).rejects.toHaveProperty('reason', 'images_unavailable');
  });

  // guard image-decoders-13: a decoder does not get secrets of the service
  // packages/image-server/src/decoder-process.ts
  // - env: {},
  it('do not get the environment', async () => {
    await begin(
      `${READY} process.on('message', () => process.send({ outcome: 'written', message: Object.keys(process.env).join() }));`,
    );
    expect((await decode()).message).not.toMatch(/PATH|NODE_ENV/);
  });

  const onLinux = process.platform === 'linux' ? it : it.skip; // where a process tells of its threads
  // guard image-decoders-15: decoding has a lower priority than all other work
  // packages/image-server/src/image-decoder.cjs
  // - os.setPriority(1);
  // guard image-decoders-16: when memory runs out, decoding ends and not the service
  // packages/image-server/src/image-decoder.cjs
  // - writeFileSync('/proc/self/oom_score_adj', '1000');
  onLinux('leave the processors to others, with each of their threads, and end first without memory', async () => {
    await begin(
      `require(${JSON.stringify(DECODER)});
       const { readdirSync, readFileSync } = require('node:fs');
       const send = process.send.bind(process);
       process.send = (word) => send(word.outcome === 'ready' ? word : { ...word, message: nices() });
       const niceOf = (thread) => readFileSync('/proc/self/task/' + thread + '/stat', 'latin1').split(') ')[1].split(' ')[16];
       const nices = () => readdirSync('/proc/self/task').map(niceOf) + ' ' + readFileSync('/proc/self/oom_score_adj');`,
    );
    expect((await decode()).message?.trim()).toMatch(/1,1,1.* 1000$/);
  });

  // guard image-decoders-17: the image is not blamed for a full disk
  // packages/image-server/src/image-decoder.cjs
  // - /no space left|quota exceeded/i.test(message)
  // + false
  onLinux('tell when the disk is full', async () => {
    const image = { source: join(folder, 'a.png'), target: '/dev/full', mime: 'image/png', ...LIMITS };
    expect(await decoders.decode(image, PATIENT_MS)).toMatchObject({ outcome: 'no room' });
  });

  // guard image-decoders-8: decoders do not keep the service from ending
  // packages/image-server/src/decoder-process.ts
  // - this.child.unref();
  // - this.child.channel?.unref();
  it('do not keep the process from ending', async () => {
    const path = join(folder, 'ends.ts');
    await writeFile(
      path,
      `import { Decoders } from ${JSON.stringify(require.resolve('../src/decoders'))};
       const image = { source: ${JSON.stringify(join(folder, 'a.png'))}, target: ${JSON.stringify(join(folder, 'c.png'))} };
       void new Decoders().decode({ ...image, mime: 'image/png', ...${JSON.stringify(LIMITS)} }, 60_000).then(() => {
         // These keep the process from ending.
         console.log(process.getActiveResourcesInfo().join(' '));
       });`,
    );
    const child = fork(path, { execArgv: ['--require', TYPESCRIPT], stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    const [printed, ended] = await Promise.all([child.stdout && text(child.stdout), once(child, 'exit')]);
    expect(printed).not.toContain('Process');
    expect(ended).toEqual([0, null]);
    await access(join(folder, 'c.png'));
  });

  // guard image-decoders-7: a decoder ends with the service, also while it hangs
  // packages/image-server/src/image-decoder.cjs
  // - process.kill(process.pid, 'SIGKILL')
  // + process.exit()
  it('end with the process that started them, whatever they are doing', async () => {
    const image = { source: join(folder, 'bomb.webp'), target: join(folder, 'd.webp'), mime: 'image/webp', ...LIMITS };
    const decoder = await script(
      `const sharp = require(${SHARP});
       const { metadata } = sharp.prototype;
       sharp.prototype.metadata = function () {
         const reading = metadata.call(this);
         process.send('begun');
         return reading;
       };
       require(${JSON.stringify(DECODER)});`,
    );
    const path = join(folder, 'parent.cjs');
    await writeFile(
      path,
      `const decoder = require('node:child_process').fork(${JSON.stringify(decoder)});
       decoder.on('message', (word) => (word === 'begun' ? process.send(word) : decoder.send(${JSON.stringify(image)})));`,
    );
    const parent = fork(path, { execArgv: [], stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
    await once(parent, 'message');
    parent.kill('SIGKILL');
    // Open as long as one of the two runs.
    await once(parent.stdout ?? parent, 'close');
  });

  describe('in use', () => {
    const webp = imageType(files['bomb.webp'] ?? PNG);
    const png = imageType(PNG);
    const rewrite = (rewriter: ImageRewriter, user: string, name: string) => {
      const type = name.endsWith('.webp') ? webp : png;
      if (type === undefined) throw new Error('it is not an image');
      return rewriter.rewrite(user, join(folder, name), type, join(folder, `${user}.out`));
    };

    // guard image-decoders-1: decoding ends when it takes too long
    // packages/image-server/src/decoder-process.ts
    // - within(milliseconds, message)
    // + within(1e9, message)
    // guard image-decoders-2: a decoder that hangs is killed
    // packages/image-server/src/decoder-process.ts
    // - this.child.kill('SIGKILL');
    // + this.child.disconnect();
    // guard image-decoders-4: an image that took too long is told from one that cannot be read
    // packages/image-server/src/image-rewriter.ts
    // - hasCode(error, 'ETIMEDOUT')
    // + false
    // guard image-decoders-6: the place of an image that hangs is only free once its decoder has ended
    // packages/image-server/src/decoders.ts
    // - await this.end(decoder);
    // - throw error;
    // + void this.end(decoder);
    // + throw error;
    it('are ended after the limit, and their places are free for the next image only then', async () => {
      await begin(HANGS_AT_WEBP);
      const rewriter = new ImageRewriter(openQueues(PATIENCE).decoding, decoders, 2);
      const ends = ['ann', 'bob'].map(async (user) => {
        const refused = await rewrite(rewriter, user, 'bomb.webp').catch((error: unknown) => error);
        return { refused, isRunning: isRunning(await readFile(join(folder, `${user}.out`), 'utf8')) };
      });
      const next = rewrite(rewriter, 'dan', 'a.png');
      for (const { refused, isRunning } of await Promise.all(ends)) {
        expect(refused).toHaveProperty('reason', 'image_too_slow');
        expect(isRunning).toBe(false);
      }
      expect(await next).toBeGreaterThan(0);
    });

    // guard image-decoders-3: images of users who have used less are decoded first
    // packages/image-server/src/image-rewriter.ts
    // - this.queue.run(userId,
    // + this.queue.run('all',
    it('decode the image of a newcomer before those of users who already had one', async () => {
      const begun: Gate[] = [];
      let ended = 0;
      const users: string[] = [];
      const slow = {
        prepare: () => undefined,
        decode: async ({ target }: Decoding) => {
          const gate = new Gate();
          users.push(basename(target, '.out'));
          begun.push(gate);
          await gate.wait();
          await rm(target);
          return { outcome: 'unreadable' } as const;
        },
        close: () => Promise.resolve(),
      };
      const rewriter = new ImageRewriter(openQueues(PATIENCE).decoding, slow);
      const refused = (user: string) => expect(rewrite(rewriter, user, 'a.png')).rejects.toHaveProperty('status', 400);
      const endNext = async () => {
        await until(() => begun.length > ended);
        begun[ended++]?.open();
      };
      for (const user of ['eve', 'fay']) await Promise.all([refused(user), endNext()]);
      const all = ['eve', 'fay', 'eve', 'fay', 'newcomer'].map((user) => [refused(user), endNext()]);
      await Promise.all(all.flat());
      // After at most the two that may be in progress.
      expect(users.indexOf('newcomer')).toBeLessThan(5);
    });
  });
});
