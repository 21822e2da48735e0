import { Ledger } from '../ledger/ledger.ts';
import { ServiceTime } from '../ledger/service-time.ts';
import { Verdictbook } from '../ledger/verdict.ts';
import { Connections } from './connections.ts';
import { CrowdStats } from './crowd-stats.ts';
import { habitsOf } from './habits.ts';
import type { CrowdReport, ToCrowd } from './messages.ts';
import { probeSeats } from './seat-probe.ts';
import { Viewer } from './viewer.ts';
import type { Surroundings } from './viewer-client.ts';

// The crowd, in a process of its own: on two cores its load is not the service's.

const HOSTNAME = '127.0.0.1';
const REPORT_MS = 250;
// Between two bursts of an interval's answers the clock is read most exactly.
const PROBE_MS = 483;
// Arrivals: quick enough to see, slow enough for everybody to get a token.
const ARRIVAL_MS = 7;
const ARRIVALS_LEAST_MS = 3_000;
const DOORS = 32;
// What the host was last told of is read, and settled, by then.
const LAST_CHECKS_MS = 1_500;

type Begin = Extract<ToCrowd, { kind: 'begin' }>;

const localMs = () => performance.now();

async function attendShow({ port, streamId, viewers }: Begin): Promise<void> {
  const book = new Verdictbook();
  const stats = new CrowdStats();
  const time = new ServiceTime();
  const http = new Connections({ hostname: HOSTNAME, port });
  const ledger = new Ledger(
    book,
    (event) => stats.happened(event),
    (checked) => stats.counted(checked),
  );
  let isOver = false;
  const nowMs = () => time.latestMs(localMs());
  const tell = (report: CrowdReport) => process.send?.(report);

  const world: Surroundings = {
    http,
    origin: `http://${HOSTNAME}:${port}`,
    streamId,
    crowdId: crypto.randomUUID(),
    time,
    localMs,
    ledger,
    stats,
    random: Math.random,
    isOver: () => isOver,
  };

  process.on('message', async (message: ToCrowd) => {
    if (message.kind === 'promised') ledger.promised(message.key, nowMs() + message.inMs);
    if (message.kind !== 'finish') return;
    await Bun.sleep(LAST_CHECKS_MS);
    isOver = true;
    ledger.settle(nowMs());
    if (ledger.others.isAsked()) await probeSeats(world);
    ledger.others.settle();
    tell(stats.report(ledger, book, true));
  });

  await probe(http, time, ledger);
  setInterval(() => void probe(http, time, ledger).catch(() => stats.troubled()), PROBE_MS);
  setInterval(() => {
    if (isOver) return;
    ledger.settle(nowMs());
    if (ledger.others.needsProbe(localMs())) void probeSeats(world);
    tell(stats.report(ledger, book, false));
  }, REPORT_MS);
  await letIn(viewers, world);
}

// A few at a time come in through each door, however many wait.
async function letIn(viewers: number, world: Surroundings): Promise<void> {
  const waiting = Array.from({ length: viewers }, (_, number) => number);
  const fromMs = localMs();
  const paceMs = Math.max(ARRIVAL_MS, ARRIVALS_LEAST_MS / viewers);
  const door = async () => {
    for (let number = waiting.shift(); number !== undefined; number = waiting.shift()) {
      await Bun.sleep(Math.max(0, fromMs + number * paceMs - localMs()));
      const viewer = new Viewer(number, habitsOf(number, world.random), world);
      await viewer.arrive();
      void viewer.attend();
    }
  };
  await Promise.all(Array.from({ length: DOORS }, door));
}

async function probe(http: Connections, time: ServiceTime, ledger: Ledger): Promise<void> {
  const sentMs = localMs();
  const { body } = await http.request('GET', '/api/v1/time', '');
  const receivedMs = localMs();
  const { now } = JSON.parse(Buffer.from(body).toString());
  if (!time.learn({ sentMs, receivedMs, nowMs: now })) ledger.clockStepped(now);
}

// The demo decides when it is over; Ctrl-C reaches us only by way of the demo.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {});
// Nobody to report to: the demo is gone, however it went.
process.on('disconnect', () => process.exit(0));
process.once('message', (message: ToCrowd) => {
  if (message.kind === 'begin') void attendShow(message);
});
