import { beforeAll, describe, expect, test } from 'bun:test';
import type { SourceUnit } from '../../server/media/container/container.ts';
import { FlvReader } from '../../server/media/container/flv.ts';
import type { Fragment } from '../../server/media/fmp4/fragment.ts';
import type { SourceInfo } from '../../server/media/packager/encoder.ts';
import { startEncoder } from '../../server/media/packager/encoder-ffmpeg.ts';
import type { TrackId } from '../../server/media/segment.ts';
import { Timeline } from '../../server/media/timeline.ts';
import { rounds } from '../support/full-run.ts';
import { DashConformance } from '../support/media/conformance/dash-conformance.ts';
import {
  GeneratedStream,
  type GeneratedStreamOptions,
} from '../support/media/conformance/generated-stream.ts';
import { HlsConformance } from '../support/media/conformance/hls-conformance.ts';
import type { Violation } from '../support/media/conformance/violation.ts';
import { ENCODER_SETTINGS } from '../support/media/encoder-fixture.ts';
import { runFfmpeg } from '../support/media/ffmpeg-fixture.ts';
import { seededRandom } from '../support/seeded-random.ts';

const LONG_MINUTES = rounds(3, 10);
const BEGIN_MS = 1_795_000_000_000;
/** The source's clock is fast by 9 s a day. */
const DRIFT = 1e-4;
const JITTER_MS = 40;
/** Input lost while the encoder restarts. */
const RESTART_MS = 2_300;

// For these small frames, audio dominates the encoding time; keep most of it silent.
const TONE = "sine=440:r=16000,volume=0:enable='gt(mod(t,10),1)'";
// A test takes 10 s on two idle cores, and longer under load.
const TIMEOUT_MS = 60_000;

/** Input of an encoder. */
interface Source {
  readonly info: SourceInfo;
  readonly units: readonly SourceUnit[];
  readonly header: Uint8Array;
}

/** Encodes a source like OBS does: a key frame every two seconds. */
function createSource(seconds: number, rate: number): Source {
  const bytes = runFfmpeg([
    ...['-f', 'lavfi', '-i', `testsrc=s=64x36:r=${rate}`, '-f', 'lavfi', '-i', TONE],
    ...['-t', `${seconds}`, '-c:v', 'libx264', '-preset', 'ultrafast', '-g', `${2 * rate}`],
    ...['-c:a', 'aac', '-b:a', '32k', '-f', 'flv'],
  ]);
  const reader = new FlvReader();
  const units = reader.push(bytes);
  const info: SourceInfo = { width: 64, height: 36, frameRate: [rate, 1], hasAudio: true };
  return { info, units, header: reader.header() };
}

let longSource: Source;
let minute: Source;
beforeAll(() => {
  longSource = createSource(60 * LONG_MINUTES, 10);
  minute = createSource(60, 25);
}, TIMEOUT_MS);

/** Checks a stream repeatedly while it grows. */
class ConformanceWatch {
  readonly violations: Violation[] = [];
  readings = 0;
  private readonly hls: HlsConformance;
  private readonly dash: DashConformance;

  constructor(private readonly stream: GeneratedStream) {
    this.hls = new HlsConformance(stream.read);
    this.dash = new DashConformance(stream.read);
  }

  read(): void {
    this.readings++;
    this.violations.push(...this.hls.check(this.stream.hls()));
    // Encoding delay.
    this.violations.push(...this.dash.check(this.stream.dash(), this.stream.endMs() + 300));
  }
}

interface Options extends GeneratedStreamOptions {
  readonly source: Source;
  readonly fragmentMs: number;
  /** Segments between two checks. */
  readonly everySegments: number;
}

interface Run extends Options {
  readonly stream: GeneratedStream;
  readonly watch: ConformanceWatch;
  readonly timeline: Timeline;
}

/** Encodes units without pacing into one epoch. */
async function encode(run: Run, units: readonly SourceUnit[], isJoining: boolean): Promise<void> {
  const { stream, watch, timeline, everySegments, source } = run;
  const interleaver = new TrackInterleaver((track, fragment) => {
    const before = stream.segments.at(-1)?.seq ?? -1;
    stream.push(track, fragment);
    const newest = stream.segments.at(-1)?.seq ?? -1;
    if (newest > before && newest % everySegments === 0) watch.read();
  });
  const startMs = units.find(({ sourceMs }) => sourceMs !== null)?.sourceMs ?? 0;
  const settings = { ...ENCODER_SETTINGS, fragmentMs: run.fragmentMs };
  const encoder = startEncoder(
    { container: 'flv', source: source.info, settings, startMs },
    {
      onInits: (tracks, inits) => {
        const bytes = new Map([...inits].map(([id, init]) => [id, init.bytes]));
        stream.begin(tracks, bytes, timeline);
        for (const { id, timescale } of tracks) interleaver.add(id, timescale);
      },
      onFragment: (track, fragment) => interleaver.push(track, fragment),
      onProgress: () => undefined,
      onAudioMissing: () => undefined,
    },
  );
  const random = seededRandom(4);
  if (isJoining) encoder.write(source.header);
  for (const { bytes, sourceMs } of units) {
    if (sourceMs !== null) {
      const jitterMs = random() * JITTER_MS;
      timeline.observe(sourceMs, BEGIN_MS + sourceMs * (1 - DRIFT) + jitterMs);
    }
    if (!encoder.write(bytes)) await encoder.drained();
  }
  encoder.finish();
  const { code, lastLines } = await encoder.exited;
  if (code !== 0) throw new Error(lastLines.join('\n'));
  interleaver.finish();
  stream.finish();
}

