import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { Templates } from './template.ts';
import { ROOT, textOf } from './project-files.ts';

/** The chart's folder, from package.json. */
export const CHART = 'deploy/helm/fourbeat';

// biome-ignore lint/suspicious/noExplicitAny: manifests are looked at as they come
export type Manifest = any;
export type Values = Record<string, unknown>;

/** The values of `values.yaml`. */
export const defaults: Values = parse(textOf(`${CHART}/values.yaml`));
/** The schema of the values. */
export const schema = JSON.parse(textOf(`${CHART}/values.schema.json`));
/** Whether values fit the chart's schema; `errors` has why not. */
export const isValid = new Ajv({ allErrors: true, strict: false }).compile(schema);

const templates = new Templates();
const files = readdirSync(join(ROOT, CHART, 'templates'));
for (const file of files) {
  templates.add(`fourbeat/templates/${file}`, textOf(`${CHART}/templates/${file}`));
}

/** What an operator has to give. */
export const NEEDED = {
  publicUrl: 'https://live.example.org',
  database: { url: 'postgres://fourbeat:word@db.internal:5432/fourbeat' },
  redis: { existingSecret: 'cache', existingSecretKey: 'url' },
};

/** Everything that can be switched on, and the roles apart. */
export const ALL = {
  ...NEEDED,
  ingress: { enabled: true, className: 'any', tlsSecret: 'certificate', annotations: { a: 'b' } },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  groups: [
    { name: 'web', roles: 'api,auth,polls,studio', replicas: 2, paths: ['/api/v1', '/studio/v1'] },
    {
      name: 'beat',
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

/** Values as Helm has them: objects are merged, all else is replaced. */
export function merged(base: Values, over: Values): Values {
  const result = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const old = result[key];
    const areObjects = [value, old].every((one) => one !== null && typeof one === 'object');
    const merges = areObjects && !Array.isArray(value);
    result[key] = merges ? merged(old as Values, value as Values) : value;
  }
  return result;
}

export function textFor(file: string, values: Values): string {
  const { name, version, appVersion } = parse(textOf(`${CHART}/Chart.yaml`));
  return templates.render(`fourbeat/templates/${file}`, {
    Values: merged(defaults, values),
    Chart: { Name: name, Version: version, AppVersion: appVersion },
    Release: { Name: 'show', Namespace: 'live', Service: 'Helm' },
    Template: { BasePath: 'fourbeat/templates' },
  });
}

/** The groups in a comment of `values.yaml`, for people who want the roles apart. */
export function groupsShown(): Values {
  const lines = /^# groups:\n(?:# .*\n)+/m.exec(textOf(`${CHART}/values.yaml`))?.[0] ?? '';
  return parse(lines.replace(/^# /gm, ''));
}

/** The manifests, by kind and name. */
export function manifestsOf(values: Values): Map<string, Manifest> {
  const found = new Map<string, Manifest>();
  for (const file of files.filter((name) => name.endsWith('.yaml'))) {
    for (const document of parseAllDocuments(textFor(file, values))) {
      for (const error of document.errors) throw new Error(`${file}: ${error.message}`);
      const manifest = document.toJS();
      if (manifest === null) continue;
      const id = `${manifest.kind} ${manifest.metadata.name}`;
      if (found.has(id)) throw new Error(`${id} is there twice`);
      found.set(id, manifest);
    }
  }
  return found;
}

/** All manifests of a kind. */
export const pick = (manifests: Map<string, Manifest>, kind: string): Manifest[] =>
  [...manifests.values()].filter((manifest) => manifest.kind === kind);
