import { jest } from 'bun:test';
import { type Logger, pino } from 'pino';
import type { ContainerReader, SourceUnit } from '../../../server/media/container/container.ts';
import type { InitSegment } from '../../../server/media/fmp4/fragment.ts';
import type {
  Encoder,
  EncoderEvents,
  EncoderExit,
  EncoderPlan,
  Probe,
  SourceInfo,
} from '../../../server/media/packager/encoder.ts';
import type { Output } from '../../../server/media/packager/output.ts';
import {
  Packager,
  type PackagerOptions,
  type PackagerParts,
} from '../../../server/media/packager/packager.ts';
import type { Epoch, Part, Segment } from '../../../server/media/segment.ts';
import type { SourceEnd } from '../../../server/media/source.ts';
import { madeInit, madeRun, TRACKS } from './made-fragments.ts';

/** A moment in November 2026, at which tests with a clock of their own begin. */
export const BEGIN_MS = 1_795_000_000_000;

export const INFO: SourceInfo = { width: 64, height: 36, frameRate: [15, 1], hasAudio: true };

export const SETTINGS = {
  ffmpeg: '/nonexistent/ffmpeg',
  encoder: 'libx264',
  preset: '',
  ladder: [],
  segmentMs: 1_000,
  fragmentMs: 500,
};

const STEP_MS = 250;

/** A container whose units are texts: a letter (`H`eader, `J`oin, `P`lain) and a time in ms. */
export class FakeReader implements ContainerReader {
  private headers = '';

  push(bytes: Uint8Array): SourceUnit[] {
    const text = textOf(bytes);
    return [...text.matchAll(/([A-Z])(-?\d*);?/g)].map(([whole, letter, time = '']) => {
      if (letter === 'X') throw new Error('this is no container');
      if (letter === 'H') this.headers = whole;
      return {
        bytes: bytesOf(whole),
        isHeader: letter === 'H',
        isJoin: letter === 'J',
        sourceMs: time === '' ? null : Number(time),
      };
    });
  }

  header(): Uint8Array {
    return bytesOf(this.headers);
  }
}

export class FakeProbe implements Probe {
  seen = '';
  isKilled = false;
  private readonly settle = Promise.withResolvers<SourceInfo>();
  readonly result = this.settle.promise;

  write(bytes: Uint8Array): void {
    this.seen += textOf(bytes);
  }

  understands(info = INFO): Promise<void> {
    this.settle.resolve(info);
    return settled();
  }

  fails(reason: string): Promise<void> {
    this.settle.reject(new Error(reason));
    return settled();
  }

  kill(): void {
    this.isKilled = true;
  }
}

export class FakeEncoder implements Encoder {
  readonly pid = 0;
  /** All that it was given. */
  taken = '';
  wantsMore = true;
  pending = 0;
  isKilled = false;
  isFinished = false;
  cpu = 1.5;
  /** Whether it ends as soon as it is killed; one that hangs in the kernel does not. */
  diesAtOnce = true;
  private draining = Promise.withResolvers<void>();
  private readonly ending = Promise.withResolvers<EncoderExit>();
  readonly exited = this.ending.promise;

  constructor(
    readonly plan: EncoderPlan,
    readonly events: EncoderEvents,
  ) {}

  /** Gives out its inits, and so many seconds of all tracks from this source time on. */
  makes(fromMs: number, seconds: number): void {
    const inits = TRACKS.map((track): [string, InitSegment] => {
      const { codec, timescale, id } = track;
      return [id, { bytes: madeInit(track), codec, timescale }];
    });
    this.events.onInits(TRACKS, new Map(inits));
    this.makesMore(fromMs, seconds);
  }

  makesMore(fromMs: number, seconds: number): void {
    for (const [id, fragment] of madeRun({ fromMs, seconds })) {
      this.events.onFragment(id, fragment);
    }
  }

  ends(exit: Partial<EncoderExit> = {}): Promise<void> {
    this.ending.resolve({ code: 1, signal: null, lastLines: [], ...exit });
    return settled();
  }

  drains(): Promise<void> {
    this.wantsMore = true;
    this.draining.resolve();
    this.draining = Promise.withResolvers();
    return settled();
  }

  write(bytes: Uint8Array): boolean {
    this.taken += textOf(bytes);
    return this.wantsMore;
  }

  drained(): Promise<void> {
    return this.draining.promise;
  }

  pendingBytes(): number {
    return this.pending;
  }

  finish(): void {
    this.isFinished = true;
  }

  kill(): void {
    this.isKilled = true;
    if (this.diesAtOnce) void this.ends({ code: null, signal: 'SIGKILL' });
  }

  cpuSeconds(): number {
    return this.cpu;
  }
}

/** Parts of a packager that do what a test says, and a clock that it moves. */
export class FakeParts implements PackagerParts {
  readonly probes: FakeProbe[] = [];
  readonly encoders: FakeEncoder[] = [];
  now = BEGIN_MS;

  readonly startProbe = (): Probe => last(this.probes, new FakeProbe());
  readonly startEncoder = (plan: EncoderPlan, events: EncoderEvents): Encoder =>
    last(this.encoders, new FakeEncoder(plan, events));
  readonly newReader = (): ContainerReader => new FakeReader();
  readonly nowMs = (): number => this.now;

  get probe(): FakeProbe {
    return this.probes.at(-1) as FakeProbe;
  }

  get encoder(): FakeEncoder {
    return this.encoders.at(-1) as FakeEncoder;
  }

  /** Lets time pass, with what is due; `jest.useFakeTimers` must be on. */
  async pass(ms: number, each: () => void = () => {}): Promise<void> {
    for (let at = 0; at < ms; at += STEP_MS) {
      const stepMs = Math.min(STEP_MS, ms - at);
      this.now += stepMs;
      each();
      jest.advanceTimersByTime(stepMs);
      await settled();
    }
  }
}

/** What a packager has given out. */
export class FakeOutput implements Output {
  readonly epochs: Epoch[] = [];
  readonly segments: Segment[] = [];
  readonly parts: { readonly seq: number; readonly part: Part }[] = [];
  readonly failures: string[] = [];

  next() {
    const newest = this.segments.at(-1);
    return {
      epoch: this.epochs.length,
      seq: this.segments.length,
      notBeforeMs: newest ? newest.startMs + newest.durationMs : 0,
    };
  }

  epoch(epoch: Epoch): void {
    this.epochs.push(epoch);
  }

  part(seq: number, part: Part): void {
    this.parts.push({ seq, part });
  }

  segment(segment: Segment): void {
    this.segments.push(segment);
  }

  failed({ line }: SourceEnd): void {
    this.failures.push(line);
  }
}

export interface LogLine {
  readonly level: number;
  readonly msg: string;
  readonly [name: string]: unknown;
}

/** A logger whose lines a test can look at. */
export function heardLogger(): { readonly logger: Logger; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const logger = pino({ level: 'debug' }, { write: (line) => void lines.push(JSON.parse(line)) });
  return { logger, lines };
}

export function newPackager(options: Partial<PackagerOptions> = {}) {
  const parts = new FakeParts();
  const output = new FakeOutput();
  const { logger, lines } = heardLogger();
  const packager = new Packager(parts, {
    container: 'flv',
    settings: SETTINGS,
    segmentMs: 1_000,
    partMs: null,
    logger,
    output,
    ...options,
  });
  const send = (text: string) => packager.write(bytesOf(text));
  return { packager, parts, output, lines, send };
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** All that waits for a promise that is fulfilled has run. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function last<Made>(all: Made[], made: Made): Made {
  all.push(made);
  return made;
}
