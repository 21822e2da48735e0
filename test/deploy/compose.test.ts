import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROLES } from '../../protocol/operation.ts';
import { SETTING_KEYS, SETTINGS, variableNameOf } from '../../server/platform/config.ts';
import { freePort } from '../support/backends/free-port.ts';
import {
  openCommandConnection,
  redisBinary,
  redisCommand,
} from '../support/backends/redis-program.ts';
import { binaryOf, unprivileged } from '../support/backends/server-programs.ts';
import { rawHead } from '../support/conformance/raw-http.ts';
import { COMPOSE, checkNginx, startNginxOnFreePort } from '../support/deploy/nginx.ts';
import { type ComposeService, readComposeFile, textOf } from '../support/deploy/project-files.ts';
import { killServers, serveProcess } from '../support/harness/program.ts';
import { until } from '../support/until.ts';

const VARIABLES = SETTING_KEYS.map(variableNameOf);
const NODES = [1, 2, 3];

const compose = readComposeFile();
const folder = mkdtempSync(join(tmpdir(), 'fourbeat-deploy-'));

afterAll(async () => {
  await killServers();
  rmSync(folder, { recursive: true, force: true });
});

describe('deploy/compose', () => {
  test('[O-7] the Compose file uses settings that exist, with valid values', () => {
    for (const name of [...NODES.map((n) => `node${n}`), 'media']) {
      const { environment = {} } = compose.services[name] as ComposeService;
      const given = new Map(Object.entries(environment));
      for (const [variable, text] of given) {
        expect(VARIABLES).toContain(variable);
        const key = SETTING_KEYS[VARIABLES.indexOf(variable)] as keyof typeof SETTINGS;
        SETTINGS[key].parse(substituted(text));
      }
      for (const needed of ['FOURBEAT_DATABASE', 'FOURBEAT_REDIS', 'FOURBEAT_PUBLIC_URL']) {
        expect(given.has(needed)).toBe(true);
      }
    }
  });

  test('[O-2] each role runs on the three nodes or on the media node', () => {
    const rolesOf = (name: string) =>
      compose.services[name]?.environment?.FOURBEAT_ROLES?.split(',') ?? [];
    for (const n of NODES) {
      expect([...rolesOf(`node${n}`), ...rolesOf('media')].sort()).toEqual([...ROLES].sort());
    }
    expect(rolesOf('media')).toEqual(['media']);
  });

  test('[H-17] services that send webhooks have a network with a way to the internet', () => {
    const senders = Object.entries(compose.services).filter(([, { environment = {} }]) =>
      environment.FOURBEAT_ROLES?.split(',').includes('studio'),
    );
    expect(senders.map(([name]) => name)).toEqual(NODES.map((n) => `node${n}`));
    for (const [name, { networks = [] }] of senders) {
      const names = Array.isArray(networks) ? networks : Object.keys(networks);
      const open = names.filter((network) => !compose.networks[network]?.internal);
      expect([name, open]).toEqual([name, ['outside']]);
    }
  });

  test('[O-10] nodes have the health check of the image', () => {
    for (const name of [...NODES.map((n) => `node${n}`), 'media']) {
      expect([name, compose.services[name]?.healthcheck]).toEqual([name, undefined]);
    }
    expect(textOf('Dockerfile')).toMatch(/^HEALTHCHECK [^\n]*\\\n[^\n]*\/readyz/m);
  });

  test('[O-22] the three nodes have the workers of .env, the media node has one', () => {
    const workersOf = (name: string) => compose.services[name]?.environment?.FOURBEAT_WORKERS;
    for (const n of NODES) expect(workersOf(`node${n}`)).toMatch(/^\$\{WORKERS:-1\}$/);
    expect(workersOf('media')).toBe('1');
  });

  test('each variable of the Compose file is in .env.example, which contains no password', () => {
    const example = textOf('deploy/compose/.env.example');
    const examples = new Map(
      [...example.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
    );
    const used = [...textOf('deploy/compose/compose.yaml').matchAll(/(?<!\$)\$\{([A-Z_]+)/g)];
    expect(new Set(used.map(([, name]) => name))).toEqual(new Set(examples.keys()));
    for (const [name, value] of examples) {
      if (name.endsWith('PASSWORD')) expect(value).toBe('');
    }
    expect(textOf('deploy/compose/.gitignore').split('\n')).toContain('.env');
  });

  test('nginx has the addresses of all nodes, and Prometheus their names', () => {
    const addresses = [...NODES.map((n) => `node${n}`), 'media'].map((name) => {
      const { networks } = compose.services[name] as ComposeService;
      return (networks as Record<string, { ipv4_address: string }>).inside?.ipv4_address;
    });
    const servers = textOf('deploy/compose/nginx/nginx.conf').match(/(?<=^ {4}server )[\d.:]+/gm);
    const expected = addresses.map((address) => `${address}:4250`);
    const nodes = expected.slice(0, -1);
    expect([...(servers ?? [])]).toEqual([...nodes, ...expected]);
    const prometheus = parse(textOf('deploy/compose/prometheus/prometheus.yml'));
    const [job] = prometheus.scrape_configs;
    const names = [...NODES.map((n) => `node${n}`), 'media'];
    expect(job.static_configs[0].targets).toEqual(names.map((name) => `${name}:4250`));
  });

  test('[O-11] every service has a fixed version, restarts by itself and has time to stop', () => {
    for (const [name, service] of Object.entries(compose.services)) {
      expect([name, service.restart]).toEqual([name, 'unless-stopped']);
      if (/^(node|media)/.test(name)) expect(service.stop_grace_period).toBe('15s');
      expect(service.image).toMatch(/^[\w./-]+:(?!latest)[\w.-]+$/);
    }
  });

  test('[M-2] [M-3] only nginx, the media ports and, on loopback, the monitoring are published', () => {
    expect(compose.networks.inside?.internal).toBe(true);
    const published = Object.entries(compose.services).filter(([, { ports }]) => ports);
    expect(published.map(([name]) => name).sort()).toEqual([
      'grafana',
      'media',
      'nginx',
      'prometheus',
    ]);
    expect(compose.services.media?.ports).toEqual([
      `0.0.0.0:${SETTINGS.rtmpPort.default}:1935`,
      `0.0.0.0:${SETTINGS.srtPort.default}:10080/udp`,
    ]);
    for (const name of ['grafana', 'prometheus']) {
      expect(compose.services[name]?.ports?.[0]).toMatch(
        /^\$\{MONITORING_ADDRESS:-127\.0\.0\.1\}:/,
      );
    }
  });

  test('the Compose file mounts files that exist', () => {
    const mounts = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes);
    for (const mount of mounts) {
      const [source = ''] = mount.split(':');
      if (source.startsWith('./'))
        expect([source, existsSync(COMPOSE + source)]).toEqual([source, true]);
      else expect(Object.keys(compose.volumes)).toContain(source);
    }
  });

  test('nginx accepts its configuration, with and without TLS, without a warning', async () => {
    expect(checkNginx({ port: 8080, nodes: NODES }).output).not.toMatch(/\[(warn|emerg|crit)\]/);
    const { ok, output } = checkNginx({ port: 8080, nodes: NODES, edit: (text) => `${text}\nx;` });
    expect([ok, output.includes('unknown directive')]).toEqual([false, true]);
    const { port } = new URL((await serveProcess(['--data', join(folder, 'tls')])).url);
    const tlsPort = await freePort();
    const nginx = await startNginxOnFreePort({
      nodes: [port, port, port].map(Number),
      tls: textOf('deploy/compose/nginx/tls.conf.example')
        .replace('listen 8443', `listen 127.0.0.1:${tlsPort}`)
        .replaceAll('/etc/nginx/tls', 'DIRECTORY'),
    });
    try {
      const options = { tls: { rejectUnauthorized: false } };
      const response = await fetch(`https://127.0.0.1:${tlsPort}/api/v1/time`, options);
      expect(response.status).toBe(200);
      expect(response.headers.get('strict-transport-security')).toContain('max-age');
    } finally {
      await nginx.stop();
    }
  });

  test('[L-4] [L-15] a client reaches one node by paths with a limit for its address, whatever credential it sends', async () => {
    const nodes = NODES.map((n) =>
      Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(`${n}`) }),
    );
    const nginx = await startNginxOnFreePort({ nodes: nodes.map(({ port }) => port as number) });
    const nodesOf = async (method: string, path: string) => {
      const responses = Array.from({ length: 30 }, (_, n) =>
        fetch(nginx.url + path, { method, headers: { Authorization: `Bearer ${n}` } }),
      );
      const texts = await Promise.all((await Promise.all(responses)).map((each) => each.text()));
      return new Set(texts).size;
    };
    try {
      for (const path of [
        '/api/v1/token',
        '/studio/v1/session/',
        '/studio/v1/invitations/accept',
      ]) {
        expect([path, await nodesOf('POST', path)]).toEqual([path, 1]);
      }
      for (const path of ['/api/v1/view-counts/a', '/studio/v1/sessions']) {
        expect([path, await nodesOf('GET', path)]).toEqual([path, NODES.length]);
      }
    } finally {
      await nginx.stop();
      for (const node of nodes) await node.stop(true);
    }
  });

  test('[L-21] requests for video that read nothing take at most 64 MB of nginx for an address, and its container has a limit', () => {
    const config = textOf('deploy/compose/nginx/nginx.conf').replace(/#.*$/gm, '');
    const block = config.split('location /media/ {')[1]?.split('}')[0] ?? '';
    const [, count, sizeKb] = /proxy_buffers (\d+) (\d+)k;/.exec(block) ?? [];
    const [, requests] = /limit_conn media (\d+);/.exec(block) ?? [];
    const HEAD_KB = 4;
    expect(Number(requests) * (Number(count) * Number(sizeKb) + HEAD_KB)).toBeLessThan(64 * 1024);
    // A location with a limit has none of the server.
    expect(block).toContain('limit_conn address 20000;');
    expect(config).toMatch(/send_timeout 15s;/);
    expect(compose.services.nginx?.mem_limit).toMatch(/^\$\{NGINX_MEMORY:-2g\}$/);
  });

  test('[L-21] nginx rejects the 401st request for video in progress of an address, and other requests go on', async () => {
    // Each segment has a first byte, and no end.
    const start = (controller: ReadableStreamDefaultController) => controller.enqueue('x');
    const fetchSegment = () => new Response(new ReadableStream({ start }));
    const node = Bun.serve({
      ...{ hostname: '127.0.0.1', port: 0, idleTimeout: 0 },
      fetch: ({ url }) => (url.includes('/media/') ? fetchSegment() : new Response('')),
    });
    const port = node.port as number;
    const nginx = await startNginxOnFreePort({ nodes: [port, port, port] });
    const at = new URL(nginx.url);
    const clients: Socket[] = [];
    /** The status of a request that stays in progress. */
    const statusOf = () =>
      new Promise<string>((resolve, reject) => {
        const client = connect({ host: at.hostname, port: Number(at.port) });
        clients.push(client);
        client.once('error', reject);
        client.once('data', (bytes) => resolve(bytes.toString('latin1', 9, 12)));
        client.write(rawHead('GET /media/a/v0/1-1.m4s', {}));
      });
    try {
      const accepted: string[] = [];
      for (let n = 0; n < 8; n++) {
        accepted.push(...(await Promise.all(Array.from({ length: 50 }, statusOf))));
      }
      expect(new Set(accepted)).toEqual(new Set(['200']));
      expect(await statusOf()).toBe('429');
      expect((await fetch(`${nginx.url}/api/v1/time`)).status).toBe(200);
    } finally {
      for (const client of clients) client.destroy();
      await nginx.stop();
      await node.stop(true);
    }
  });

  test('nginx closes idle connections before the node does, caches nothing, and does not buffer streams', () => {
    const config = textOf('deploy/compose/nginx/nginx.conf').replace(/#.*$/gm, '');
    const idleS = Number(
      /IDLE_TIMEOUT_S = (\d+)/.exec(textOf('server/gateway/connection.ts'))?.[1],
    );
    const upstreams = [...config.matchAll(/upstream \w+ \{([^}]*)\}/g)].map(([, text]) => text);
    expect(upstreams.length).toBe(3);
    for (const upstream of upstreams) {
      expect(Number(/keepalive_timeout (\d+)s/.exec(upstream ?? '')?.[1])).toBeLessThan(idleS);
    }
    expect(config.match(/proxy_cache\w*[^;]*/g)).toEqual(['proxy_cache off']);
    // The node disconnects slow readers (F-25); nginx must not buffer for them.
    for (const location of [
      '/api/v1/events-streams/',
      '~ ^/studio/v1/streams/[^/]+/exports/',
      '~ ^/studio/v1/streams/[^/]+/(live|present)/?$',
    ]) {
      const block = config.split(`location ${location} {`)[1]?.split('}')[0];
      expect([location, block?.includes('proxy_buffering off;')]).toEqual([location, true]);
    }
    expect(config).not.toContain('non_idempotent');
    expect(config).not.toContain('proxy_cache_lock');
  });

  test('[R-1] PostgreSQL accepts its configuration, in which commits are durable', () => {
    const data = join(folder, 'postgres');
    const user = unprivileged('postgres');
    const runAs = user?.command ?? [];
    const installed = Bun.spawnSync(['install', '-d', '-m', '700', ...owner(user), data]);
    expect(installed.exitCode).toBe(0);
    Bun.spawnSync(['chmod', '755', folder]);
    const file = join(folder, 'postgresql.conf');
    Bun.spawnSync(['install', '-m', '644', `${COMPOSE}postgres/postgresql.conf`, file]);
    const initdb = [...runAs, binaryOf('initdb'), '-D', data, '--no-sync', '--auth=trust'];
    expect(Bun.spawnSync(initdb, { cwd: '/' }).exitCode).toBe(0);
    const settingOf = (setting: string) => {
      const command = [
        binaryOf('postgres'),
        '-D',
        data,
        '-c',
        `config_file=${file}`,
        '-C',
        setting,
      ];
      const { exitCode, stdout, stderr } = Bun.spawnSync([...runAs, ...command], { cwd: '/' });
      expect([exitCode, stderr.toString()]).toEqual([0, '']);
      return stdout.toString().trim();
    };
    expect(['fsync', 'full_page_writes', 'synchronous_commit'].map(settingOf)).toEqual([
      'on',
      'on',
      'on',
    ]);
    expect(settingOf('default_transaction_isolation')).toBe('read committed');
    // 11 connections for each of 2 × 3 nodes, as during an upgrade, and 10 for operators.
    expect(Number(settingOf('max_connections'))).toBeGreaterThan(2 * 3 * 11 + 10);
  });

  test('Redis accepts the command and the configuration of Valkey, which evicts nothing and does not persist', async () => {
    const server = await startValkey('correct-horse');
    try {
      await expect(server.call('CONFIG', 'GET', 'save')).rejects.toThrow('NOAUTH');
      await server.call('AUTH', server.password);
      for (const [name, value] of [
        ['save', ''],
        ['appendonly', 'no'],
        ['maxmemory-policy', 'noeviction'],
      ]) {
        expect(await server.call('CONFIG', 'GET', name as string)).toEqual([name, value]);
      }
      // The arguments of the process, which every user of the machine can read.
      expect(await server.commandLine()).not.toContain(server.password);
    } finally {
      await server.stop();
    }
  });
});

