import { Channel } from '../../../server/media/channel.ts';
import type { Fragment } from '../../../server/media/fmp4/fragment.ts';
import { isGap, type Track, type TrackId } from '../../../server/media/segment.ts';
import { Segmenter } from '../../../server/media/segmenter.ts';
import type { FileStreamSegments } from '../../../server/media/store/stream-segments-files.ts';
import { steadyTimeline } from './conformance/generated-stream.ts';
import type { Violation } from './conformance/violation.ts';
import { FaultyDisk } from './faulty-disk.ts';
import { StreamCheck } from './live-fixture.ts';
import { listenOrigin, type OriginFixture } from './origin-fixture.ts';
import {
  BEGIN_MS,
  createFixture,
  type Fixture,
  removeFixtures,
  STREAM,
} from './segment-store-fixture.ts';
import { MEDIA_CONFIG } from './source-registry-fixture.ts';

// Encoding delay.
const ENCODER_MS = 200;

/** Output of an encoder since the show's start; fragments ordered by end time. */
export interface Encoding {
  readonly tracks: readonly Track[];
  readonly inits: ReadonlyMap<TrackId, Uint8Array>;
  readonly fragments: readonly (readonly [TrackId, Fragment])[];
}

const origins: OriginFixture[] = [];

/** Stops and deletes all shows; to be called after each test. */
export async function removeShows(): Promise<void> {
  for (const origin of origins.splice(0)) await origin.stop();
  await removeFixtures();
}

/** The parts of a show that survive a restart of the service. */
interface PersistentParts {
  readonly fixture: Fixture;
  readonly disk: FaultyDisk;
  readonly trackIds: readonly TrackId[];
}

/**
 * A recording from `BEGIN_MS` on, stored on a disk whose faults the test controls, and served over
 * HTTP.
 */
export class Show {
  readonly disk: FaultyDisk;
  private readonly origin: string;
  private readonly check: StreamCheck;

  private constructor(
    private readonly parts: PersistentParts,
    readonly stored: FileStreamSegments,
    readonly channel: Channel,
    origin: OriginFixture,
  ) {
    this.disk = parts.disk;
    this.origin = `http://127.0.0.1:${origin.server.port}`;
    const clock = { nowMs: () => parts.fixture.clock.nowMs + ENCODER_MS };
    this.check = new StreamCheck({ url: this.origin, clock }, STREAM, parts.trackIds);
  }

  static async begin(trackIds: readonly TrackId[]): Promise<Show> {
    const disk = new FaultyDisk();
    return Show.at({ fixture: await createFixture({ disk }), disk, trackIds }, false);
  }

  private static async at(parts: PersistentParts, hasEnded: boolean): Promise<Show> {
    const stored = await (await parts.fixture.start()).open(STREAM);
    const channel = new Channel(STREAM, stored, MEDIA_CONFIG, hasEnded, null);
    channel.setStream({ recording: true, started: BEGIN_MS, reopened: null });
    const origin = listenOrigin(() => channel, '*');
    origins.push(origin);
    return new Show(parts, stored, channel, origin);
  }

  /** Opens the show again, as after a restart of the service. */
  reopen(hasEnded: boolean): Promise<Show> {
    return Show.at(this.parts, hasEnded);
  }

  /** Starts an encoder. @returns a function that runs it up to a second of the show */
  encoder({ tracks, inits, fragments }: Encoding): (untilS: number) => Promise<void> {
    const { stored } = this;
    const { clock } = this.parts.fixture;
    const output = this.channel.sink(() => {});
    const { epoch, seq, notBeforeMs } = output.nextEpoch();
    const segmenter = new Segmenter({
      ...{ epoch, firstSeq: seq, notBeforeMs, tracks, timeline: steadyTimeline(BEGIN_MS) },
      ...{ segmentMs: MEDIA_CONFIG.segmentMs, partMs: null },
    });
    const remaining = fragments.values();
    return async (untilS) => {
      const untilMs = BEGIN_MS + untilS * 1_000;
      for (const [id, fragment] of remaining) {
        for (const event of segmenter.push(id, fragment)) {
          if (event.kind === 'begin') {
            const { startMs } = event;
            output.addEpoch({ number: epoch, startMs, tracks, inits });
          } else if (event.kind === 'segment') {
            const { startMs, durationMs } = event.segment;
            clock.nowMs = startMs + durationMs;
            output.addSegment(event.segment, event.bytes);
            await stored.whenWritten();
          }
        }
        if (clock.nowMs >= untilMs) return;
      }
    };
  }

  /** Violations of HLS and DASH rules now. */
  violations(): Promise<Violation[]> {
    return this.check.violations();
  }

  /** URL of a playlist or manifest. */
  url(name: string): string {
    return `${this.origin}/media/${STREAM}/${name}`;
  }

  async text(name: string): Promise<string> {
    return (await fetch(this.url(name))).text();
  }

  /** Period ids of the manifest. */
  async periods(): Promise<string[]> {
    const manifest = await this.text('manifest.mpd');
    return [...manifest.matchAll(/<Period id="(\S+)"/g)].map(([, id = '']) => id);
  }

  /** Ranges of available segment numbers, as `from-to`. */
  runs(): string[] {
    const runs: [number, number][] = [];
    for (const segment of this.stored.segments) {
      const run = runs.at(-1);
      if (isGap(segment)) continue;
      if (run?.[1] === segment.seq - 1) run[1] = segment.seq;
      else runs.push([segment.seq, segment.seq]);
    }
    return runs.map((run) => run.join('-'));
  }
}
