import { expect, test } from 'bun:test';
import { createLogger } from './logging.ts';

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
