import { describe, expect, test } from 'bun:test';
import { parse } from 'yaml';
import type { Operation } from '../../protocol/operation.ts';
import { studioApi } from '../../protocol/studio-api.ts';
import { viewerApi } from '../../protocol/viewer-api.ts';
import { SETTING_KEYS, SETTINGS, variableNameOf } from '../../server/platform/config.ts';
import {
  ALL,
  CHART,
  defaults,
  exampleGroups,
  HAS_HELM,
  isValid,
  type Manifest,
  manifestsOf,
  manifestsOfKind,
  merged,
  NEEDED,
  type Values,
} from '../support/deploy/chart.ts';
import { textOf } from '../support/deploy/project-files.ts';

test('the chart has the version of the program', () => {
  const { version } = JSON.parse(textOf('package.json'));
  expect(parse(textOf(`${CHART}/Chart.yaml`))).toMatchObject({ version, appVersion: version });
});

if (!HAS_HELM)
  console.log('SKIPPED: the tests of the rendered chart, because helm is not installed');

describe.skipIf(!HAS_HELM)('the chart, rendered by helm,', () => {
  test('the chart contains the manifests of one group, from the required values', () => {
    const ids = [...manifestsOf(NEEDED).keys()].sort();
    expect(ids).toEqual([
      'ConfigMap show-fourbeat',
      'Deployment show-fourbeat-node',
      'PodDisruptionBudget show-fourbeat-node',
      'Secret show-fourbeat',
      'Service show-fourbeat-node',
    ]);
  });

  test.each(['publicUrl', 'database', 'redis'] as const)(
    'the chart fails with a message when %s is missing',
    (key) => {
      const { [key]: _, ...others } = NEEDED;
      expect(() => manifestsOf(others)).toThrow('is needed');
    },
  );

  test('[N-1] the chart gives each node its settings, with backend urls from Secrets alone', () => {
    const manifests = manifestsOf(NEEDED);
    const [config] = manifestsOfKind(manifests, 'ConfigMap');
    const [deployment] = manifestsOfKind(manifests, 'Deployment');
    const [container] = deployment.spec.template.spec.containers;
    for (const [variable, text] of Object.entries<string>(config.data)) {
      const key = SETTING_KEYS.find((candidate) => variableNameOf(candidate) === variable);
      expect([variable, key !== undefined]).toEqual([variable, true]);
      if (key) SETTINGS[key].parse(text);
    }
    expect(container.envFrom).toEqual([{ configMapRef: { name: config.metadata.name } }]);
    const secretOf = (name: string) =>
      container.env.find((item: Manifest) => item.name === name).valueFrom.secretKeyRef;
    expect(secretOf('FOURBEAT_DATABASE')).toEqual({ name: 'show-fourbeat', key: 'database-url' });
    expect(secretOf('FOURBEAT_REDIS')).toEqual({ name: 'cache', key: 'url' });
    const [secret] = manifestsOfKind(manifests, 'Secret');
    expect(secret.stringData).toEqual({ 'database-url': NEEDED.database.url });
    const texts = ['ConfigMap', 'Deployment'].flatMap((kind) => manifestsOfKind(manifests, kind));
    expect(JSON.stringify(texts)).not.toContain('word@');
  });

  test('the chart contains no Secret when the operator has one for each backend', () => {
    const values = { ...NEEDED, database: { existingSecret: 'record' } };
    expect(manifestsOfKind(manifestsOf(values), 'Secret')).toEqual([]);
  });

  test('the chart restarts pods after a change of settings or of a Secret', () => {
    const checksumsOf = (values: Values) =>
      manifestsOfKind(manifestsOf(values), 'Deployment')[0].spec.template.metadata.annotations;
    const before = checksumsOf(NEEDED);
    expect(checksumsOf({ ...NEEDED, database: { url: 'postgres://a:b@c/d' } })).not.toEqual(before);
    const settings = { FOURBEAT_LOG_LEVEL: 'debug' };
    expect(checksumsOf({ ...NEEDED, settings })).not.toEqual(before);
    expect(checksumsOf(NEEDED)).toEqual(before);
  });

  test.each([
    ['required', NEEDED],
    ['all', ALL],
  ])('the chart has selectors and references that match, with %s values', (_, values) => {
    const manifests = manifestsOf(values);
    const deployments = manifestsOfKind(manifests, 'Deployment');
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
    // Each group has labels of its own.
    const selectors = deployments.map(({ spec }) => JSON.stringify(spec.selector));
    expect(new Set(selectors).size).toBe(names.length);
    for (const { spec } of manifestsOfKind(manifests, 'Ingress')) {
      for (const { backend, path, pathType } of spec.rules[0].http.paths) {
        expect(names).toContain(backend.service.name);
        expect(['/metrics', '/readyz', '/healthz']).not.toContain(path);
        expect(pathType).toBe(path === '/' ? 'Exact' : 'Prefix');
      }
    }
    for (const { spec } of manifestsOfKind(manifests, 'ServiceMonitor')) {
      const [service] = manifestsOfKind(manifests, 'Service');
      expect(service.metadata.labels).toMatchObject(spec.selector.matchLabels);
      expect(service.metadata.labels[spec.jobLabel]).toBe('fourbeat');
    }
  });

  test('[O-12] the chart gives the token of /metrics to the nodes and to Prometheus', () => {
    const values = {
      ...NEEDED,
      metricsToken: { existingSecret: 'metrics' },
      serviceMonitor: { enabled: true },
    };
    const token = { name: 'metrics', key: 'metrics-token' };
    const manifests = manifestsOf(values);
    const [deployment] = manifestsOfKind(manifests, 'Deployment');
    expect(deployment.spec.template.spec.containers[0].env).toContainEqual({
      name: 'FOURBEAT_METRICS_TOKEN',
      valueFrom: { secretKeyRef: token },
    });
    const [monitor] = manifestsOfKind(manifests, 'ServiceMonitor');
    expect(monitor.spec.endpoints[0].authorization).toEqual({ credentials: token });
  });

  test('[O-10] [O-11] [N-2] a pod has time to wait for backends and to drain, and no privileges', () => {
    const [deployment] = manifestsOfKind(manifestsOf(NEEDED), 'Deployment');
    const { spec } = deployment.spec.template;
    const [container] = spec.containers;
    expect(container.startupProbe.httpGet).toEqual({ path: '/healthz', port: 'http' });
    expect(container.livenessProbe.httpGet.path).toBe('/healthz');
    // While a backend is unavailable, all pods still serve a part of the routes (N-9, N-10).
    expect(container.readinessProbe.httpGet.path).toBe('/healthz');
    const { failureThreshold, periodSeconds } = container.startupProbe;
    expect(failureThreshold * periodSeconds).toBeGreaterThanOrEqual(3_600);
    const [, delay] = container.lifecycle.preStop.exec.command;
    expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(delay) + 10);
    expect(deployment.spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    expect(spec.automountServiceAccountToken).toBe(false);
    // The Dockerfile has the same user.
    expect(textOf('Dockerfile')).toContain(`USER ${spec.securityContext.runAsUser}:`);
    expect(spec.securityContext.runAsNonRoot).toBe(true);
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  test('the chart contains every option that is enabled', () => {
    const manifests = manifestsOf(ALL);
    const web = manifests.get('Deployment show-fourbeat-web').spec;
    const realtime = manifests.get('Deployment show-fourbeat-realtime').spec;
    const { spec } = realtime.template;
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
    expect(spec.containers[0].resources).toEqual({ requests: { cpu: '4' } });
    expect(web.replicas).toBe(2);
    expect(realtime.template.metadata.labels).toMatchObject(ALL.podLabels);
    const [ingress] = manifestsOfKind(manifests, 'Ingress');
    expect(ingress.spec.tls).toEqual([{ hosts: ['live.example.org'], secretName: 'certificate' }]);
    const [autoscaler] = manifestsOfKind(manifests, 'HorizontalPodAutoscaler');
    expect(autoscaler.spec).toMatchObject({ minReplicas: 4, maxReplicas: 12 });
  });

  test('[O-22] a group has its own number of gateway workers, or that of the chart', () => {
    const workersOf = (values: Values) =>
      manifestsOfKind(manifestsOf(values), 'Deployment').map(
        ({ spec }) =>
          spec.template.spec.containers[0].env.find(
            ({ name }: Manifest) => name === variableNameOf('workers'),
          ).value,
      );
    expect(workersOf(NEEDED)).toEqual([SETTINGS.workers.default]);
    expect(workersOf(ALL)).toEqual(['1', '3', '1']);
    expect(workersOf({ ...ALL, workers: 2 })).toEqual(['2', '3', '2']);
  });

  test('[M-2] [M-3] the group with the role media has a volume and a Service for its ports', () => {
    const manifests = manifestsOf(ALL);
    const [web, , media] = manifestsOfKind(manifests, 'Deployment').map(({ spec }) => spec);
    const [container] = media.template.spec.containers;
    expect(media.strategy).toEqual({ type: 'Recreate' });
    expect(media.template.spec.securityContext.fsGroup).toBe(10001);
    const mount = { name: 'video', mountPath: '/var/lib/fourbeat' };
    expect(container.volumeMounts).toContainEqual(mount);
    expect(textOf('Dockerfile')).toContain(`FOURBEAT_DATA=${mount.mountPath}`);
    const [claim] = manifestsOfKind(manifests, 'PersistentVolumeClaim');
    const claimName = claim.metadata.name;
    expect(media.template.spec.volumes).toContainEqual({
      name: 'video',
      persistentVolumeClaim: { claimName },
    });
    expect(claim.spec).toMatchObject({
      storageClassName: 'fast',
      resources: { requests: { storage: '40Gi' } },
    });
    const service = manifests.get('Service show-fourbeat-media-ingest');
    expect(service.metadata.annotations).toEqual({ shared: 'address' });
    expect(service.spec.type).toBe('LoadBalancer');
    for (const { name, port, targetPort, protocol } of service.spec.ports) {
      const containerPort = container.ports.find((item: Manifest) => item.name === targetPort);
      expect([name, containerPort.containerPort, containerPort.protocol]).toEqual([
        targetPort,
        port,
        protocol,
      ]);
    }
    const ports = service.spec.ports.map(({ port }: Manifest) => `${port}`);
    expect(ports).toEqual([SETTINGS.rtmpPort.default, SETTINGS.srtPort.default]);
    expect(web.template.spec.containers[0].ports).toHaveLength(1);
    expect(web.template.spec.volumes).toHaveLength(2);
  });

  test('[M-2] the group with the role media is never scaled', () => {
    const autoscaling = { enabled: true, minReplicas: 3, maxReplicas: 10, targetCPU: 60 };
    const manifests = manifestsOf({ ...ALL, autoscaling });
    expect(manifests.get('HorizontalPodAutoscaler show-fourbeat-web')).toBeDefined();
    expect(manifests.get('HorizontalPodAutoscaler show-fourbeat-media')).toBeUndefined();
    expect(manifests.get('Deployment show-fourbeat-media').spec.replicas).toBe(1);
    const [web, , media] = ALL.groups;
    const isValidWith = (group: object) => isValid(merged(defaults, { groups: [group] }));
    expect(isValidWith({ ...web, replicas: 2 })).toBe(true);
    expect(isValidWith({ ...media, replicas: 2 })).toBe(false);
  });

  test.each([
    ['the default groups', {}],
    ['the example groups of values.yaml', exampleGroups()],
  ])('[O-2] routes every operation to a group that serves it, with %s', (_, values) => {
    isValid(merged(defaults, values));
    expect(isValid.errors).toBeNull();
    const ingress = { enabled: true };
    const [{ spec }] = manifestsOfKind(manifestsOf({ ...NEEDED, ...values, ingress }), 'Ingress');
    const paths: { path: string; backend: Manifest }[] = spec.rules[0].http.paths;
    const groups = merged(defaults, values).groups as { name: string; roles: string }[];
    const operations: Operation[] = [...Object.values(viewerApi), ...Object.values(studioApi)];
    expect(operations.length).toBeGreaterThan(30);
    for (const { path, role } of operations) {
      const [best] = paths
        .filter((rule) => path === rule.path || path.startsWith(`${rule.path}/`))
        .sort((a, b) => b.path.length - a.path.length);
      const group = groups.find(({ name }) => best?.backend.service.name.endsWith(`-${name}`));
      const served = ['always', ...(group?.roles.split(',') ?? [])];
      const isServed = group?.roles === 'all' || served.includes(role);
      expect([path, best !== undefined, isServed]).toEqual([path, true, true]);
    }
  });
});
