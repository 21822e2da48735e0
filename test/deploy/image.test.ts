import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SETTING_KEYS, variableNameOf } from '../../server/platform/config.ts';
import { freePort } from '../support/backends/free-port.ts';
import { composeFile, ROOT, textOf } from '../support/deploy/project-files.ts';
import { killServers, serveProcess } from '../support/harness/program.ts';

const VARIABLES = SETTING_KEYS.map(variableNameOf);

const compose = composeFile();
const folder = mkdtempSync(join(tmpdir(), 'fourbeat-deploy-'));

afterAll(async () => {
  await killServers();
  rmSync(folder, { recursive: true, force: true });
});

/** The settings that a text contains by their full name. */
const variablesIn = (text: string) => new Set(text.match(/\bFOURBEAT_[A-Z_]+\b/g) ?? []);

describe('the Docker image and the systemd unit', () => {
  test('the Dockerfile copies every file that the program needs, and .dockerignore allows them', async () => {
    const copied = [...textOf('Dockerfile').matchAll(/^COPY (?!--from)(.*) \S+$/gm)];
    const sources = new Set(copied.flatMap(([, paths = '']) => paths.split(' ')));
    const allowed = textOf('.dockerignore').match(/(?<=^!)\S+/gm);
    expect([...sources].sort()).toEqual([...new Set(allowed)].sort());
    const image = join(folder, 'image');
    for (const source of sources)
      await cp(join(ROOT, source), join(image, source), { recursive: true });
    const files = readdirSync(image, { recursive: true, encoding: 'utf8' });
    for (const file of files.filter((name) => name.endsWith('.test.ts'))) rmSync(join(image, file));
    symlinkSync(join(ROOT, 'node_modules'), join(image, 'node_modules'));
    const program = join(image, 'bin/fourbeat');
    const { exitCode, stderr, stdout } = Bun.spawnSync([program, '--version'], { stderr: 'pipe' });
    expect([exitCode, stderr.toString()]).toEqual([0, '']);
    expect(stdout.toString().trim()).toBe(JSON.parse(textOf('package.json')).version);
    // The server builds its pages from source files, so each page shows whether its files are there.
    const port = String(await freePort());
    const data = join(folder, 'image-data');
    const options = ['--host', '127.0.0.1', '--port', port, '--data', data];
    const child = Bun.spawn([program, 'serve', ...options], {
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    try {
      const statusOf = async (path: string) => {
        const response = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => null);
        await response?.arrayBuffer();
        return response?.status ?? null;
      };
      while ((await statusOf('/readyz')) !== 200 && child.exitCode === null) await Bun.sleep(50);
      for (const path of ['/studio', '/studio/present/x', '/watch/x', '/docs']) {
        expect([path, await statusOf(path)]).toEqual([path, 200]);
      }
    } finally {
      child.kill('SIGKILL');
      await child.exited;
    }
  });

  test('the program is the only process of the image, unprivileged, and gets SIGTERM', () => {
    const dockerfile = textOf('Dockerfile');
    expect(dockerfile).toContain('npm ci --omit=dev');
    expect(dockerfile).toMatch(/^USER 10001:10001$/m);
    expect(dockerfile).toMatch(/^ENTRYPOINT \["fourbeat"\]$/m);
    expect(dockerfile).toMatch(/^STOPSIGNAL SIGTERM$/m);
    expect(textOf('bin/fourbeat')).toContain('exec "$bun"');
    const { version } = JSON.parse(textOf('package.json'));
    expect(compose.services.node1?.image).toBe(`fourbeat:${version}`);
  });

  test('[O-10] the health check of the image exits with 0 when the node is ready, and with 1 otherwise', async () => {
    const command = JSON.parse(
      /^ {2}CMD (\[.*\])$/m.exec(textOf('Dockerfile'))?.[1] ?? '',
    ) as string[];
    const node = await serveProcess(['--data', join(folder, 'health')]);
    const check = async (port: number) => {
      const environment = { PATH: process.env.PATH, FOURBEAT_PORT: String(port) };
      const child = Bun.spawn([process.execPath, ...command.slice(1)], {
        env: environment,
        stderr: 'ignore',
      });
      return await child.exited;
    };
    expect(await check(node.port)).toBe(0);
    expect(await check(1)).toBe(1);
  });

  test('systemd accepts the unit', async () => {
    const unit = textOf('deploy/systemd/fourbeat.service');
    expect(unit).toMatch(/^Restart=always$/m);
    expect(unit).toMatch(/^TimeoutStopSec=15s$/m);
    expect(unit).toMatch(/^DynamicUser=yes$/m);
    if (Bun.which('systemd-analyze') === null) return;
    const file = join(folder, 'fourbeat.service');
    await Bun.write(file, unit.replace('/opt/fourbeat/bin/fourbeat', join(ROOT, 'bin/fourbeat')));
    const { stderr } = Bun.spawnSync(['systemd-analyze', 'verify', '--man=no', file], {
      stderr: 'pipe',
    });
    expect(stderr.toString()).toBe('');
  });
});

test('the unit and the Compose file set the same limit of open files', () => {
  const files = '524288';
  const inCompose = /nofile: \{ soft: (\d+), hard: (\d+) \}/.exec(
    textOf('deploy/compose/compose.yaml'),
  );
  const inUnit = /^LimitNOFILE=(\d+)$/m.exec(textOf('deploy/systemd/fourbeat.service'));
  expect([inUnit?.[1], ...(inCompose?.slice(1) ?? [])]).toEqual([files, files, files]);
});

test.each([
  'deploy/systemd/fourbeat.service',
  'deploy/systemd/fourbeat.env.example',
  'deploy/helm/fourbeat/values.yaml',
  'deploy/compose/compose.yaml',
  'docs/operations.md',
  'Dockerfile',
])('[O-7] %s contains no unknown setting', (path) => {
  expect([...variablesIn(textOf(path))].filter((name) => !VARIABLES.includes(name))).toEqual([]);
});
