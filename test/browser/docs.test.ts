import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { startApp } from '../support/app';
import { accessibilityBarriers, installedChromium, launchChromium, openPage } from '../support/browser';
import { e164, newPhone } from '../support/people';
import { stage } from '../support/stage';
import { until } from '../support/until';

const chromium = installedChromium() ?? '';
if (chromium === '') process.stderr.write('The pages are NOT tested in a browser: no Chromium is installed.\n');

const PHONE: BrowserContextOptions = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };
const DONE = 'Done · HTTP 200, code 200';
/** Replaces waitForFunction, whose second look uses eval, which the page's policy forbids. */
const untilIn = (page: Page, holds: string) => until(() => page.evaluate<boolean>(holds));
const STEPS = ['Send the code', 'Verify the code', 'Register', 'Log in', 'Set the nickname', 'Synchronise'];

(chromium === '' ? describe.skip : describe)('in Chromium', () => {
  let browser: Browser;
  let misdeeds: string[] = [];

  beforeAll(async () => {
    browser = await launchChromium(chromium);
  });
  afterAll(() => browser.close());
  const { app } = stage();
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    expect(misdeeds).toEqual([]);
  });

  async function open(path: string, options: BrowserContextOptions = {}, of = app): Promise<Page> {
    const opened = await openPage(browser, `${of.url}${path}#inbox=${of.inboxToken}`, options);
    misdeeds = opened.misdeeds;
    return opened.page;
  }

  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const saidIn = (page: Page, step: number) => page.locator('.step output').nth(step);

  async function take(page: Page, step: number, says = DONE): Promise<void> {
    await button(page, STEPS[step] ?? '').click();
    await saidIn(page, step).getByText(says).waitFor();
  }

  async function fetchCode(page: Page): Promise<void> {
    await button(page, 'Fetch the code from the inbox').click();
    await untilIn(page, "document.querySelector('[name=code]').value !== ''");
  }

  async function signIn(page: Page): Promise<void> {
    await take(page, 0);
    await fetchCode(page);
    for (const step of [1, 2, 3]) await take(page, step);
  }

  /** Opens an operation of the reference, and its form. */
  async function openOperation(page: Page, id: string) {
    const operation = page.locator(`[id$="-${id}"].opblock`);
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('.execute').waitFor();
    return operation;
  }

  async function statusOf(page: Page, id: string): Promise<string> {
    const operation = page.locator(`[id$="-${id}"].opblock`);
    await operation.locator('.execute').click();
    return operation.locator('.live-responses-table .response .response-col_status').first().innerText();
  }

  const width = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth');

  describe('the first run', () => {
    it('goes from a phone without an account to a synchronised client', async () => {
      const page = await open('/docs');
      await signIn(page);
      for (const step of [4, 5]) await take(page, step);
      const answer = await page.locator('.step .body').nth(5).innerText();
      expect(JSON.parse(answer)).toMatchObject({
        code: 200,
        result: { user: { nickname: 'Ann Onymous' }, friends: [] },
      });
      const phone = await page.getByLabel('Phone', { exact: true }).inputValue();
      const [owner] = (await app.db('phones').where({ phone: `+44${phone}` })) as { user_id: string }[];
      expect(await app.db('users').where({ id: owner?.user_id })).toMatchObject([{ nickname: 'Ann Onymous' }]);
    });

    it('shows each call as a command for curl, and continues at the version of the answer', async () => {
      const page = await open('/docs');
      await page.getByLabel('Phone', { exact: true }).fill("79'11");
      expect(await page.locator('.curl').first().innerText()).toBe(
        `curl -b cookies.txt -c cookies.txt -X POST ${app.url}/user/send_code \\\n  -d '{"region":44,"phone":"79'\\''11"}'`,
      );
      await page.reload();
      await signIn(page);
      await take(page, 5);
      const { version } = (
        JSON.parse(await page.locator('.step .body').nth(5).innerText()) as { result: { version: number } }
      ).result;
      expect(await page.locator('.curl').nth(5).innerText()).toContain(`/user/sync/${version}`);
    });

    it('explains a refusal, and stays at the step', async () => {
      const page = await open('/docs');
      await take(page, 0);
      await page.getByLabel('Code', { exact: true }).fill('0');
      await take(page, 1, 'Refused');
      expect(await saidIn(page, 1).innerText()).toBe('Refused: wrong_code · HTTP 200, code 1000');
      expect(await page.locator('[aria-current=step] h3').innerText()).toBe('Verify the code');
    });

    it('lets the user type the code when messages are really sent', async () => {
      const real = {
        SMS_PROVIDER: 'twilio',
        TWILIO_ACCOUNT_SID: 'AC0',
        TWILIO_AUTH_TOKEN: 'x'.repeat(32),
        TWILIO_FROM: '+15005550006',
      };
      const sending = await startApp(real, { databaseUrl: app.databaseUrl, dataDir: app.dataDir });
      try {
        const page = await open('/docs', {}, sending);
        const { region, phone } = newPhone();
        await page.getByLabel('Calling code').fill(String(region));
        await page.getByLabel('Phone', { exact: true }).fill(String(phone));
        await take(page, 0);
        expect(await button(page, 'Fetch the code from the inbox').count()).toBe(0);
        expect(await page.getByRole('link', { name: 'Inbox' }).count()).toBe(0);
        await page.getByLabel('Code', { exact: true }).fill(sending.sms.codeFor(e164({ region, phone })));
        await take(page, 1);
      } finally {
        await sending.close();
      }
    });
  });

  describe('the reference', () => {
    it('tries a call with the cookie of the browser', async () => {
      const page = await open('/docs');
      await openOperation(page, 'userGroups');
      expect(await statusOf(page, 'userGroups')).toBe('401');
      await signIn(page);
      await page.locator('.response-col_status', { hasText: /^200/ }).first().waitFor();
      const answered = page.waitForResponse(`${app.url}/user/groups`);
      await statusOf(page, 'userGroups');
      expect(await (await answered).json()).toEqual({ code: 200, result: [] });
    });

    // guard browser-docs-1: the reference has a search
    // src/web/browser/reference.mjs
    // - layoutActions.updateFilter(target.value.trim())
    // + layoutActions
    it('finds operations by their path or group', async () => {
      const page = await open('/docs');
      const paths = page.locator('.opblock-summary-path');
      await paths.first().waitFor();
      const all = await paths.count();
      await page.getByLabel('Search the operations').fill('NickName');
      await untilIn(page, "document.querySelectorAll('.opblock').length === 1");
      expect(await paths.allInnerTexts()).toEqual(['/user/set_nickname']);
      await page.getByLabel('Search the operations').fill('');
      await untilIn(page, `document.querySelectorAll('.opblock').length === ${all}`);
    });

    // guard browser-docs-2: the reference folds the answers that most operations share
    // src/web/browser/reference.mjs
    // - responses.filterNot(isUsual)
    // + responses
    it('shows the answers that most operations share when the user asks', async () => {
      const page = await open('/docs');
      const operation = await openOperation(page, 'userSetNickname');
      const statuses = () => operation.locator('tr.response > .response-col_status').allInnerTexts();
      expect(await statuses()).toEqual(['200', '400', '429']);
      const folded = operation.getByRole('button', { name: /^Show answers common to most operations: 401, 403, 408/ });
      await folded.click();
      await operation.getByRole('button', { name: /^Hide answers common/ }).waitFor();
      expect(await statuses()).toEqual(expect.arrayContaining(['200', '403', '503']));
    });

    it('sends calls to this service even if the description names another address', async () => {
      const elsewhere = { PUBLIC_URL: 'http://accounts.example' };
      const named = await startApp(elsewhere, { databaseUrl: app.databaseUrl, dataDir: app.dataDir });
      try {
        const page = await open('/docs', {}, named);
        await openOperation(page, 'healthz');
        expect(await statusOf(page, 'healthz')).toBe('200');
      } finally {
        await named.close();
      }
    });
  });

  describe('the inbox', () => {
    it('opens only with the printed link, also with that of a later start in the same tab, and asks only then', async () => {
      const page = await (await browser.newContext()).newPage();
      let refused = 0;
      page.on('response', (response) => (refused += response.status() === 404 ? 1 : 0));
      await page.clock.install();
      await page.goto(`${app.url}/dev/inbox`);
      await page.getByText('The inbox needs its token: open the link that the service printed').waitFor();
      await page.clock.runFor(10_000);
      await page.goto(`${app.url}/dev/inbox#inbox=${app.inboxToken}`);
      await page.getByText(/^(Messages: |Nothing was sent)/).waitFor();
      expect([refused, page.url()]).toEqual([1, `${app.url}/dev/inbox`]);
      const again = page.waitForResponse('**/inbox.json');
      await page.clock.runFor(2_000);
      await again;
      await page.reload();
      await page.getByText(/^(Messages: |Nothing was sent)/).waitFor();
    });

    it('opens in another tab from the page /dev, which hands the token on, or says where it is', async () => {
      const { page } = await openPage(browser, `${app.url}/dev`);
      const note = page.getByText('open the link that the service printed');
      await note.waitFor();
      await page.goto(`${app.url}/dev#inbox=${app.inboxToken}`);
      await note.waitFor({ state: 'hidden' });
      const opened = page.context().waitForEvent('page');
      await page.getByRole('link', { name: 'Inbox' }).click({ modifiers: ['ControlOrMeta'] });
      await (await opened).getByText(/^(Messages: |Nothing was sent)/).waitFor();
    });

    it('is mentioned by the first run when the page was opened without the token', async () => {
      const { page } = await openPage(browser, `${app.url}/docs`);
      await take(page, 0);
      await button(page, 'Fetch the code from the inbox').click();
      await page.getByText('open the link that the service printed').waitFor();
      await page.goto(`${app.url}/docs#inbox=${app.inboxToken}`);
      await fetchCode(page);
    });

    it('shows a message as soon as it is sent', async () => {
      const page = await open('/dev/inbox');
      const { region, phone } = newPhone();
      await app.api.post('/user/send_code').send({ region, phone });
      const newest = page.locator('.message').first();
      await newest.getByText(e164({ region, phone })).waitFor();
      expect(await newest.locator('code').innerText()).toBe(app.sms.codeFor(e164({ region, phone })));
    });
  });

  it.each(['/docs', '/dev/inbox'])('fits on a phone: %s', async (path) => {
    await app.api.post('/user/send_code').send(newPhone());
    const page = await open(path, PHONE);
    if (path === '/docs') {
      await signIn(page);
      await openOperation(page, 'userSendCode');
      // Commands scroll in their boxes.
      expect(await page.evaluate<number>("document.querySelector('.curl').scrollWidth")).toBeGreaterThan(360);
    } else await page.locator('.message').first().waitFor();
    expect(await width(page)).toBe(360);
  });

  it('can be used by keyboard: in order, and with a visible focus', async () => {
    const page = await open('/docs');
    const seen: string[] = [];
    while (!seen.includes('Send the code')) {
      await page.keyboard.press('Tab');
      const name = `(document.activeElement.labels?.[0] ?? document.activeElement).textContent`;
      seen.push(await page.evaluate<string>(name));
      const outline = 'getComputedStyle(document.activeElement).outlineStyle';
      expect([seen.at(-1), await page.evaluate<string>(outline)]).toEqual([seen.at(-1), 'solid']);
    }
    expect(seen).toEqual([
      'First run',
      'Reference',
      'openapi.json',
      'Inbox',
      'Calling code',
      'Phone',
      expect.stringContaining('curl'),
      'Copy',
      'Send the code',
    ]);
    await page.keyboard.press('Enter');
    await saidIn(page, 0).getByText(DONE).waitFor();
    await button(page, 'Fetch the code from the inbox').focus();
    await page.keyboard.press('Space');
    await untilIn(page, "document.activeElement.name === 'code' && document.activeElement.value !== ''");
    await page.keyboard.press('Enter');
    await saidIn(page, 1).getByText(DONE).waitFor();
  });

  it.each(['light', 'dark'] as const)(
    'has no accessibility barriers that a program can find: %s',
    async (colorScheme) => {
      const page = await open('/docs', { colorScheme });
      await take(page, 0);
      await page.getByLabel('Code', { exact: true }).fill('0');
      await take(page, 1, 'Refused');
      await openOperation(page, 'userSendCode');
      await statusOf(page, 'userSendCode');
      expect(await accessibilityBarriers(page)).toEqual([]);
      const inbox = await open('/dev/inbox', { colorScheme });
      await inbox.locator('.message').first().waitFor();
      expect(await accessibilityBarriers(inbox)).toEqual([]);
    },
  );
});
