import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { describedMetrics } from '../../scripts/describe/described-metrics';
import { ALERT_FAULTS } from '../faults/alert-faults';
import { ROOT } from '../support/service-process';

interface Rule {
  alert: string;
  expr: string;
  annotations: { summary: string; runbook: string };
}

interface Dashboard {
  panels: { title: string; targets: { expr: string }[] }[];
}

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8');
const { groups } = parse(read('deploy/observe/alerts.yml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const folder = 'deploy/observe/dashboards';
const panels = readdirSync(join(ROOT, folder)).flatMap(
  (name) => (JSON.parse(read(join(folder, name))) as Dashboard).panels,
);

/** Every series that the service shows without being used, and the parts of its histograms. */
async function knownNames(): Promise<Set<string>> {
  const metrics = await describedMetrics();
  const names = [...(await metrics.text()).matchAll(/^# TYPE (\w+) (\w+)/gm)];
  const parts = (name: string, type: string) =>
    type === 'histogram' ? ['_bucket', '_count', '_sum'].map((end) => name + end) : [name];
  // Prometheus makes this one itself.
  return new Set(['up', ...names.flatMap(([, name = '', type = '']) => parts(name, type))]);
}

/** Returns the names of metrics in a question to Prometheus: what stands before labels, a range or a comparison. */
function namesIn(expr: string): string[] {
  const words = expr.replace(/\{[^}]*\}/g, '{}').replace(/by \([^)]*\)/g, '');
  return [...words.matchAll(/\b([a-z]\w*_\w+|up)\b(?!\s*\()/g)].map(([, name = '']) => name);
}

describe('alerts', () => {
  it.each(rules.map((rule) => [rule.alert, rule] as const))(
    '%s asks for metrics that there are',
    async (_name, { expr }) => {
      const known = await knownNames();
      const names = namesIn(expr);
      expect(names).not.toEqual([]);
      expect(names.filter((name) => !known.has(name))).toEqual([]);
    },
  );

  it('each have a section of docs/alerts.md that says what it means, what to look at and what to do', () => {
    const sections = read('docs/alerts.md').split(/^## /m).slice(1);
    expect(sections.map((section) => section.split('\n')[0])).toEqual(rules.map(({ alert }) => alert));
    for (const section of sections)
      for (const part of ['**Meaning.**', '**Look at**', '**Do']) expect(section).toContain(part);
    for (const { alert, annotations } of rules)
      expect(annotations.runbook).toBe(`docs/alerts.md#${alert.toLowerCase()}`);
  });

  it('each have a fault in npm run faults -- --only=alerts, and were seen to fire under it', () => {
    const names = rules.map(({ alert }) => alert);
    expect(ALERT_FAULTS.map(({ alert }) => alert).sort()).toEqual([...names].sort());
    const rows = [...read('docs/alerts.md').matchAll(/^\| (\w+) \| (.+?) \| \d+ s \| \d+ s \|/gm)];
    expect(rows.map(([, alert]) => alert)).toEqual(names);
    for (const [, alert, title] of rows) expect(ALERT_FAULTS.find((fault) => fault.alert === alert)?.title).toBe(title);
  });

  it('each have a test that fires them, and all are silent in a quiet one', () => {
    const { tests } = parse(read('deploy/observe/alerts.test.yml')) as {
      tests: { name: string; alert_rule_test: { alertname: string; exp_alerts: unknown[] }[] }[];
    };
    const fired = tests.flatMap((test) => test.alert_rule_test.filter((one) => one.exp_alerts.length > 0));
    expect(fired.map(({ alertname }) => alertname)).toEqual(rules.map(({ alert }) => alert));
    const quiet = tests.find(({ name }) => name === 'quiet')?.alert_rule_test ?? [];
    expect(quiet.map(({ alertname }) => alertname)).toEqual(rules.map(({ alert }) => alert));
  });
});

describe('dashboards', () => {
  it('ask only for metrics that there are', async () => {
    const known = await knownNames();
    expect(panels.length).toBeGreaterThan(20);
    for (const { title, targets } of panels)
      for (const { expr } of targets) {
        const names = namesIn(expr);
        expect({ title, names: names.filter((name) => !known.has(name)) }).toEqual({ title, names: [] });
        expect(names).not.toEqual([]);
      }
  });
});
