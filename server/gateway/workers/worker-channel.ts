import { Unavailable } from '../../platform/errors.ts';
import { Front } from '../gateway.ts';
import { Relay } from '../relay.ts';
import type { Begin, FromThread, ThreadCalls, ToThread } from './messages.ts';
import { ClockFollower, measureAhead } from './shared-time.ts';
import { WorkerGatewayBackend } from './worker-gateway-backend.ts';

// One of the threads that answer viewers: it has a front on the port that all of them share.

declare const self: Worker;

const REPORT_MS = 250;
const EXPIRE_MS = 50;
const FORGET_MS = 10_000;
const DRAIN_POLL_MS = 10;

interface Running {
  readonly service: WorkerGatewayBackend;
  readonly front: Front;
  readonly relay: Relay;
}

let running: Running | null = null;
let pong: ((monotonicMs: number) => void) | null = null;
let nextCall = 0;
const calling = new Map<number, PromiseWithResolvers<unknown>>();
// Of what comes while the clocks are compared.
const early: ToThread[] = [];

const tell = (message: FromThread) => self.postMessage(message);

function call<T>(name: keyof ThreadCalls, input: unknown): Promise<T> {
  const answered = Promise.withResolvers<unknown>();
  const id = nextCall++;
  calling.set(id, answered);
  tell({ kind: 'call', id, name, input });
  return answered.promise as Promise<T>;
}

const calls: ThreadCalls = {
  check: (token) => call('check', token),
  readSealed: (input) => call('readSealed', input),
};

async function begin(told: Begin): Promise<void> {
  const aheadMs = await measureAhead(() => {
    tell({ kind: 'ping' });
    return new Promise((resolve) => {
      pong = resolve;
    });
  });
  const service = new WorkerGatewayBackend(told, new ClockFollower(told.time, aheadMs), calls);
  const relay = new Relay({ path: told.path, secret: told.secret });
  const { host, port, corsOrigin, edgeCache } = told;
  const front = new Front({
    host,
    port,
    reusePort: true,
    service,
    relay,
    corsOrigin,
    edgeCache,
    onDefect: (error) => tell({ kind: 'defect', reason: Bun.inspect(error) }),
  });
  running = { service, front, relay };
  for (const message of early) hear(message, running);
  setInterval(() => report(service), REPORT_MS);
  setInterval(() => service.tick(), EXPIRE_MS);
  setInterval(() => service.forgetExpired(), FORGET_MS);
  tell({ kind: 'listening' });
}

function report(service: WorkerGatewayBackend): void {
  tell(service.report());
}

function hear(message: ToThread, { service, front, relay }: Running): void {
  const { kind } = message;
  if (kind === 'ring') service.ringShared(message.streamId, message.memory);
  else if (kind === 'ring-dropped') service.ringDropped(message.streamId);
  else if (kind === 'appended') service.log.appendBytes(message.interval, message.bodies);
  else if (kind === 'skipped') service.log.skipTo(message.interval);
  else if (kind === 'refused') service.log.refuseHeld(message.reason);
  else if (kind === 'away') service.unavailable = message.unavailable;
  else if (kind === 'bans') {
    service.ban(message.streamId, message.seats);
    tell({ kind: 'told', id: message.id });
  } else if (kind === 'drain') void drain(service);
  else if (kind === 'close') void close(service, front, relay);
}

async function drain(service: WorkerGatewayBackend): Promise<void> {
  const released = service.log.drain();
  service.streams.endAll();
  await released;
  tell({ kind: 'drained' });
}

async function close(service: WorkerGatewayBackend, front: Front, relay: Relay): Promise<void> {
  front.close();
  while (front.pending() + relay.underWay() > 0) await Bun.sleep(DRAIN_POLL_MS);
  report(service);
  tell({ kind: 'closed' });
}

function answered(id: number): PromiseWithResolvers<unknown> | undefined {
  const waiting = calling.get(id);
  calling.delete(id);
  return waiting;
}

// As in the main thread: what nobody waited for is told of, and ends nothing.
process.on('unhandledRejection', (reason) => tell({ kind: 'defect', reason: Bun.inspect(reason) }));

self.onmessage = ({ data }: MessageEvent<ToThread>) => {
  if (data.kind === 'begin') {
    begin(data).catch((error: Error) => tell({ kind: 'failed', reason: error.message }));
  } else if (data.kind === 'pong') pong?.(data.monotonicMs);
  else if (data.kind === 'answer') answered(data.id)?.resolve(data.value);
  else if (data.kind === 'refusal') {
    const { id, reason } = data;
    answered(id)?.reject(reason === null ? new Error('It is broken.') : new Unavailable(reason));
  } else if (running) hear(data, running);
  else early.push(data);
};
