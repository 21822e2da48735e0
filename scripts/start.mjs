// `npm start`: the demo on a machine that has only Node and npm. It installs what is
// missing, then runs `fourbeat demo` with the arguments after `npm start --`.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { join } from 'node:path';
import { prepare, projectDir, SetupError } from './install.mjs';

/** Repeated signals of one kind within this time count as one. */
const DUPLICATE_SIGNAL_MS = 500;

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
 * Ctrl-C signals every process of the terminal's process group, and npm forwards it as well. The demo has
 * a group of its own, so that it gets each signal once, from here. It gets SIGTERM for SIGHUP, which it handles
 * on a terminal only. `--no-orphans` ends it when this process is killed.
 */
function runDemo(bun, args) {
  const child = spawn(
    bun,
    ['--no-orphans', '--no-env-file', join(projectDir, 'server', 'main.ts'), 'demo', ...args],
    { detached: process.platform !== 'win32', stdio: ['ignore', 'inherit', 'inherit'] },
  );
  const lastSignalMs = new Map();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
      const nowMs = performance.now();
      if (nowMs - (lastSignalMs.get(signal) ?? -DUPLICATE_SIGNAL_MS) >= DUPLICATE_SIGNAL_MS) {
        child.kill(signal === 'SIGHUP' ? 'SIGTERM' : signal);
      }
      lastSignalMs.set(signal, nowMs);
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
