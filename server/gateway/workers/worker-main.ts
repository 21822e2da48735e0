import { Unavailable } from '../../platform/errors.ts';
import { OpenFiles } from '../../platform/open-files.ts';
import { runtime } from '../../platform/runtime.ts';
import { DRAIN_POLL_MS, Gateway } from '../gateway.ts';
import { Relay } from '../relay/relay.ts';
import type {
  MainThreadCalls,
  MessageFromWorker,
  MessageToWorker,
  WorkerStart,
} from './messages.ts';
import { ClockFollower, measureClockOffset } from './worker-clock.ts';
import { WorkerGatewayBackend } from './worker-gateway-backend.ts';

// The entry point of a worker thread: a gateway on the port that all workers share.

declare const self: Worker;

const REPORT_MS = 250;
const TICK_MS = 50;
const EXPIRE_TOKENS_MS = 10_000;

interface RunningWorker {
  readonly backend: WorkerGatewayBackend;
  readonly gateway: Gateway;
  readonly relay: Relay;
}

let running: RunningWorker | null = null;
let onPong: ((monotonicMs: number) => void) | null = null;
let nextCallId = 0;
const pendingCalls = new Map<number, PromiseWithResolvers<unknown>>();
// Messages that arrive while the clock offset is measured.
const earlyMessages: MessageToWorker[] = [];

const send = (message: MessageFromWorker) => self.postMessage(message);

function call<T>(name: keyof MainThreadCalls, input: unknown): Promise<T> {
  const result = Promise.withResolvers<unknown>();
  const id = nextCallId++;
  pendingCalls.set(id, result);
  send({ kind: 'call', id, name, input });
  return result.promise as Promise<T>;
}

const calls: MainThreadCalls = {
  verify: (token) => call('verify', token),
  readSealed: (input) => call('readSealed', input),
};

async function start(message: WorkerStart): Promise<void> {
  const offsetMs = await measureClockOffset(() => {
    send({ kind: 'ping' });
    return new Promise((resolve) => {
      onPong = resolve;
    });
  });
  const clock = new ClockFollower(message.time, offsetMs);
  const backend = new WorkerGatewayBackend(message, clock, calls);
  const openFiles = new OpenFiles(message.openFiles);
  const relay = new Relay({ ...message, openFiles });
  const gateway = new Gateway({
    ...message,
    reusePort: true,
    backend,
    relay,
    openFiles,
    onDefect: (error) => send({ kind: 'defect', reason: Bun.inspect(error) }),
  });
  running = { backend, gateway, relay };
  for (const early of earlyMessages) receive(early, running);
  runtime.setInterval(() => send(backend.report()), REPORT_MS);
  runtime.setInterval(() => backend.tick(), TICK_MS);
  runtime.setInterval(() => backend.removeExpiredTokens(), EXPIRE_TOKENS_MS);
  send({ kind: 'listening' });
}

function receive(message: MessageToWorker, worker: RunningWorker): void {
  const { backend } = worker;
  const { kind } = message;
  if (kind === 'ring') backend.addRing(message.streamId, message.memory);
  else if (kind === 'ring-dropped') backend.removeRing(message.streamId);
  else if (kind === 'archived') backend.setArchived(message.streamId);
  else if (kind === 'appended') backend.log.appendBytes(message.interval, message.bodies);
  else if (kind === 'skipped') backend.log.skipTo(message.interval);
  else if (kind === 'long-polls-failed') backend.log.failWaiters(message.reason);
  else if (kind === 'unavailable') backend.unavailable = message.unavailable;
  else if (kind === 'bans') {
    backend.changeBans(message.streamId, message.changes);
    send({ kind: 'banned', id: message.id });
  } else if (kind === 'drain') void drain(backend);
  else if (kind === 'close') void close(worker);
}

async function drain({ log, streams }: WorkerGatewayBackend): Promise<void> {
  const drained = log.drain();
  streams.endAll();
  await drained;
  send({ kind: 'drained' });
}

async function close({ backend, gateway, relay }: RunningWorker): Promise<void> {
  gateway.drain();
  while (gateway.pendingResponses() + relay.pendingRequests() > 0)
    await runtime.sleep(DRAIN_POLL_MS);
  send(backend.report());
  send({ kind: 'closed' });
}

function takeCall(id: number): PromiseWithResolvers<unknown> | undefined {
  const pending = pendingCalls.get(id);
  pendingCalls.delete(id);
  return pending;
}

// As on the main thread, an unhandled rejection is reported and does not end the worker.
process.on('unhandledRejection', (reason) => send({ kind: 'defect', reason: Bun.inspect(reason) }));

self.onmessage = ({ data }: MessageEvent<MessageToWorker>) => {
  if (data.kind === 'start') {
    start(data).catch(({ message }: Error) => send({ kind: 'start-failed', reason: message }));
  } else if (data.kind === 'pong') onPong?.(data.monotonicMs);
  else if (data.kind === 'call-result') takeCall(data.id)?.resolve(data.value);
  else if (data.kind === 'call-error') {
    const { id, reason } = data;
    const error =
      reason === null ? new Error('A call of the main thread failed') : new Unavailable(reason);
    takeCall(id)?.reject(error);
  } else if (running) receive(data, running);
  else earlyMessages.push(data);
};
