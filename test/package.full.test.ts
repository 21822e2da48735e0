import { afterAll, beforeAll, expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { killServers, serveProcess, temporaryFolder } from './support/harness/program.ts';

// The package, installed in a project outside of the repository.

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = temporaryFolder();
const project = folder.path('project');
const installed = join(project, 'node_modules');

beforeAll(async () => {
  const made = folder.path('made');
  await run(root, 'node', join(root, 'scripts/build-package.mjs'), made);
  const [{ filename }] = JSON.parse(await run(folder.path('.'), 'npm', 'pack', made, '--json'));
  await Bun.write(join(project, 'package.json'), '{"private": true}');
  const install = ['npm', 'install', folder.path(filename), '--no-audit', '--no-fund'];
  await run(project, ...install);
}, 180_000);
afterAll(async () => {
  await killServers();
  folder.remove();
});

/** @returns the standard output @throws Error with the output of a program that fails */
async function run(cwd: string, ...command: string[]): Promise<string> {
  const child = Bun.spawn(command, { cwd, stdout: 'pipe', stderr: 'pipe' });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(stdout + stderr);
  return stdout;
}

test('an installation of the package brings nothing that reports installations', () => {
  expect(readdirSync(installed)).toContain('fourbeat');
  expect(existsSync(join(installed, '@scarf'))).toBe(false);
});

test('[O-15] [O-16] an installed service serves the API with its viewer, and the pages', async () => {
  const program = join(installed, 'fourbeat/bin/fourbeat');
  const data = ['--data', folder.path('data'), '--rtmp-port', 'off', '--srt-port', 'off'];
  const { url } = await serveProcess(data, {}, null, [], program);
  const files = ['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon.png', 'page.js'];
  for (const path of ['/openapi.json', '/studio/', ...files.map((file) => `/docs/${file}`)]) {
    const response = await fetch(url + path);
    expect([path, response.status]).toEqual([path, 200]);
    expect((await response.text()).length).toBeGreaterThan(100);
  }
});

test('the bill of materials names each package that the lock has for the program', async () => {
  const bill = await Bun.file(join(installed, 'fourbeat/sbom.cdx.json')).json();
  expect([bill.bomFormat, bill.metadata.component.name]).toEqual(['CycloneDX', 'fourbeat']);
  const inBill = new Set(namesIn(bill.components));
  const { packages } = await Bun.file(join(root, 'package-lock.json')).json();
  const locked = Object.entries<LockedPackage>(packages)
    .filter(([path, { dev, optional, devOptional }]) => path && !dev && !optional && !devOptional)
    .map(([path, { name, version }]) => `${name ?? path.split('node_modules/').at(-1)}@${version}`);
  expect(locked.length).toBeGreaterThan(60);
  expect(locked.filter((name) => !inBill.has(name))).toEqual([]);
});

interface LockedPackage {
  /** Only of a package under another name than its own. */
  readonly name?: string;
  readonly version: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

interface Component {
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly components?: readonly Component[];
}

/** Names with versions; a component has those that are installed inside of it. */
function namesIn(components: readonly Component[] = []): string[] {
  return components.flatMap(({ group, name, version, components: inner }) => [
    `${group ? `${group}/` : ''}${name}@${version}`,
    ...namesIn(inner),
  ]);
}
