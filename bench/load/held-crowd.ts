import type { Socket } from 'bun';
import { intervalStartMs } from '../../protocol/interval.ts';
import { type Answer, readAnswer } from './answer-reader.ts';
import type { HeldRequests } from './held-requests.ts';
import { SealedBodies } from './sealed-bodies.ts';

const OPENING_MAX = 200;
const UNAVAILABLE = 503;
const BEFORE_INTERVAL = '{"interval":'.length;
const DIGITS = 10;
const ZERO = 48;

interface Viewer {
  readonly number: number;
  socket: Socket<Viewer> | null;
  /** Of which it waits for the answer; null when any may come. */
  awaited: number | null;
  rest: Buffer | null;
}

/**
 * Viewers each of whom has a request that is held until the next interval is told, and sends the
 * next one at once. Who is late for an interval is measured by its end all the same.
 */
export class HeldCrowd {
  /** What went wrong first. */
  wrong: string | null = null;
  /** How often a viewer was told that the service cannot now, and asked again. */
  refused = 0;
  /** How long after its end each interval was told, ms: one figure for each viewer. */
  readonly lateness = new Map<number, number[]>();
  private readonly bodies = new SealedBodies();
  private readonly viewers: Viewer[] = [];
  private isOver = false;

  constructor(
    private readonly url: URL,
    private readonly requests: HeldRequests,
  ) {}

  /** Opens so many connections. */
  async connect(count: number): Promise<void> {
    while (this.viewers.length < count) {
      const from = this.viewers.length;
      const some = Math.min(OPENING_MAX, count - from);
      await Promise.all(Array.from({ length: some }, (_, n) => this.open(from + n)));
    }
  }

  /** Has all of them ask for the first time. */
  begin(): void {
    const awaited = this.requests.first();
    for (const viewer of this.viewers) {
      viewer.awaited = awaited;
      this.ask(viewer);
    }
  }

  end(): void {
    this.isOver = true;
    for (const { socket } of this.viewers) socket?.terminate();
  }

  private async open(number: number): Promise<void> {
    const viewer: Viewer = { number, socket: null, awaited: null, rest: null };
    this.viewers.push(viewer);
    viewer.socket = await Bun.connect<Viewer>({
      hostname: this.url.hostname,
      port: Number(this.url.port),
      data: viewer,
      socket: {
        binaryType: 'buffer',
        data: (socket, bytes) => this.received(socket.data, bytes as Buffer),
        close: ({ data }) => {
          if (!this.isOver) this.wrong ??= `the connection of viewer ${data.number} was closed`;
        },
      },
    });
    viewer.socket.setNoDelay(true);
  }

  private ask({ number, socket, awaited }: Viewer): void {
    const bytes = this.requests.bytes(number, awaited);
    if (socket?.write(bytes) !== bytes.length) this.wrong ??= 'a request was not taken at once';
  }

  private received(viewer: Viewer, bytes: Buffer): void {
    const all = viewer.rest ? Buffer.concat([viewer.rest, bytes]) : bytes;
    const answer = readAnswer(all, 0);
    // What is kept is a copy: the runtime may use the memory again.
    viewer.rest = answer ? null : Buffer.from(all);
    if (!answer) return;
    if (answer.status === UNAVAILABLE) {
      this.refused++;
      this.ask(viewer);
      return;
    }
    const interval = this.checked(viewer, all, answer);
    if (interval === null) return;
    this.note(interval);
    viewer.awaited = interval + 1;
    this.ask(viewer);
  }

  /** The interval that was told; null when something is wrong with the answer. */
  private checked({ awaited }: Viewer, all: Buffer, answer: Answer): number | null {
    const interval = numberAt(all, answer.bodyAt + BEFORE_INTERVAL);
    if (answer.status !== 200 || answer.endAt !== all.length) {
      this.wrong ??= `answered ${answer.status}: ${all.toString('latin1', answer.bodyAt)}`;
    } else if (awaited !== null && awaited !== interval) {
      this.wrong ??= `waited for ${awaited}, was told ${interval}`;
    } else {
      this.wrong ??= this.bodies.check(interval, all, answer);
      if (!this.lateness.has(interval))
        this.requests.told(interval, all.subarray(0, answer.bodyAt));
      return interval;
    }
    return null;
  }

  private note(interval: number): void {
    const lateMs = performance.timeOrigin + performance.now() - intervalStartMs(interval + 1);
    const known = this.lateness.get(interval);
    if (known) known.push(lateMs);
    else this.lateness.set(interval, [lateMs]);
  }
}

function numberAt(bytes: Buffer, at: number): number {
  let value = 0;
  for (let n = at; n < at + DIGITS; n++) value = value * 10 + (bytes[n] as number) - ZERO;
  return value;
}
