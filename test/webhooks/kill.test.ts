import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fourbeat, type ServerProcess, serveProcess } from '../support/harness/program.ts';
import { type Receiver, startReceiver } from '../support/webhooks/webhook-receiver.ts';

let directory: string;
let receiver: Receiver;
let token: string;
let running: ServerProcess | null = null;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'fourbeat-webhooks-kill-'));
  receiver = startReceiver();
  const account = ['account', 'create', '--email', 'a@example.org', '--name', 'A'];
  const created = await fourbeat([...account, '--data', directory]);
  token = JSON.parse(created.stdout).token;
});
afterAll(async () => {
  running?.signal('SIGKILL');
  await running?.exited;
  await receiver.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function serve(): Promise<void> {
  running = await serveProcess([
    ...['--data', directory, '--roles', 'studio', '--log-level', 'error'],
    ...['--webhook-allow-http', '--webhook-allow-private', '127.0.0.1'],
  ]);
}

async function kill9(): Promise<void> {
  running?.signal('SIGKILL');
  await running?.exited;
}

async function post(path: string, body?: object): Promise<{ id: string }> {
  const response = await fetch(`${running?.url}/studio/v1${path}`, {
    method: 'POST',
    headers: { Authorization: `Token ${token}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as { id: string };
}

test('[H-5] [H-17] acknowledged events are delivered after kill -9, each with one id', async () => {
  await serve();
  const events = ['stream.started', 'stream.ended'];
  await post('/webhooks', { url: receiver.url, events });
  const streams: string[] = [];
  for (let round = 0; round < 3; round++) {
    const { id } = await post('/streams', { title: `Show ${round}` });
    await post(`/streams/${id}/start`);
    await post(`/streams/${id}/end`);
    streams.push(id);
    // A kill right after the response is usually between the commit and the delivery.
    await kill9();
    await serve();
  }
  const expected = streams.flatMap((id) => events.map((type) => `${type} ${id}`)).sort();
  const deliveriesByEvent = () => {
    const deliveries = receiver.received.map(({ id, body }) => {
      const { type, data } = JSON.parse(body);
      return [`${type} ${data.streamId}` as string, id] as const;
    });
    return Map.groupBy(deliveries, ([event]) => event);
  };
  // A kill during an attempt causes a duplicate, once the lease of 30 s ends.
  for (let n = 1; deliveriesByEvent().size < expected.length; n++) await receiver.until(n);
  expect([...deliveriesByEvent().keys()].sort()).toEqual(expected);
  for (const copies of deliveriesByEvent().values()) {
    expect(new Set(copies.map(([, id]) => id)).size).toBe(1);
  }
}, 90_000);
