import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SETTING_KEYS, variableNameOf } from '../../server/platform/config.ts';
import { composeFile, ROOT, textOf } from '../support/deploy/project-files.ts';
import { killServers, serveProcess } from '../support/harness/program.ts';

const VARIABLES = SETTING_KEYS.map(variableNameOf);

const compose = composeFile();
const folder = mkdtempSync(join(tmpdir(), 'fourbeat-deploy-'));

afterAll(async () => {
  await killServers();
  rmSync(folder, { recursive: true, force: true });
});

/** Settings that a text names, and no wildcard of them. */
const variablesIn = (text: string) => new Set(text.match(/\bFOURBEAT_[A-Z_]+\b/g) ?? []);

function programIn(directory: string) {
  return Bun.spawnSync([join(directory, 'bin/fourbeat'), '--version'], { stderr: 'pipe' });
}

describe('the image and the unit', () => {
  test('the Dockerfile copies all that the program needs, and .dockerignore lets it through', async () => {
    const copied = [...textOf('Dockerfile').matchAll(/^COPY (?!--from)(.*) \S+$/gm)];
    const sources = new Set(copied.flatMap(([, paths = '']) => paths.split(' ')));
    const letThrough = textOf('.dockerignore').match(/(?<=^!)\S+/gm);
    expect([...sources].sort()).toEqual([...new Set(letThrough)].sort());
    const image = join(folder, 'image');
    for (const source of sources)
      await cp(join(ROOT, source), join(image, source), { recursive: true });
    const tests = readdirSync(image, { recursive: true, encoding: 'utf8' });
    for (const file of tests.filter((name) => name.endsWith('.test.ts'))) rmSync(join(image, file));
    symlinkSync(join(ROOT, 'node_modules'), join(image, 'node_modules'));
    const { exitCode, stderr, stdout } = programIn(image);
    expect([exitCode, stderr.toString()]).toEqual([0, '']);
    expect(stdout.toString().trim()).toBe(JSON.parse(textOf('package.json')).version);
  });

  test('the program is its only process, without rights, and hears SIGTERM', () => {
    const dockerfile = textOf('Dockerfile');
    expect(dockerfile).toContain('npm ci --omit=dev');
    expect(dockerfile).toMatch(/^USER 10001:10001$/m);
    expect(dockerfile).toMatch(/^ENTRYPOINT \["fourbeat"\]$/m);
    expect(dockerfile).toMatch(/^STOPSIGNAL SIGTERM$/m);
    expect(textOf('bin/fourbeat')).toContain('exec "$bun"');
    const { version } = JSON.parse(textOf('package.json'));
    expect(compose.services.node1?.image).toBe(`fourbeat:${version}`);
  });

  test('[O-10] the health check of the image is 0 when the node is ready, and else 1', async () => {
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

  test('systemd takes the unit', () => {
    const unit = textOf('deploy/systemd/fourbeat.service');
    expect(unit).toMatch(/^Restart=always$/m);
    expect(unit).toMatch(/^TimeoutStopSec=15s$/m);
    expect(unit).toMatch(/^DynamicUser=yes$/m);
    if (Bun.which('systemd-analyze') === null) return;
    const file = join(folder, 'fourbeat.service');
    Bun.write(file, unit.replace('/opt/fourbeat/bin/fourbeat', join(ROOT, 'bin/fourbeat')));
    const { stderr } = Bun.spawnSync(['systemd-analyze', 'verify', '--man=no', file], {
      stderr: 'pipe',
    });
    expect(stderr.toString()).toBe('');
  });
});

test('unit and compose file give a node as many files as docs/operations.md says', () => {
  const files = '524288';
  const inCompose = /nofile: \{ soft: (\d+), hard: (\d+) \}/.exec(
    textOf('deploy/compose/compose.yaml'),
  );
  const inUnit = /^LimitNOFILE=(\d+)$/m.exec(textOf('deploy/systemd/fourbeat.service'));
  expect([inUnit?.[1], ...(inCompose?.slice(1) ?? [])]).toEqual([files, files, files]);
  const said = Number(files).toLocaleString('en');
  expect(textOf('docs/operations.md')).toContain(said);
});

test.each([
  'deploy/systemd/fourbeat.service',
  'deploy/systemd/fourbeat.env.example',
  'deploy/helm/fourbeat/values.yaml',
  'deploy/compose/compose.yaml',
  'docs/operations.md',
  'Dockerfile',
])('[O-7] %s names no setting that does not exist', (path) => {
  expect([...variablesIn(textOf(path))].filter((name) => !VARIABLES.includes(name))).toEqual([]);
});
