import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { COMPOSE } from '../support/deploy/nginx.ts';
import { composeFile, textOf } from '../support/deploy/project-files.ts';
import { killServers, serveProcess } from '../support/harness/program.ts';

const compose = composeFile();
const folder = mkdtempSync(join(tmpdir(), 'fourbeat-deploy-'));

afterAll(async () => {
  await killServers();
  rmSync(folder, { recursive: true, force: true });
});

describe('the dashboard and the alerts', () => {
  test('[O-12] name metrics that a node exposes', async () => {
    const node = await serveProcess(['--data', join(folder, 'metrics')]);
    const text = await (await fetch(`${node.url}/metrics`)).text();
    const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, a, b]) => [a, b]));
    const exposed = new Set(['up']);
    for (const [name = '', type] of types) {
      const suffixes = type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''];
      for (const suffix of suffixes) exposed.add(name + suffix);
    }
    const dashboard = JSON.parse(textOf('deploy/compose/grafana/dashboards/fourbeat.json'));
    const alerts = parse(textOf('deploy/compose/prometheus/alerts.yml'));
    interface Rule {
      alert: string;
      expr: string;
      labels: { severity: string };
      annotations: Record<string, string>;
    }
    const rules: Rule[] = alerts.groups.flatMap((group: { rules: Rule[] }) => group.rules);
    const expressions: string[] = [
      ...rules.map(({ expr }) => expr),
      ...dashboard.panels.flatMap((panel: { targets?: { expr: string }[] }) =>
        (panel.targets ?? []).map(({ expr }) => expr),
      ),
    ];
    expect(expressions.length).toBeGreaterThan(30);
    const named = new Set(
      expressions.flatMap(
        (expr) => expr.match(/\b(?:up|(?:fourbeat|process|nodejs)_\w+)\b(?!=|")/g) ?? [],
      ),
    );
    expect([...named].filter((name) => !exposed.has(name))).toEqual([]);
    expect(named.size).toBeGreaterThan(12);
    // And docs/operations.md says what to do.
    const docs = textOf('docs/operations.md');
    for (const { alert, labels, annotations } of rules) {
      expect(docs).toContain(alert);
      expect(['page', 'ticket']).toContain(labels.severity);
      expect(Object.keys(annotations).sort()).toEqual(['description', 'summary']);
    }
  });

  test('panels use the data source that is provisioned, and do not overlap', () => {
    const [source] = parse(
      textOf('deploy/compose/grafana/provisioning/datasources/prometheus.yaml'),
    ).datasources;
    const dashboard = JSON.parse(textOf('deploy/compose/grafana/dashboards/fourbeat.json'));
    const taken = new Set<string>();
    const ids = new Set<number>();
    for (const { id, datasource, gridPos: place, type } of dashboard.panels) {
      if (type !== 'row') expect(datasource.uid).toBe(source.uid);
      expect(ids.has(id)).toBe(false);
      ids.add(id);
      expect(place.x + place.w).toBeLessThanOrEqual(24);
      for (let x = place.x; x < place.x + place.w; x++) {
        for (let y = place.y; y < place.y + place.h; y++) {
          expect(taken.has(`${x} ${y}`)).toBe(false);
          taken.add(`${x} ${y}`);
        }
      }
    }
    const [provider] = parse(
      textOf('deploy/compose/grafana/provisioning/dashboards/fourbeat.yaml'),
    ).providers;
    const mounts = compose.services.grafana?.volumes?.map((mount) => mount.split(':')[1]);
    expect(mounts).toContain(provider.options.path);
  });

  test.skipIf(Bun.which('promtool') === null)(
    'promtool takes the rules, and they fire when they should',
    () => {
      const run = (...args: string[]) =>
        Bun.spawnSync(['promtool', ...args], { cwd: join(COMPOSE, 'prometheus') });
      expect(run('check', 'config', 'prometheus.yml').exitCode).toBe(0);
      expect(run('test', 'rules', 'alerts.test.yml').exitCode).toBe(0);
    },
  );
});
