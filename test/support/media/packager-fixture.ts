import { jest } from 'bun:test';
import type { ContainerReader, SourceUnit } from '../../../server/media/container/container.ts';
import { MatroskaReader } from '../../../server/media/container/matroska.ts';
import { ReceivedMedia } from '../../../server/media/container/received-media.ts';
import type { InitSegment } from '../../../server/media/fmp4/fragment.ts';
import type {
  Encoder,
  EncoderEvents,
  EncoderExit,
  EncoderOptions,
  Probe,
  SourceInfo,
} from '../../../server/media/packager/encoder.ts';
import {
  Packager,
  type PackagerDependencies,
  type PackagerOptions,
  type SegmentSink,
} from '../../../server/media/packager/packager.ts';
import type { Epoch, Part, Segment } from '../../../server/media/segment.ts';
import type { Container, SourceEnd } from '../../../server/media/source.ts';
import { createInitSegment, createRun, TRACKS } from './fragment-fixture.ts';
import { BEGIN_MS, recordingLogger } from './segment-store-fixture.ts';

export const INFO: SourceInfo = { width: 64, height: 36, frameRate: [15, 1], hasAudio: true };

export const SETTINGS = {
  ffmpeg: '/nonexistent/ffmpeg',
  encoder: 'libx264',
  preset: '',
  ladder: [],
  segmentMs: 1_000,
  fragmentMs: 500,
};

export const STEP_MS = 250;

/**
 * A container of text units: a letter (`H`eader, `J`oin, `P`lain, `A`udio, `X` invalid) and a time in
 * ms. Join and plain units are video.
 */
export class FakeReader implements ContainerReader {
  private headers = '';
  readonly received = new ReceivedMedia();

  push(bytes: Uint8Array): SourceUnit[] {
    const text = textOf(bytes);
    return [...text.matchAll(/([A-Z])(-?\d*);?/g)].map(([whole, letter, time = '']) => {
      if (letter === 'X') throw new Error('invalid container');
      if (letter === 'H') this.headers = whole;
      else this.received.add(letter === 'A' ? 'audio' : 'video');
      return {
        bytes: bytesOf(whole),
        isHeader: letter === 'H',
        isEntryPoint: letter === 'J',
        sourceMs: time === '' ? null : Number(time),
      };
    });
  }

  header(): Uint8Array {
    return bytesOf(this.headers);
  }
}

/** A probe that records its input and ends on demand. */
export class FakeProbe implements Probe {
  input = '';
  isKilled = false;
  private readonly settle = Promise.withResolvers<SourceInfo>();
  readonly result = this.settle.promise;

  write(bytes: Uint8Array): void {
    this.input += textOf(bytes);
  }

  succeed(info = INFO): Promise<void> {
    this.settle.resolve(info);
    return settled();
  }

  fail(reason: string): Promise<void> {
    this.settle.reject(new Error(reason));
    return settled();
  }

  kill(): void {
    this.isKilled = true;
  }
}

/** An encoder that records its input and emits output on demand. */
export class FakeEncoder implements Encoder {
  readonly pid = 0;
  /** Everything written to it. */
  input = '';
  acceptsMore = true;
  pending = 0;
  isKilled = false;
  isFinished = false;
  usedCpuSeconds = 1.5;
  /** Whether `kill` makes it exit at once; a process that hangs in the kernel does not. */
  exitsWhenKilled = true;
  private draining = Promise.withResolvers<void>();
  private readonly exit = Promise.withResolvers<EncoderExit>();
  readonly exited = this.exit.promise;

  constructor(
    readonly options: EncoderOptions,
    readonly events: EncoderEvents,
  ) {}

  /** Emits its init segments, and this many seconds of all tracks from a source time on. */
  emitStart(fromMs: number, seconds: number): void {
    const inits = TRACKS.map((track): [string, InitSegment] => {
      const { codec, timescale, id } = track;
      return [id, { bytes: createInitSegment(track), codec, timescale }];
    });
    this.events.onInits(TRACKS, new Map(inits));
    this.emit(fromMs, seconds);
  }

  emit(fromMs: number, seconds: number): void {
    for (const [id, fragment] of createRun({ fromMs, seconds })) {
      this.events.onFragment(id, fragment);
    }
  }

