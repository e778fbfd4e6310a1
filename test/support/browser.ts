import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** Chromium's sandbox does not work for root, and its other features would send requests to its maker. */
const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'];

export function installedChromium(): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((path) => existsSync(path));
}

export function launchChromium(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ARGS });
}

/** A page with its own profile, and its misdeeds: requests to other origins, breaches of its policy, errors. */
export interface WatchedPage {
  page: Page;
  misdeeds: string[];
}

export async function openPage(
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const misdeeds: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      misdeeds.push(message.text());
  });
  page.on('pageerror', (error) => misdeeds.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(`${new URL(url).origin}/`) && !request.url().startsWith('data:'))
      misdeeds.push(request.url());
  });
  await page.goto(url);
  return { page, misdeeds };
}

interface Violation {
  id: string;
  nodes: { html: string }[];
}

/** Returns what keeps people from using the page now, by the rules of WCAG 2.1 AA that a program can check. */
export async function accessibilityBarriers(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  const run = `axe.run({ runOnly: ${JSON.stringify(RULES)} }).then(({ violations }) => violations)`;
  const violations = await page.evaluate<Violation[]>(run);
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
