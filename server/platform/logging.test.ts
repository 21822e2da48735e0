import { expect, test } from 'bun:test';
import { createLogger, logStream } from './logging.ts';

function logged(write: (log: ReturnType<typeof createLogger>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  write(createLogger('info', { write: (line) => void lines.push(line) }));
  return lines.map((line) => JSON.parse(line));
}

test('[O-13] an entry is one JSON object a line, with its level by name', () => {
  const [entry] = logged((log) => log.info({ requestId: 'r\n1' }, 'done'));
  expect(entry).toMatchObject({ level: 'info', requestId: 'r\n1', msg: 'done', pid: process.pid });
  expect(entry?.time).toMatch(/^\d{4}-\d\d-\d\dT.*Z$/);
});

test('[O-13] entries below the level are left out', () => {
  expect(logged((log) => log.debug('no'))).toEqual([]);
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
])('[O-14] %s is never written, at the top or below', (name) => {
  const entries = logged((log) => {
    log.info({ [name]: 'hush' });
    log.info({ body: { [name]: 'hush', other: 1 } });
    log.error({ request: { headers: { [name]: 'hush' } } });
    log.error({ err: Object.assign(new Error('x'), { [name]: 'hush' }) });
  });
  expect(entries).toHaveLength(4);
  expect(JSON.stringify(entries)).not.toContain('hush');
  expect(entries[1]).toMatchObject({ body: { [name]: '[redacted]', other: 1 } });
});

/** A log on a file with this much room; `room` may be changed at any time. */
function logWithRoom() {
  const file = { room: 0, text: '' };
  const log = logStream(async (bytes) => {
    if (file.room === 0) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    const count = Math.min(file.room, bytes.length);
    file.room -= count;
    file.text += Buffer.from(bytes.subarray(0, count)).toString();
    return count;
  });
  return { file, log };
}

/** One turn of the event loop: what was logged has been tried. */
const tried = () => new Promise((resolve) => setImmediate(resolve));

test('[O-13] lines that find no room are dropped, and counted before the next that does', async () => {
  const { file, log } = logWithRoom();
  for (const line of ['a\n', 'b\n', 'c\n']) {
    log.write(line);
    await tried();
  }
  expect(file.text).toBe('');
  file.room = 1_000;
  log.write('d\n');
  log.write('e\n');
  await log.end();
  const [loss, ...rest] = file.text.split('\n');
  expect(JSON.parse(loss ?? '')).toMatchObject({ level: 'warn', pid: process.pid, dropped: 3 });
  expect(rest).toEqual(['d', 'e', '']);
});

test('[O-13] a line that was cut in its middle counts as dropped and spoils no other', async () => {
  const { file, log } = logWithRoom();
  file.room = 5;
  log.write('one\n');
  await tried();
  log.write('two\n');
  await tried();
  file.room = 1_000;
  log.write('three\n');
  await log.end();
  const [one, torn, loss, ...rest] = file.text.split('\n');
  expect([one, torn, rest]).toEqual(['one', 't', ['three', '']]);
  expect(JSON.parse(loss ?? '')).toMatchObject({ dropped: 1 });
});

test('[O-13] a destination that is busy for a moment loses nothing', async () => {
  let isBusy = true;
  let text = '';
  const log = logStream(async (bytes) => {
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
