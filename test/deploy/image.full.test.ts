import { afterAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Glob } from 'bun';
import { SETTING_KEYS, variableNameOf } from '../../server/platform/config.ts';
import { freePort } from '../support/backends/free-port.ts';
import { ROOT, readComposeFile, textOf } from '../support/deploy/project-files.ts';
import { killServers, serveProcess } from '../support/harness/program.ts';

const VARIABLES = SETTING_KEYS.map(variableNameOf);

const compose = readComposeFile();
const folder = mkdtempSync(join(tmpdir(), 'fourbeat-deploy-'));

afterAll(async () => {
  await killServers();
  rmSync(folder, { recursive: true, force: true });
});

const IMAGE = join(folder, 'image');
const IMAGE_PROGRAM = join(IMAGE, 'bin/fourbeat');
const IMAGE_ENVIRONMENT = { PATH: process.env.PATH, HOME: folder };

const runImage = (args: string[]) =>
  Bun.spawnSync([IMAGE_PROGRAM, ...args], { env: IMAGE_ENVIRONMENT, stderr: 'pipe' });

/** Makes the tree of the image: the copied files that .dockerignore leaves, and production packages. */
async function buildImageTree(sources: readonly string[]): Promise<void> {
  for (const source of sources)
    await cp(join(ROOT, source), join(IMAGE, source), { recursive: true });
  const excluded = (textOf('.dockerignore').match(/^\*\*.+$/gm) ?? []).map(
    (line) => new Glob(line),
  );
  for (const file of readdirSync(IMAGE, { recursive: true, encoding: 'utf8' }))
    if (excluded.some((pattern) => pattern.match(file))) rmSync(join(IMAGE, file));
  const packages: Record<string, { dev?: boolean }> = JSON.parse(
    textOf('package-lock.json'),
  ).packages;
  for (const [path, { dev }] of Object.entries(packages)) {
    // Packages inside others come with them; the Dockerfile removes @oven.
    if (dev || path.lastIndexOf('node_modules/') !== 0 || path.includes('/@oven/')) continue;
    if (!existsSync(join(ROOT, path))) continue;
    // Not symbolic links, because the packages would then find development packages beside them.
    await cp(join(ROOT, path), join(IMAGE, path), { recursive: true, verbatimSymlinks: true });
  }
}

async function isReady(origin: string): Promise<boolean> {
  return (await fetch(`${origin}/readyz`).catch(() => null))?.ok ?? false;
}

/** Opens a page and loads its scripts and styles. @returns the addresses that are no success */
async function openPage(origin: string, path: string) {
  const broken: string[] = [];
  const open = async (address: string) => {
    const response = await fetch(origin + address, { headers: { Accept: '*/*' } });
    const text = await response.text();
    if (response.status !== 200 || text === '') broken.push(`${response.status} ${address}`);
    return text;
  };
  const html = await open(path);
  const files = [...html.matchAll(/(?:src|href)="(\/[^"]+\.(?:js|css|png|woff2))"/g)];
  for (const [, file = ''] of files) await open(file);
  return { broken, hasScript: files.some(([, file]) => file?.endsWith('.js')) };
}

/** The settings that a text contains by their full name. */
const variablesIn = (text: string) => new Set(text.match(/\bFOURBEAT_[A-Z_]+\b/g) ?? []);

describe('the Docker image and the systemd unit', () => {
  test('[O-1] the image starts and opens every page from exactly the files that its Dockerfile leaves', async () => {
    const copied = [...textOf('Dockerfile').matchAll(/^COPY (?!--from)(.*) \S+$/gm)];
    const sources = new Set(copied.flatMap(([, paths = '']) => paths.split(' ')));
    const allowed = textOf('.dockerignore').match(/(?<=^!)\S+/gm);
    expect([...sources].sort()).toEqual([...new Set(allowed)].sort());
    await buildImageTree([...sources]);
    const { exitCode, stderr, stdout } = runImage(['--version']);
    expect([exitCode, stderr.toString()]).toEqual([0, '']);
    expect(stdout.toString().trim()).toBe(JSON.parse(textOf('package.json')).version);
    const port = String(await freePort());
    const data = join(folder, 'image-data');
    const account = runImage([
      ...['account', 'create', '--email', 'host@example.com', '--name', 'Host'],
      ...['--data', data],
    ]);
    const { token } = JSON.parse(account.stdout.toString());
    const options = ['--host', '127.0.0.1', '--port', port, '--data', data];
    const child = Bun.spawn([IMAGE_PROGRAM, 'serve', ...options], {
      env: IMAGE_ENVIRONMENT,
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    const origin = `http://127.0.0.1:${port}`;
    try {
      while (child.exitCode === null && !(await isReady(origin))) await Bun.sleep(50);
      const created = await fetch(`${origin}/studio/v1/streams`, {
        method: 'POST',
        headers: { Authorization: `Token ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ title: 'Image' }),
      });
      const { id } = (await created.json()) as { id: string };
      for (const path of ['/studio/', `/studio/present/${id}`, `/watch/${id}`, '/docs'])
        expect([path, await openPage(origin, path)]).toEqual([
          path,
          { broken: [], hasScript: true },
        ]);
    } finally {
      child.kill('SIGKILL');
      await child.exited;
    }
  }, 60_000);

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
