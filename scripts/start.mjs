// `npm start`: the demo on a machine that has only Node and npm. It installs what is
// missing, then runs `fourbeat demo` with the arguments after `npm start --`.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { prepare, projectDir, SetupError } from './install.mjs';

/** Signals of one kind that come closer together than this are one wish. */
const SAME_WISH_MS = 500;

try {
  runDemo(prepare({ dev: false }), process.argv.slice(2));
} catch (error) {
  if (!(error instanceof SetupError)) {
    throw error;
  }
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}

/**
 * Ctrl-C reaches every process of the terminal's group, and npm passes it on as well.
 * The demo has its own group, hears nothing of that, and gets each wish once, from here.
 * `--no-orphans` ends it even when this process is killed without a word.
 */
function runDemo(bun, args) {
  const child = spawn(
    bun,
    ['--no-orphans', '--no-env-file', join(projectDir, 'server', 'main.ts'), 'demo', ...args],
    { detached: process.platform !== 'win32', stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const lastHeardMs = new Map();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      const nowMs = performance.now();
      if (nowMs - (lastHeardMs.get(signal) ?? -SAME_WISH_MS) >= SAME_WISH_MS) {
        child.kill(signal);
      }
      lastHeardMs.set(signal, nowMs);
    });
  }
  child.on('error', (error) => {
    console.error(`Bun could not be started: ${error.message}`);
    process.exitCode = 1;
  });
  child.on('exit', (code, signal) => {
    process.exit(code ?? 128 + constants.signals[signal]);
  });
}
