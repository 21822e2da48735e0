import { afterAll, expect, test } from 'bun:test';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PROGRAM_STARTS } from '../../test/support/media/program-starts.ts';

const STARTS_FILE = fileURLToPath(
  new URL('../../test/support/media/program-starts.ts', import.meta.url),
);
const SECRETS = {
  FOURBEAT_DATABASE: 'postgres://fourbeat:secret@db/fourbeat',
  AWS_SECRET_ACCESS_KEY: 'another secret',
};

const directory = mkdtempSync(join(tmpdir(), 'fourbeat-environment-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A program that writes its environment to a file. */
function createProgram(): { readonly program: string; readonly output: string } {
  const program = join(mkdtempSync(join(directory, 'program-')), 'ffmpeg');
  const output = `${program}.environment`;
  writeFileSync(program, `#!/bin/sh\n/usr/bin/env > '${output}'\n`);
  chmodSync(program, 0o755);
  return { program, output };
}

// In a process of its own: the runtime may read its environment at its start.
const SCRIPT = `
  const [, name, program] = process.argv;
  const { PROGRAM_STARTS } = await import(process.env.STARTS_FILE);
  await PROGRAM_STARTS[name](program).catch(() => {});
  process.exit(0);
`;

test.each(Object.keys(PROGRAM_STARTS))(
  '[M-17] the program of the %s gets no variable of the service',
  async (name) => {
    const { program, output } = createProgram();
    const service = Bun.spawn([process.execPath, '-e', SCRIPT, name, program], {
      env: { PATH: process.env.PATH, STARTS_FILE, ...SECRETS },
    });
    expect(await service.exited).toBe(0);
    const lines = readFileSync(output, 'utf8').split('\n');
    const names = lines.map((line) => line.split('=')[0] ?? '');
    expect(names).toContain('PATH');
    expect(names.filter((each) => each in SECRETS || each === 'STARTS_FILE')).toEqual([]);
  },
);
