// `node scripts/build-package.mjs DIR`: writes the package `fourbeat` into a new folder, ready for
// `npm publish DIR`, with its software bill of materials (`sbom.cdx.json`).
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { prepare, projectDir } from './install.mjs';

/**
 * The viewer of the API. The package has its files instead of a dependency: `swagger-ui-dist` itself depends on a package
 * that reports installations. In the repository an override replaces it; overrides do not hold for those who install
 * the package.
 */
const VIEWER = 'swagger-ui-dist';
const VIEWER_FILES = [
  'swagger-ui-bundle.js',
  'swagger-ui.css',
  'favicon-32x32.png',
  'LICENSE',
  'NOTICE',
];

/** Not a development package: it has 60 packages of its own, and only a release needs it. */
const BILL_PROGRAM = 'cyclonedx-npm@6.0.1';

/** Fields of package.json that only the repository needs. */
const REPOSITORY_FIELDS = ['scripts', 'devDependencies', 'overrides', 'allowScripts', 'files'];

function build(dir) {
  mkdirSync(dir, { recursive: true });
  const [{ files }] = JSON.parse(npm('pack', '--dry-run', '--json', '--ignore-scripts'));
  for (const { path } of files) cpSync(join(projectDir, path), join(dir, path));
  const viewer = join(projectDir, 'node_modules', VIEWER);
  for (const file of VIEWER_FILES) {
    cpSync(join(viewer, file), join(dir, 'server/web/api-viewer', file));
  }
  writeJson(join(dir, 'package.json'), publishedManifest());
  writeJson(join(dir, 'sbom.cdx.json'), billOfMaterials());
}

function publishedManifest() {
  const manifest = JSON.parse(readFileSync(join(projectDir, 'package.json'), 'utf8'));
  for (const field of REPOSITORY_FIELDS) delete manifest[field];
  delete manifest.dependencies[VIEWER];
  return manifest;
}

/** The packages of the program, as CycloneDX. `npm sbom` omits those that a development package needs too. */
function billOfMaterials() {
  const options = ['--omit', 'dev', '--output-format', 'JSON', '--mc-type', 'application'];
  const npx = ['exec', '--yes', '--omit=optional', `--package=@cyclonedx/${BILL_PROGRAM}`];
  return JSON.parse(npm(...npx, '--', 'cyclonedx-npm', ...options, '--output-reproducible'));
}

function npm(...args) {
  const { status, stdout, stderr } = spawnSync('npm', args, {
    cwd: projectDir,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  if (status !== 0) throw new Error(`npm ${args[0]} failed:\n${stderr}`);
  return stdout;
}

function writeJson(path, value) {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`);
}

const [dir] = process.argv.slice(2);
if (dir === undefined) {
  console.error('usage: build-package DIR');
  process.exitCode = 2;
} else {
  prepare({ dev: false });
  build(resolve(dir));
}
