import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { ROLES } from '../../protocol/operation.ts';
import { SETTING_KEYS, SETTINGS, variableNameOf } from '../../server/platform/config.ts';
import { freePort } from '../support/backends/free-port.ts';
import { redisBinary, redisCommand } from '../support/backends/redis-program.ts';
import { binaryOf, unprivileged } from '../support/backends/server-programs.ts';
import { COMPOSE, checkNginx, startNginxOnFreePort } from '../support/deploy/nginx.ts';
import { type ComposeService, composeFile, textOf } from '../support/deploy/project-files.ts';
import { killServers, serveProcess } from '../support/harness/program.ts';

const VARIABLES = SETTING_KEYS.map(variableNameOf);
const NODES = [1, 2, 3];

const compose = composeFile();
const folder = mkdtempSync(join(tmpdir(), 'fourbeat-deploy-'));

afterAll(async () => {
  await killServers();
  rmSync(folder, { recursive: true, force: true });
});

describe('deploy/compose', () => {
  test('[O-7] names settings that exist, with values that they take', () => {
    for (const name of [...NODES.map((n) => `node${n}`), 'media']) {
      const { environment = {} } = compose.services[name] as ComposeService;
      const given = new Map(Object.entries(environment));
      for (const [variable, text] of given) {
        expect(VARIABLES).toContain(variable);
        const key = SETTING_KEYS[VARIABLES.indexOf(variable)] as keyof typeof SETTINGS;
        SETTINGS[key].parse(filledIn(text));
      }
      for (const needed of ['FOURBEAT_DATABASE', 'FOURBEAT_REDIS', 'FOURBEAT_PUBLIC_URL']) {
        expect(given.has(needed)).toBe(true);
      }
    }
  });

  test('[O-2] every role is with the three nodes, or with the one that has video', () => {
    const rolesOf = (name: string) =>
      compose.services[name]?.environment?.FOURBEAT_ROLES?.split(',') ?? [];
    for (const n of NODES) {
      expect([...rolesOf(`node${n}`), ...rolesOf('media')].sort()).toEqual([...ROLES].sort());
    }
    expect(rolesOf('media')).toEqual(['media']);
  });

  test('[O-22] the three nodes have as many threads for viewers as .env says, the one with video has one', () => {
    const workersOf = (name: string) => compose.services[name]?.environment?.FOURBEAT_WORKERS;
    for (const n of NODES) expect(workersOf(`node${n}`)).toMatch(/^\$\{WORKERS:-1\}$/);
    expect(workersOf('media')).toBe('1');
  });

  test('every variable that it asks for is in .env.example, which holds no secret', () => {
    const example = textOf('deploy/compose/.env.example');
    const offered = new Map(
      [...example.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
    );
    const asked = [...textOf('deploy/compose/compose.yaml').matchAll(/(?<!\$)\$\{([A-Z_]+)/g)];
    expect(new Set(asked.map(([, name]) => name))).toEqual(new Set(offered.keys()));
    for (const [name, value] of offered) {
      if (name.endsWith('PASSWORD')) expect(value).toBe('');
    }
    expect(textOf('deploy/compose/.gitignore').split('\n')).toContain('.env');
  });

  test('gives nginx the addresses of the nodes, and Prometheus their names', () => {
    const addresses = [...NODES.map((n) => `node${n}`), 'media'].map((name) => {
      const { networks } = compose.services[name] as ComposeService;
      return (networks as Record<string, { ipv4_address: string }>).inside?.ipv4_address;
    });
    const servers = textOf('deploy/compose/nginx/nginx.conf').match(/(?<=^ {4}server )[\d.:]+/gm);
    const wanted = addresses.map((address) => `${address}:4250`);
    const nodes = wanted.slice(0, -1);
    expect([...(servers ?? [])]).toEqual([...nodes, ...wanted]);
    const prometheus = parse(textOf('deploy/compose/prometheus/prometheus.yml'));
    const [job] = prometheus.scrape_configs;
    const names = [...NODES.map((n) => `node${n}`), 'media'];
    expect(job.static_configs[0].targets).toEqual(names.map((name) => `${name}:4250`));
  });

  test('[O-11] everything starts again by itself, and has time to stop', () => {
    for (const [name, service] of Object.entries(compose.services)) {
      expect([name, service.restart]).toEqual([name, 'unless-stopped']);
      if (/^(node|media)/.test(name)) expect(service.stop_grace_period).toBe('15s');
      // A tag, and not that of tomorrow.
      expect(service.image).toMatch(/^[\w./-]+:(?!latest)[\w.-]+$/);
    }
  });

  test('[M-2] [M-3] only nginx, the ports for video and, on this machine, the monitoring can be reached from outside', () => {
    expect(compose.networks.inside?.internal).toBe(true);
    const open = Object.entries(compose.services).filter(([, { ports }]) => ports);
    expect(open.map(([name]) => name).sort()).toEqual(['grafana', 'media', 'nginx', 'prometheus']);
    expect(compose.services.media?.ports).toEqual([
      `${SETTINGS.rtmpPort.default}:1935`,
      `${SETTINGS.srtPort.default}:10080/udp`,
    ]);
    for (const name of ['grafana', 'prometheus']) {
      expect(compose.services[name]?.ports?.[0]).toMatch(
        /^\$\{MONITORING_ADDRESS:-127\.0\.0\.1\}:/,
      );
    }
  });

  test('mounts files that exist', () => {
    const mounts = Object.values(compose.services).flatMap(({ volumes = [] }) => volumes);
    for (const mount of mounts) {
      const [source = ''] = mount.split(':');
      if (source.startsWith('./'))
        expect([source, existsSync(COMPOSE + source)]).toEqual([source, true]);
      else expect(Object.keys(compose.volumes)).toContain(source);
    }
  });

  test('nginx takes its file, with and without TLS, without a warning', async () => {
    expect(checkNginx({ port: 8080, nodes: NODES }).said).not.toMatch(/\[(warn|emerg|crit)\]/);
    const { ok, said } = checkNginx({ port: 8080, nodes: NODES, edit: (text) => `${text}\nx;` });
    expect([ok, said.includes('unknown directive')]).toEqual([false, true]);
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

  test('nginx gives up silent connections to a node before the node does, and caches nothing', () => {
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
    // A reader who is slow is the node's to cut off (F-25), and not to be kept on nginx's disk.
    for (const place of [
      '/api/v1/events-streams/',
      '~ ^/studio/v1/streams/[^/]+/exports/',
      '~ ^/studio/v1/streams/[^/]+/(live|present)/?$',
    ]) {
      const block = config.split(`location ${place} {`)[1]?.split('}')[0];
      expect([place, block?.includes('proxy_buffering off;')]).toEqual([place, true]);
    }
    expect(config).not.toContain('non_idempotent');
    expect(config).not.toContain('proxy_cache_lock');
  });

  test('[R-1] PostgreSQL takes its file, in which commits are on disk', () => {
    const data = join(folder, 'postgres');
    const user = unprivileged('postgres');
    const as = user?.command ?? [];
    const made = Bun.spawnSync(['install', '-d', '-m', '700', ...owner(user), data]);
    expect(made.exitCode).toBe(0);
    Bun.spawnSync(['chmod', '755', folder]);
    const file = join(folder, 'postgresql.conf');
    Bun.spawnSync(['install', '-m', '644', `${COMPOSE}postgres/postgresql.conf`, file]);
    const initdb = [...as, binaryOf('initdb'), '-D', data, '--no-sync', '--auth=trust'];
    expect(Bun.spawnSync(initdb, { cwd: '/' }).exitCode).toBe(0);
    const settingIs = (setting: string) => {
      const asked = [binaryOf('postgres'), '-D', data, '-c', `config_file=${file}`, '-C', setting];
      const { exitCode, stdout, stderr } = Bun.spawnSync([...as, ...asked], { cwd: '/' });
      expect([exitCode, stderr.toString()]).toEqual([0, '']);
      return stdout.toString().trim();
    };
    expect(['fsync', 'full_page_writes', 'synchronous_commit'].map(settingIs)).toEqual([
      'on',
      'on',
      'on',
    ]);
    expect(settingIs('default_transaction_isolation')).toBe('read committed');
    // Three nodes twice, as during an upgrade, and some for people.
    expect(Number(settingIs('max_connections'))).toBeGreaterThan(2 * 3 * 11 + 10);
  });

  test('Redis takes the file of Valkey, which evicts nothing and writes nothing', async () => {
    const file = join(COMPOSE, 'valkey/valkey.conf');
    const port = await freePort();
    const own = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder];
    const child = Bun.spawn([redisBinary(), file, ...own], { stdout: 'pipe', stderr: 'pipe' });
    try {
      const config = async (name: string) => {
        const reply = await redisCommand(port, 'CONFIG', 'GET', name).catch(() => null);
        return reply as [string, string] | null;
      };
      while ((await config('save')) === null && child.exitCode === null) await Bun.sleep(10);
      expect(await config('save')).toEqual(['save', '']);
      expect(await config('appendonly')).toEqual(['appendonly', 'no']);
      expect(await config('maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction']);
    } finally {
      child.kill('SIGKILL');
      await child.exited;
    }
  });
});

function owner(user: ReturnType<typeof unprivileged>): string[] {
  return user ? ['-o', String(user.uid), '-g', String(user.gid)] : [];
}

/** The text that Compose makes of one with variables: what they are by default, or else a word. */
function filledIn(text: string): string {
  return text.replace(/\$\{([A-Z_]+)(?::-([^}]*))?(?::\?[^}]*)?\}/g, (_, name, fallback) => {
    if (fallback !== undefined) return fallback;
    return name === 'PUBLIC_URL' ? 'https://live.example.org' : 'word';
  });
}
