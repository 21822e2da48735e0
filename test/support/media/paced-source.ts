import type { SourceUnit } from '../../../server/media/container/container.ts';
import { FlvReader } from '../../../server/media/container/flv.ts';
import { MatroskaReader } from '../../../server/media/container/matroska.ts';
import { MpegTsReader } from '../../../server/media/container/mpegts.ts';
import { startEncoder } from '../../../server/media/packager/encoder-ffmpeg.ts';
import { Packager } from '../../../server/media/packager/packager.ts';
import { startProbe } from '../../../server/media/packager/probe.ts';
import type { Segment, TrackBytes, TrackId } from '../../../server/media/segment.ts';
import type { Container } from '../../../server/media/source.ts';
import { ENCODER_SETTINGS } from './encoder-fixture.ts';
import { runFfmpeg } from './ffmpeg-fixture.ts';
import { FakeSegmentSink } from './packager-fixture.ts';
import { recordingLogger } from './segment-store-fixture.ts';

const READERS = { flv: FlvReader, mpegts: MpegTsReader, matroska: MatroskaReader } as const;

/** Keeps the bytes of all segments. */
class StoringSink extends FakeSegmentSink {
  readonly bytes = new Map<number, TrackBytes>();
  /** Unix ms at which a segment was complete, by its number. */
  readonly addedMs = new Map<number, number>();

  override addSegment(segment: Segment, bytes?: TrackBytes): void {
    super.addSegment(segment);
    this.addedMs.set(segment.seq, Date.now());
    if (bytes) this.bytes.set(segment.seq, bytes);
  }

  /** A segment of a track as a file. */
  file(seq: number, track: TrackId): Uint8Array {
    const segment = this.segments.find((each) => each.seq === seq);
    const epoch = this.epochs.find(({ number }) => number === segment?.epoch);
    const pieces = [epoch?.inits.get(track), this.bytes.get(seq)?.get(track)];
    return Buffer.concat(pieces.map((piece) => piece ?? new Uint8Array(0)));
  }

  /** Whether the pictures of a segment differ by more than its compression. */
  hasMotion(seq: number): boolean {
    const gray = ['-i', 'pipe:0', '-vf', 'scale=48:27,format=gray', '-f', 'rawvideo'];
    const pictures = runFfmpeg(gray, this.file(seq, 'v0'));
    const size = 48 * 27;
    const first = pictures.subarray(0, size);
    return pictures.subarray(-size).some((value, at) => Math.abs(value - (first[at] ?? 0)) > 40);
  }

  /** Whether the audio of a segment is louder than silence. */
  hasSound(seq: number): boolean {
    const raw = ['-i', 'pipe:0', '-f', 's16le', '-ac', '1'];
    const samples = new Int16Array(runFfmpeg(raw, this.file(seq, 'a0')).slice().buffer);
    return samples.some((sample) => Math.abs(sample) > 1_000);
  }
}

/**
 * Sends a source in real time, through the real probe and encoder.
 * @param pick units to send, with the time after the start at which they are sent, ms
 */
export async function packageInRealTime(
  container: Container,
  units: readonly (SourceUnit & { readonly atMs: number })[],
) {
  const { logger, lines } = recordingLogger('info');
  const sink = new StoringSink();
  const packager = new Packager(
    {
      startProbe: startProbe('ffprobe'),
      startEncoder,
      newReader: (kind) => new READERS[kind](),
      nowMs: () => Date.now(),
    },
    { container, settings: ENCODER_SETTINGS, segmentMs: 1_000, partMs: null, logger, sink },
  );
  const startMs = Date.now();
  for (const unit of units) {
    const waitMs = startMs + unit.atMs - Date.now();
    if (waitMs > 0) await Bun.sleep(waitMs);
    packager.write(unit.bytes);
  }
  await packager.end();
  return { sink, lines, restarts: packager.state().restarts };
}

/** Splits a source into units that are sent at their source time. */
export function pacedUnits(container: Container, source: Uint8Array) {
  const units = new READERS[container]().push(source);
  const firstMs = units.find(({ sourceMs }) => sourceMs !== null)?.sourceMs ?? 0;
  let atMs = 0;
  return units.map((unit) => {
    atMs = Math.max(atMs, (unit.sourceMs ?? firstMs) - firstMs);
    return { ...unit, atMs };
  });
}
