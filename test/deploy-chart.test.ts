import { describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import Ajv from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { ROLES } from '../protocol/operation.ts';
import { SETTING_KEYS, SETTINGS, variableOf } from '../server/config.ts';
import { Templates } from './deploy-template.ts';
import { ROOT, textOf } from './deploy-texts.ts';

const CHART = 'deploy/helm/fourbeat';

// biome-ignore lint/suspicious/noExplicitAny: manifests are looked at as they come
type Manifest = any;
type Values = Record<string, unknown>;

const defaults: Values = parse(textOf(`${CHART}/values.yaml`));
const schema = JSON.parse(textOf(`${CHART}/values.schema.json`));
const isValid = new Ajv({ allErrors: true, strict: false }).compile(schema);

const templates = new Templates();
const files = readdirSync(join(ROOT, CHART, 'templates'));
for (const file of files) {
  templates.add(`fourbeat/templates/${file}`, textOf(`${CHART}/templates/${file}`));
}

/** What an operator has to give. */
const NEEDED = {
  publicUrl: 'https://live.example.org',
  database: { url: 'postgres://fourbeat:word@db.internal:5432/fourbeat' },
  redis: { existingSecret: 'cache', existingSecretKey: 'url' },
};

/** Everything that can be switched on, and the roles apart. */
const ALL = {
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
      resources: { requests: { cpu: '2' } },
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
function merged(base: Values, over: Values): Values {
  const result = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const old = result[key];
    const areObjects = [value, old].every((one) => one !== null && typeof one === 'object');
    const merges = areObjects && !Array.isArray(value);
    result[key] = merges ? merged(old as Values, value as Values) : value;
  }
  return result;
}

function textFor(file: string, values: Values): string {
  const { name, version, appVersion } = parse(textOf(`${CHART}/Chart.yaml`));
  return templates.render(`fourbeat/templates/${file}`, {
    Values: merged(defaults, values),
    Chart: { Name: name, Version: version, AppVersion: appVersion },
    Release: { Name: 'show', Namespace: 'live', Service: 'Helm' },
    Template: { BasePath: 'fourbeat/templates' },
  });
}

/** The manifests, by kind and name. */
function manifestsOf(values: Values): Map<string, Manifest> {
  const found = new Map<string, Manifest>();
  for (const file of files.filter((name) => name.endsWith('.yaml'))) {
    for (const document of parseAllDocuments(textFor(file, values))) {
      expect([file, document.errors]).toEqual([file, []]);
      const manifest = document.toJS();
      if (manifest === null) continue;
      const id = `${manifest.kind} ${manifest.metadata.name}`;
      expect(found.has(id)).toBe(false);
      found.set(id, manifest);
    }
  }
  return found;
}

const pick = (manifests: Map<string, Manifest>, kind: string): Manifest[] =>
  [...manifests.values()].filter((manifest) => manifest.kind === kind);

describe('the schema of the values', () => {
  test.each([
    ['the defaults', {}],
    ['the least', NEEDED],
    ['everything', ALL],
  ])('takes %s', (_, values) => {
    isValid(merged(defaults, values));
    expect(isValid.errors).toBeNull();
  });

  test.each([
    ['a value that there is none of', { replicas: 3 }],
    ['an address that is none', { database: { url: 'mysql://db/x' } }],
    ['a setting that is no variable of the program', { settings: { LOG_LEVEL: 'info' } }],
    ['a setting that has a value of its own', { settings: { FOURBEAT_REDIS: 'redis://x' } }],
    ['a setting that is no text', { settings: { FOURBEAT_TRUST_PROXY: true } }],
    ['a role that there is none of', { groups: [{ ...ALL.groups[0], roles: 'api,chat' }] }],
    ['no group at all', { groups: [] }],
    ['less time than a drain takes', { terminationGracePeriodSeconds: 5 }],
  ])('refuses %s', (_, values) => {
    expect(isValid(merged(defaults, values))).toBe(false);
  });

  test('[O-2] knows the roles of the program, and only those', () => {
    const pattern = new RegExp(schema.properties.groups.items.properties.roles.pattern);
    for (const role of ['all', ...ROLES, ROLES.join(',')]) expect(role).toMatch(pattern);
  });
});

describe('the chart', () => {
  test('has the version of the program', () => {
    const { version } = JSON.parse(textOf('package.json'));
    expect(parse(textOf(`${CHART}/Chart.yaml`))).toMatchObject({ version, appVersion: version });
  });

  test('makes what is needed of the least values', () => {
    const ids = [...manifestsOf(NEEDED).keys()].sort();
    expect(ids).toEqual([
      'ConfigMap show-fourbeat',
      'Deployment show-fourbeat-node',
      'PodDisruptionBudget show-fourbeat-node',
      'Secret show-fourbeat',
      'Service show-fourbeat-node',
    ]);
  });

  test.each(['publicUrl', 'database', 'redis'] as const)('says so when %s is missing', (key) => {
    const { [key]: _, ...others } = NEEDED;
    expect(() => manifestsOf(others)).toThrow('is needed');
  });

  test('[N-1] gives each node its settings, with addresses from Secrets alone', () => {
    const manifests = manifestsOf(NEEDED);
    const [config] = pick(manifests, 'ConfigMap');
    const [deployment] = pick(manifests, 'Deployment');
    const [container] = deployment.spec.template.spec.containers;
    for (const [variable, text] of Object.entries<string>(config.data)) {
      const key = SETTING_KEYS.find((one) => variableOf(one) === variable);
      expect([variable, key !== undefined]).toEqual([variable, true]);
      if (key) SETTINGS[key].parse(text);
    }
    expect(container.envFrom).toEqual([{ configMapRef: { name: config.metadata.name } }]);
    const secretOf = (name: string) =>
      container.env.find((one: Manifest) => one.name === name).valueFrom.secretKeyRef;
    expect(secretOf('FOURBEAT_DATABASE')).toEqual({ name: 'show-fourbeat', key: 'database-url' });
    expect(secretOf('FOURBEAT_REDIS')).toEqual({ name: 'cache', key: 'url' });
    const [secret] = pick(manifests, 'Secret');
    expect(secret.stringData).toEqual({ 'database-url': NEEDED.database.url });
    const texts = ['ConfigMap', 'Deployment'].flatMap((kind) => pick(manifests, kind));
    expect(JSON.stringify(texts)).not.toContain('word@');
  });

  test('makes no Secret when both are the operator’s', () => {
    const values = { ...NEEDED, database: { existingSecret: 'record' } };
    expect(pick(manifestsOf(values), 'Secret')).toEqual([]);
  });

  test('new settings and a new password start new pods', () => {
    const checksumsOf = (values: Values) =>
      pick(manifestsOf(values), 'Deployment')[0].spec.template.metadata.annotations;
    const before = checksumsOf(NEEDED);
    expect(checksumsOf({ ...NEEDED, database: { url: 'postgres://a:b@c/d' } })).not.toEqual(before);
    const settings = { FOURBEAT_LOG_LEVEL: 'debug' };
    expect(checksumsOf({ ...NEEDED, settings })).not.toEqual(before);
    expect(checksumsOf(NEEDED)).toEqual(before);
  });

  test.each([
    ['the least', NEEDED],
    ['everything', ALL],
  ])('of %s: what belongs together finds each other', (_, values) => {
    const manifests = manifestsOf(values);
    const deployments = pick(manifests, 'Deployment');
    const names = deployments.map(({ metadata }) => metadata.name);
    for (const { metadata, spec } of deployments) {
      const { labels } = spec.template.metadata;
      const matches = (selector: Record<string, string>) =>
        Object.entries(selector).every(([key, value]) => labels[key] === value);
      expect(matches(spec.selector.matchLabels)).toBe(true);
      expect(matches(manifests.get(`Service ${metadata.name}`).spec.selector)).toBe(true);
      const budget = manifests.get(`PodDisruptionBudget ${metadata.name}`);
      expect(matches(budget.spec.selector.matchLabels)).toBe(true);
      const autoscaler = manifests.get(`HorizontalPodAutoscaler ${metadata.name}`);
      expect(spec.replicas === undefined).toBe(autoscaler !== undefined);
      if (autoscaler) expect(autoscaler.spec.scaleTargetRef.name).toBe(metadata.name);
    }
    // Labels of one group are not those of another.
    const selectors = deployments.map(({ spec }) => JSON.stringify(spec.selector));
    expect(new Set(selectors).size).toBe(names.length);
    for (const { spec } of pick(manifests, 'Ingress')) {
      for (const { backend, path } of spec.rules[0].http.paths) {
        expect(names).toContain(backend.service.name);
        expect(['/', '/metrics', '/readyz', '/healthz']).not.toContain(path);
      }
    }
    for (const { spec } of pick(manifests, 'ServiceMonitor')) {
      const [service] = pick(manifests, 'Service');
      expect(service.metadata.labels).toMatchObject(spec.selector.matchLabels);
      expect(service.metadata.labels[spec.jobLabel]).toBe('fourbeat');
    }
  });

  test('[O-10] [O-11] [N-2] a pod has time to wait for backends and to drain, and few rights', () => {
    const [deployment] = pick(manifestsOf(NEEDED), 'Deployment');
    const { spec } = deployment.spec.template;
    const [container] = spec.containers;
    expect(container.startupProbe.httpGet).toEqual({ path: '/healthz', port: 'http' });
    expect(container.livenessProbe.httpGet.path).toBe('/healthz');
    expect(container.readinessProbe.httpGet.path).toBe('/readyz');
    const { failureThreshold, periodSeconds } = container.startupProbe;
    expect(failureThreshold * periodSeconds).toBeGreaterThanOrEqual(3_600);
    const [, delay] = container.lifecycle.preStop.exec.command;
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(delay) + 10);
    expect(deployment.spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    expect(spec.automountServiceAccountToken).toBe(false);
    // The user of the Dockerfile.
    expect(textOf('Dockerfile')).toContain(`USER ${spec.securityContext.runAsUser}:`);
    expect(spec.securityContext.runAsNonRoot).toBe(true);
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  test('everything that is switched on arrives', () => {
    const manifests = manifestsOf(ALL);
    const web = manifests.get('Deployment show-fourbeat-web').spec;
    const beat = manifests.get('Deployment show-fourbeat-beat').spec;
    const { spec } = beat.template;
    expect(spec).toMatchObject({
      nodeSelector: ALL.nodeSelector,
      tolerations: ALL.tolerations,
      affinity: ALL.affinity,
      priorityClassName: ALL.priorityClassName,
      serviceAccountName: ALL.serviceAccountName,
      imagePullSecrets: ALL.image.pullSecrets,
    });
    expect(spec.volumes).toContainEqual(ALL.extraVolumes[0]);
    expect(spec.containers[0].volumeMounts).toContainEqual(ALL.extraVolumeMounts[0]);
    expect(spec.containers[0].env).toContainEqual(ALL.extraEnv[0]);
    expect(spec.containers[0].env).toContainEqual({
      name: 'FOURBEAT_ROLES',
      value: 'view-counts,events',
    });
    expect(spec.containers[0].image).toBe('fourbeat:1.2.3');
    expect(spec.containers[0].resources).toEqual({ requests: { cpu: '2' } });
    expect(web.replicas).toBe(2);
    expect(beat.template.metadata.labels).toMatchObject(ALL.podLabels);
    const [ingress] = pick(manifests, 'Ingress');
    expect(ingress.spec.tls).toEqual([{ hosts: ['live.example.org'], secretName: 'certificate' }]);
    const [autoscaler] = pick(manifests, 'HorizontalPodAutoscaler');
    expect(autoscaler.spec).toMatchObject({ minReplicas: 4, maxReplicas: 12 });
  });

  test('NOTES.txt says what to do next, in the words of this release', () => {
    const notes = textFor('NOTES.txt', NEEDED);
    expect(notes).toContain('exec deploy/show-fourbeat-node');
    expect(notes).toContain('port-forward svc/show-fourbeat-node 4250:80');
    expect(textFor('NOTES.txt', ALL)).not.toContain('port-forward');
  });
});