/**
 * Interleaves the fragments of all tracks by time, as in real time. Without pacing, ffmpeg may be half
 * a minute further in one track than in another.
 */
class TrackInterleaver {
  private readonly tracks = new Map<TrackId, { timescale: number; pending: Fragment[] }>();

  constructor(private readonly onFragment: (track: TrackId, fragment: Fragment) => void) {}

  add(id: TrackId, timescale: number): void {
    this.tracks.set(id, { timescale, pending: [] });
  }

  push(track: TrackId, fragment: Fragment): void {
    this.tracks.get(track)?.pending.push(fragment);
    while ([...this.tracks.values()].every(({ pending }) => pending.length > 0)) this.emitNext();
  }

  finish(): void {
    while ([...this.tracks.values()].some(({ pending }) => pending.length > 0)) this.emitNext();
  }

  private emitNext(): void {
    const [first] = [...this.tracks]
      .flatMap(([id, { timescale, pending }]) => {
        const [fragment] = pending;
        if (!fragment) return [];
        const { startTicks, durationTicks } = fragment;
        return [{ id, fragment, endS: (startTicks + durationTicks) / timescale }];
      })
      .sort((a, b) => a.endS - b.endS);
    if (!first) return;
    this.tracks.get(first.id)?.pending.shift();
    this.onFragment(first.id, first.fragment);
  }
}

/** Encodes the first half of a source, restarts the encoder, and encodes the rest. */
async function encodeWithRestart(options: Options): Promise<Run> {
  const { units } = options.source;
  const at = ({ sourceMs }: SourceUnit) => sourceMs ?? 0;
  const breakMs = units.reduce((newestMs, unit) => Math.max(newestMs, at(unit)), 0) / 2;
  const stream = new GeneratedStream(options);
  const run = { ...options, stream, watch: new ConformanceWatch(stream), timeline: new Timeline() };
  const first = units.filter((unit) => at(unit) < breakMs);
  await encode(run, first, false);
  const later = units.filter((unit) => at(unit) >= breakMs + RESTART_MS);
  await encode(run, later.slice(later.findIndex(({ isEntryPoint }) => isEntryPoint)), true);
  run.watch.read();
  stream.end();
  run.watch.read();
  return run;
}

describe('several minutes with an encoder restart', () => {
  test(
    '[M-11] [M-12] [M-24] [M-25] several minutes with an encoder restart make one timeline in a sliding window',
    async () => {
      const { stream, watch } = await encodeWithRestart({
        source: longSource,
        dvrMs: 60_000,
        fragmentMs: 500,
        everySegments: 17,
      });
      expect(watch.violations).toEqual([]);
      expect(watch.readings).toBeGreaterThan(3 * LONG_MINUTES);
      const last = stream.segments.at(-1);
      expect(last?.seq).toBeGreaterThan(60 * LONG_MINUTES - 10);
      expect(last?.epoch).toBe(1);
      // Segments follow service time, although the source's clock runs ahead.
      const errorMs =
        (last?.startMs ?? 0) - (BEGIN_MS + (60 * LONG_MINUTES - 1) * 1000 * (1 - DRIFT));
      expect(Math.abs(errorMs)).toBeLessThan(1_000);
    },
    TIMEOUT_MS,
  );
});

describe('one minute with an encoder restart', () => {
  test(
    '[M-11] [M-24] [M-25] [M-27] a minute with an encoder restart conforms as a recording',
    async () => {
      const { stream, watch } = await encodeWithRestart({
        source: minute,
        fragmentMs: 500,
        everySegments: 5,
      });
      expect(watch.violations).toEqual([]);
      expect(stream.segments.length).toBeGreaterThan(50);
    },
    TIMEOUT_MS,
  );

  test(
    '[M-11] [M-24] [M-25] a minute with an encoder restart conforms with low latency',
    async () => {
      const { stream, watch } = await encodeWithRestart({
        source: minute,
        partMs: 334,
        dvrMs: 20_000,
        // One frame per fragment.
        fragmentMs: 20,
        everySegments: 3,
      });
      expect(watch.violations).toEqual([]);
      expect(stream.parts.size).toBeGreaterThan(3);
    },
    TIMEOUT_MS,
  );
});