/** Starts Redis by the command for Valkey, on another port. */
async function startValkey(password: string) {
  const [shell = '', option = '', script = ''] = compose.services.valkey?.command ?? [];
  const port = await freePort();
  // Without its own title the process shows its arguments, as it does at first.
  const options = `--port ${port} --bind 127.0.0.1 --dir ${folder} --set-proc-title no`;
  const local = script
    .replaceAll('$$', '$')
    .replace('valkey-server', redisBinary())
    .replace('/etc/valkey/valkey.conf', `${join(COMPOSE, 'valkey/valkey.conf')} ${options}`);
  const env = { VALKEY_PASSWORD: password };
  const child = Bun.spawn([shell, option, local], { env, stdout: 'ignore', stderr: 'ignore' });
  await until('Valkey listens', () =>
    redisCommand(port, 'PING').then(
      () => true,
      ({ message }: Error) => message.startsWith('NOAUTH') || child.exitCode !== null,
    ),
  );
  const connection = openCommandConnection(port);
  return {
    password,
    call: connection.command,
    commandLine: () => Bun.file(`/proc/${child.pid}/cmdline`).text(),
    async stop() {
      connection.close();
      child.kill('SIGKILL');
      await child.exited;
    },
  };
}

function owner(user: ReturnType<typeof unprivileged>): string[] {
  return user ? ['-o', String(user.uid), '-g', String(user.gid)] : [];
}

/** Substitutes variables like Compose: by their default, or by an example value. */
function substituted(text: string): string {
  return text.replace(/\$\{([A-Z_]+)(?::-([^}]*))?(?::\?[^}]*)?\}/g, (_, name, fallback) => {
    if (fallback !== undefined) return fallback;
    return name === 'PUBLIC_URL' ? 'https://live.example.org' : 'word';
  });
}