  exitWith(exit: Partial<EncoderExit> = {}): Promise<void> {
    this.exit.resolve({ code: 1, signal: null, lastLines: [], ...exit });
    return settled();
  }

  /** Fails instead of reporting its exit. */
  failExit(error: Error): Promise<void> {
    this.exit.reject(error);
    return settled();
  }

  drain(): Promise<void> {
    this.acceptsMore = true;
    this.draining.resolve();
    this.draining = Promise.withResolvers();
    return settled();
  }

  write(bytes: Uint8Array): boolean {
    this.input += textOf(bytes);
    return this.acceptsMore;
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
    if (this.exitsWhenKilled) void this.exitWith({ code: null, signal: 'SIGKILL' });
  }

  cpuSeconds(): number {
    return this.usedCpuSeconds;
  }
}

/** Fake collaborators of a packager, with a clock that the test advances. */
export class FakePackagerDependencies implements PackagerDependencies {
  readonly probes: FakeProbe[] = [];
  readonly encoders: FakeEncoder[] = [];
  now = BEGIN_MS;

  readonly startProbe = (): Probe => append(this.probes, new FakeProbe());
  readonly startEncoder = (options: EncoderOptions, events: EncoderEvents): Encoder =>
    append(this.encoders, new FakeEncoder(options, events));
  readonly newReader = (container: Container): ContainerReader =>
    container === 'matroska' ? new MatroskaReader() : new FakeReader();
  readonly nowMs = (): number => this.now;

  get probe(): FakeProbe {
    return this.probes.at(-1) as FakeProbe;
  }

  get encoder(): FakeEncoder {
    return this.encoders.at(-1) as FakeEncoder;
  }

  /** Advances the clock in steps of 250 ms and runs due timers (with `jest.useFakeTimers`). */
  async advance(ms: number, onStep: () => void = () => {}): Promise<void> {
    for (let elapsedMs = 0; elapsedMs < ms; elapsedMs += STEP_MS) {
      const stepMs = Math.min(STEP_MS, ms - elapsedMs);
      this.now += stepMs;
      onStep();
      jest.advanceTimersByTime(stepMs);
      await settled();
    }
  }
}

/** Records what a packager produces. */
export class FakeSegmentSink implements SegmentSink {
  readonly epochs: Epoch[] = [];
  readonly segments: Segment[] = [];
  readonly parts: { readonly seq: number; readonly part: Part }[] = [];
  readonly failures: string[] = [];

  nextEpoch() {
    const newest = this.segments.at(-1);
    return {
      epoch: this.epochs.length,
      seq: this.segments.length,
      notBeforeMs: newest ? newest.startMs + newest.durationMs : 0,
    };
  }

  addEpoch(epoch: Epoch): void {
    this.epochs.push(epoch);
  }

  addPart(seq: number, part: Part): void {
    this.parts.push({ seq, part });
  }

  addSegment(segment: Segment): void {
    this.segments.push(segment);
  }

  onSourceFailed({ message }: SourceEnd): void {
    this.failures.push(message);
  }
}

export function createPackagerFixture(options: Partial<PackagerOptions> = {}) {
  const dependencies = new FakePackagerDependencies();
  const sink = new FakeSegmentSink();
  const { logger, lines } = recordingLogger('debug');
  const packager = new Packager(dependencies, {
    container: 'flv',
    settings: SETTINGS,
    segmentMs: 1_000,
    partMs: null,
    logger,
    sink,
    ...options,
  });
  const send = (text: string) => packager.write(bytesOf(text));
  /** @returns `feed`, which sends a unit whose source time is one step after the last unit's */
  const sender = (letter: 'J' | 'P', fromMs: number, stepMs: number) => {
    const source = { ms: fromMs };
    const feed = () => {
      source.ms += stepMs;
      send(`${letter}${source.ms};`);
    };
    return { source, feed };
  };
  /** Ends the source; its encoder exits. */
  const endSource = async () => {
    const ending = packager.end();
    await dependencies.encoder.exitWith();
    await ending;
  };
  return { packager, dependencies, sink, lines, send, sender, endSource };
}

export function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Runs all reactions to promises that are already fulfilled. */
export async function settled(): Promise<void> {
  for (let tick = 0; tick < 20; tick++) await Promise.resolve();
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

function append<Item>(items: Item[], item: Item): Item {
  items.push(item);
  return item;
}
