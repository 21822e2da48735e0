import { Channel } from '../../../server/media/channel.ts';
import type { Fragment } from '../../../server/media/fmp4/fragment.ts';
import { isGap, type Track, type TrackId } from '../../../server/media/segment.ts';
import { Segmenter } from '../../../server/media/segmenter.ts';
import type { FileStreamSegments } from '../../../server/media/store/stream-segments-files.ts';
import { MEDIA_CONFIG } from './source-manager-fixture.ts';
import { steady } from './conformance/made-stream.ts';
import type { Violation } from './conformance/violation.ts';
import { FaultyDisk } from './faulty-disk.ts';
import { StreamCheck } from './live-fixture.ts';
import { listenOrigin, type OriginFixture } from './origin-fixture.ts';
import { BEGIN_MS, type Fixture, createFixture, removeFixtures } from './segment-store-fixture.ts';

const STREAM = '0b8ee0d6-6f5c-4a7e-9d6b-1d2f3a4b5c6d';
// What an encoder takes.
const ENCODER_MS = 200;

/** What an encoder makes, from the show's beginning on; fragments in the order of their ends. */
export interface Encoding {
  readonly tracks: readonly Track[];
  readonly inits: ReadonlyMap<TrackId, Uint8Array>;
  readonly fragments: readonly (readonly [TrackId, Fragment])[];
}

const origins: OriginFixture[] = [];

/** Ends all shows; each test file calls it after each test. */
export async function removeShows(): Promise<void> {
  for (const origin of origins.splice(0)) await origin.stop();
  await removeFixtures();
}

/** Where a show is: what stays when the service is started again. */
interface Place {
  readonly fixture: Fixture;
  readonly disk: FaultyDisk;
  readonly trackIds: readonly TrackId[];
}

/**
 * A recording that begins at `BEGIN_MS`, on a disk that does what a test says, as players read it
 * over HTTP.
 */
export class Show {
  readonly disk: FaultyDisk;
  private readonly url: string;
  private readonly check: StreamCheck;

  private constructor(
    private readonly place: Place,
    readonly shelf: FileStreamSegments,
    readonly channel: Channel,
    origin: OriginFixture,
  ) {
    this.disk = place.disk;
    this.url = `http://127.0.0.1:${origin.server.port}`;
    const clock = { nowMs: () => place.fixture.clock.nowMs + ENCODER_MS };
    this.check = new StreamCheck({ url: this.url, clock }, STREAM, place.trackIds);
  }

  static async begin(trackIds: readonly TrackId[]): Promise<Show> {
    const disk = new FaultyDisk();
    return Show.at({ fixture: await createFixture({ disk }), disk, trackIds }, false);
  }

  private static async at(place: Place, hasEnded: boolean): Promise<Show> {
    const shelf = await (await place.fixture.start()).open(STREAM);
    const channel = new Channel(STREAM, shelf, MEDIA_CONFIG, hasEnded);
    channel.setRetention('recording');
    const origin = listenOrigin(() => channel, '*');
    origins.push(origin);
    return new Show(place, shelf, channel, origin);
  }

  /** As after a start of the service. */
  again(hasEnded: boolean): Promise<Show> {
    return Show.at(this.place, hasEnded);
  }

  /** An encoder begins. @returns what has it go on until a second of the show */
  encoder({ tracks, inits, fragments }: Encoding): (untilS: number) => Promise<void> {
    const { shelf } = this;
    const { clock } = this.place.fixture;
    const output = this.channel.sink(() => {});
    const { epoch, seq, notBeforeMs } = output.nextEpoch();
    const segmenter = new Segmenter({
      ...{ epoch, firstSeq: seq, notBeforeMs, tracks, timeline: steady(BEGIN_MS) },
      ...{ segmentMs: MEDIA_CONFIG.segmentMs, partMs: null },
    });
    const coming = fragments.values();
    return async (untilS) => {
      const untilMs = BEGIN_MS + untilS * 1_000;
      for (const [id, fragment] of coming) {
        for (const event of segmenter.push(id, fragment)) {
          if (event.kind === 'begin') {
            const { startMs } = event;
            output.addEpoch({ number: epoch, startMs, tracks, inits });
          } else if (event.kind === 'segment') {
            const { startMs, durationMs } = event.segment;
            clock.nowMs = startMs + durationMs;
            output.addSegment(event.segment, event.bytes);
            await shelf.whenWritten();
          }
        }
        if (clock.nowMs >= untilMs) return;
      }
    };
  }

  /** What is wrong with it now. */
  violations(): Promise<Violation[]> {
    return this.check.violations();
  }

  /** Where a playlist or manifest is. */
  address(name: string): string {
    return `${this.url}/media/${STREAM}/${name}`;
  }

  async text(name: string): Promise<string> {
    return (await fetch(this.address(name))).text();
  }

  /** Ids of the manifest's Periods. */
  async periods(): Promise<string[]> {
    const manifest = await this.text('manifest.mpd');
    return [...manifest.matchAll(/<Period id="(\S+)"/g)].map(([, id = '']) => id);
  }

  /** The numbers that are there, as `from-to`. */
  runs(): string[] {
    const runs: [number, number][] = [];
    for (const segment of this.shelf.segments) {
      const run = runs.at(-1);
      if (isGap(segment)) continue;
      if (run?.[1] === segment.seq - 1) run[1] = segment.seq;
      else runs.push([segment.seq, segment.seq]);
    }
    return runs.map((run) => run.join('-'));
  }
}
