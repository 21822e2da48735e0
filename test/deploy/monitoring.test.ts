import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { COMPOSE } from '../support/deploy/nginx.ts';
import { readComposeFile, textOf } from '../support/deploy/project-files.ts';
import { killServers, serveProcess } from '../support/harness/program.ts';

const compose = readComposeFile();
const folder = mkdtempSync(join(tmpdir(), 'fourbeat-deploy-'));

afterAll(async () => {
  await killServers();
  rmSync(folder, { recursive: true, force: true });
});

describe('the Grafana dashboard and the Prometheus alerts', () => {
  test('[O-12] dashboard and alerts use only metrics that a node exposes', async () => {
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
    const used = new Set(
      expressions.flatMap(
        (expr) => expr.match(/\b(?:up|(?:fourbeat|process|nodejs)_\w+)\b(?!=|")/g) ?? [],
      ),
    );
    expect([...used].filter((name) => !exposed.has(name))).toEqual([]);
    expect(used.size).toBeGreaterThan(12);
    for (const { labels, annotations } of rules) {
      expect(['page', 'ticket']).toContain(labels.severity);
      expect(Object.keys(annotations).sort()).toEqual(['description', 'summary']);
    }
  });

  test('dashboard panels use the provisioned data source and do not overlap', () => {
    const [source] = parse(
      textOf('deploy/compose/grafana/provisioning/datasources/prometheus.yaml'),
    ).datasources;
    const dashboard = JSON.parse(textOf('deploy/compose/grafana/dashboards/fourbeat.json'));
    const usedCells = new Set<string>();
    const ids = new Set<number>();
    for (const { id, datasource, gridPos, type } of dashboard.panels) {
      if (type !== 'row') expect(datasource.uid).toBe(source.uid);
      expect(ids.has(id)).toBe(false);
      ids.add(id);
      expect(gridPos.x + gridPos.w).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          expect(usedCells.has(`${x} ${y}`)).toBe(false);
          usedCells.add(`${x} ${y}`);
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
    'promtool accepts the alerts, and their unit tests pass',
    () => {
      const run = (...args: string[]) =>
        Bun.spawnSync(['promtool', ...args], { cwd: join(COMPOSE, 'prometheus') });
      expect(run('check', 'config', 'prometheus.yml').exitCode).toBe(0);
      expect(run('test', 'rules', 'alerts.test.yml').exitCode).toBe(0);
    },
  );
});
