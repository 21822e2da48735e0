import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Ajv from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { ROOT, textOf } from './project-files.ts';

/** The chart's folder, from package.json. */
export const CHART = 'deploy/helm/fourbeat';

/** Whether this machine can render the chart. */
export const HAS_HELM = Bun.which('helm') !== null;

// biome-ignore lint/suspicious/noExplicitAny: tests read manifests without types
export type Manifest = any;
export type Values = Record<string, unknown>;

/** The values of `values.yaml`. */
export const defaults: Values = parse(textOf(`${CHART}/values.yaml`));
export const schema = JSON.parse(textOf(`${CHART}/values.schema.json`));
/** Whether values match the chart's schema; `isValid.errors` says why not. */
export const isValid = new Ajv({ allErrors: true, strict: false }).compile(schema);

/** The values without which the chart does not render. */
export const NEEDED = {
  publicUrl: 'https://live.example.org',
  database: { url: 'postgres://fourbeat:word@db.internal:5432/fourbeat' },
  redis: { existingSecret: 'cache', existingSecretKey: 'url' },
};

/** Every option, with a group for each part of the roles. */
export const ALL = {
  ...NEEDED,
  ingress: { enabled: true, className: 'any', tlsSecret: 'certificate', annotations: { a: 'b' } },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  groups: [
    { name: 'web', roles: 'api,auth,polls,studio', replicas: 2, paths: ['/api/v1', '/studio/v1'] },
    {
      name: 'realtime',
      roles: 'view-counts,events',
      replicas: 4,
      paths: ['/api/v1/view-counts', '/api/v1/events-streams'],
      autoscaling: { enabled: true, minReplicas: 4, maxReplicas: 12, targetCPU: 60 },
      workers: 3,
      resources: { requests: { cpu: '4' } },
    },
    {
      name: 'media',
      roles: 'media',
      replicas: 1,
      paths: ['/media'],
      media: { storage: '40Gi', storageClass: 'fast', annotations: { shared: 'address' } },
    },
  ],
  nodeSelector: { disk: 'ssd' },
  tolerations: [{ key: 'live', operator: 'Exists' }],
  affinity: { podAntiAffinity: {} },
  priorityClassName: 'high',
  serviceAccountName: 'fourbeat',
  podAnnotations: { note: 'x' },
  podLabels: { team: 'live' },
  extraEnv: [{ name: 'TZ', value: 'UTC' }],
  extraVolumes: [{ name: 'authority', secret: { secretName: 'authority' } }],
  extraVolumeMounts: [{ name: 'authority', mountPath: '/etc/authority', readOnly: true }],
  image: { pullSecrets: [{ name: 'registry' }], tag: '1.2.3' },
};

/** Merges values like Helm: objects are merged, everything else is replaced. */
export function merged(base: Values, over: Values): Values {
  const result = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const old = result[key];
    const areObjects = [value, old].every((item) => item !== null && typeof item === 'object');
    const isMerged = areObjects && !Array.isArray(value);
    result[key] = isMerged ? merged(old as Values, value as Values) : value;
  }
  return result;
}

/** The example of `groups` in a comment of `values.yaml`. */
export function exampleGroups(): Values {
  const lines = /^# groups:\n(?:# .*\n)+/m.exec(textOf(`${CHART}/values.yaml`))?.[0] ?? '';
  return parse(lines.replace(/^# /gm, ''));
}

/**
 * Renders the chart with `helm template` as release `show`.
 * @returns the manifests by kind and name
 * @throws Error with the message of Helm
 */
export function manifestsOf(values: Values): Map<string, Manifest> {
  const manifests = new Map<string, Manifest>();
  for (const document of parseAllDocuments(rendered(values))) {
    for (const error of document.errors) throw new Error(error.message);
    const manifest = document.toJS();
    if (manifest === null) continue;
    const id = `${manifest.kind} ${manifest.metadata.name}`;
    if (manifests.has(id)) throw new Error(`the chart contains ${id} twice`);
    manifests.set(id, manifest);
  }
  return manifests;
}

export const manifestsOfKind = (manifests: Map<string, Manifest>, kind: string): Manifest[] =>
  [...manifests.values()].filter((manifest) => manifest.kind === kind);

function rendered(values: Values): string {
  const directory = mkdtempSync(join(tmpdir(), 'fourbeat-chart-'));
  try {
    const file = join(directory, 'values.json');
    writeFileSync(file, JSON.stringify(values));
    const command = ['helm', 'template', 'show', join(ROOT, CHART), '--namespace', 'live'];
    const { exitCode, stdout, stderr } = Bun.spawnSync([...command, '--values', file]);
    if (exitCode !== 0) throw new Error(stderr.toString());
    return stdout.toString();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
