import { expect, test } from 'bun:test';
import { createLogger, createLogStream } from './logging.ts';

function entriesOf(
  write: (log: ReturnType<typeof createLogger>) => void,
): Record<string, unknown>[] {
  const lines: string[] = [];
  write(createLogger('info', { write: (line) => void lines.push(line) }));
  return lines.map((line) => JSON.parse(line));
}

test('[O-13] the log has one JSON object per line, with the name of its level', () => {
  const [entry] = entriesOf((log) => log.info({ requestId: 'r\n1' }, 'done'));
  expect(entry).toMatchObject({ level: 'info', requestId: 'r\n1', msg: 'done', pid: process.pid });
  expect(entry?.time).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
});

test('[O-13] the log omits entries below its level', () => {
  expect(entriesOf((log) => log.debug('no'))).toEqual([]);
});

test.each([
  'authorization',
  'token',
  'secret',
  'privateJwk',
  'identifier',
  'unique_user_identifier',
  'sub',
  'viewer',
  'text',
])('[O-14] the log redacts %s, at the top level and below', (name) => {
  const entries = entriesOf((log) => {
    log.info({ [name]: 'hush' });
    log.info({ body: { [name]: 'hush', other: 1 } });
    log.error({ request: { headers: { [name]: 'hush' } } });
    log.error({ err: Object.assign(new Error('x'), { [name]: 'hush' }) });
  });
  expect(entries).toHaveLength(4);
  expect(JSON.stringify(entries)).not.toContain('hush');
  expect(entries[1]).toMatchObject({ body: { [name]: '[redacted]', other: 1 } });
});

/** A log on a file of limited size; `room` is the number of bytes that still fit. */
function logWithRoom() {
  const file = { room: 0, text: '' };
  const log = createLogStream(async (bytes) => {
    if (file.room === 0) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    const count = Math.min(file.room, bytes.length);
    file.room -= count;
    file.text += Buffer.from(bytes.subarray(0, count)).toString();
    return count;
  });
  return { file, log };
}

/** Waits one turn of the event loop, in which the log tries to write. */
const writeAttempt = () => new Promise((resolve) => setImmediate(resolve));

test('[O-13] the log drops lines that cannot be written, and reports their number before the next line', async () => {
  const { file, log } = logWithRoom();
  for (const line of ['a\n', 'b\n', 'c\n']) {
    log.write(line);
    await writeAttempt();
  }
  expect(file.text).toBe('');
  file.room = 1_000;
  log.write('d\n');
  log.write('e\n');
  await log.end();
  const [warning, ...rest] = file.text.split('\n');
  expect(JSON.parse(warning ?? '')).toMatchObject({ level: 'warn', pid: process.pid, dropped: 3 });
  expect(rest).toEqual(['d', 'e', '']);
});

test('[O-13] the log counts a partially written line as dropped, and starts the next on a new line', async () => {
  const { file, log } = logWithRoom();
  file.room = 5;
  log.write('one\n');
  await writeAttempt();
  log.write('two\n');
  await writeAttempt();
  file.room = 1_000;
  log.write('three\n');
  await log.end();
  const [first, partial, warning, ...rest] = file.text.split('\n');
  expect([first, partial, rest]).toEqual(['one', 't', ['three', '']]);
  expect(JSON.parse(warning ?? '')).toMatchObject({ dropped: 1 });
});

test('[O-13] the log retries when its destination is busy', async () => {
  let isBusy = true;
  let text = '';
  const log = createLogStream(async (bytes) => {
    if (isBusy) {
      isBusy = false;
      throw Object.assign(new Error('busy'), { code: 'EAGAIN' });
    }
    text += Buffer.from(bytes).toString();
    return bytes.length;
  });
  log.write('a\n');
  log.write('b\n');
  await log.end();
  expect(text).toBe('a\nb\n');
});
