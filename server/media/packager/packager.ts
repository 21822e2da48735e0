import type { Logger } from 'pino';
import type { ContainerReader } from '../container/container.ts';
import { MPEGTS_WRAP_MS } from '../container/mpegts.ts';
import type { Fragment, InitSegment } from '../fmp4/fragment.ts';
import { PerSecond } from '../per-second.ts';
import type { Epoch, Track, TrackId } from '../segment.ts';
import { Segmenter, type SegmenterEvent } from '../segmenter.ts';
import type { Container, Ending } from '../source.ts';
import { Timeline } from '../timeline.ts';
import { BackOff } from './back-off.ts';
import {
  type Encoder,
  type EncoderExit,
  type EncoderProgress,
  type EncoderSettings,
  finishSoon,
  type Probe,
  type SourceInfo,
  type StartEncoder,
  type StartProbe,
} from './encoder.ts';
import { LOOK_MS } from './ffmpeg-arguments.ts';
import type { Output, PackagerState } from './output.ts';
import { SourceFeed } from './source-feed.ts';
import { SourceTimes } from './source-times.ts';

/** What a packager is made of; a test puts in what it wants to see go wrong. */
export interface PackagerParts {
  readonly startProbe: StartProbe;
  readonly startEncoder: StartEncoder;
  readonly newReader: (container: Container) => ContainerReader;
  /** Service time, Unix ms. */
  readonly nowMs: () => number;
}

export interface PackagerOptions {
  readonly container: Container;
  readonly settings: EncoderSettings;
  readonly segmentMs: number;
  readonly partMs: number | null;
  readonly logger: Logger;
  readonly output: Output;
}

// Read at a time, so that one message of many tiny pieces is stopped in a few ms: 4 MB of them took
// two seconds, in which nobody else was served.
const SLICE_BYTES = 64 << 10;
// Some 110 pictures and sounds, and of MPEG-TS 1,300 packets for each MB; after a pause more.
const UNITS_PER_S_MAX = 20_000;
// What waits for an encoder that does not keep up: 8 s of the largest picture of the ladder.
const PENDING_BYTES_MAX = 32 << 20;
// Before the probe has seen enough: it takes 10 s at most.
const HELD_BYTES_MAX = 32 << 20;
const TOO_SLOW =
  'the encoder does not keep up; send a smaller picture, or give the service more CPU';
const TICK_MS = 500;
// The rendition that an encoder owes.
const PICTURE = 'v0';

/** Makes segments of one source: looks at it, encodes it, and starts encoders again that end. */
export class Packager {
  private readonly reader: ContainerReader;
  private readonly feed: SourceFeed;
  private timeline: Timeline;
  private readonly backOff = new BackOff();
  private probe: Probe | null;
  private info: SourceInfo | null = null;
  private encoder: Encoder | null = null;
  private segmenter: Segmenter | null = null;
  /** The epoch that begins with the first picture of the encoder. */
  private begins: Omit<Epoch, 'startMs'> | null = null;
  private progress: EncoderProgress | null = null;
  private again: Timer | null = null;
  private readonly look: Timer;
  private readonly times = new SourceTimes();
  private readonly units = new PerSecond(UNITS_PER_S_MAX);
  private bytes = 0;
  private restarts = 0;
  private cpuSecondsBefore = 0;
  private isOver = false;

  constructor(
    private readonly parts: PackagerParts,
    private readonly options: PackagerOptions,
  ) {
    this.reader = parts.newReader(options.container);
    this.timeline = newTimeline(options.container);
    this.feed = new SourceFeed(() => this.reader.header());
    this.probe = parts.startProbe(options.container);
    this.probe.result.then(
      (info) => this.probed(info),
      (error: Error) => this.fail(error.message),
    );
    this.look = setInterval(() => this.lookAfter(), TICK_MS);
  }

  /** Takes bytes of the source. @returns false when it wants no more until `drained` */
  write(bytes: Uint8Array): boolean {
    let wantsMore = true;
    for (let at = 0; at < bytes.length && !this.isOver; at += SLICE_BYTES) {
      wantsMore = this.take(bytes.subarray(at, at + SLICE_BYTES)) && wantsMore;
    }
    return wantsMore;
  }

  private take(bytes: Uint8Array): boolean {
    this.bytes += bytes.byteLength;
    const nowMs = this.parts.nowMs();
    let wantsMore = true;
    try {
      const units = this.reader.push(bytes);
      if (this.units.isTooMany(units.length, nowMs)) {
        throw new Error('it is cut into too many pieces');
      }
      for (const unit of units) {
        if (unit.sourceMs !== null && !unit.isHeader) this.timed(unit.sourceMs, nowMs);
        this.probe?.write(unit.bytes);
        wantsMore = this.feed.push(unit) && wantsMore;
      }
    } catch (error) {
      this.fail((error as Error).message);
      return true;
    }
    if (this.feed.isFlowing()) this.backOff.fed(nowMs);
    if (this.feed.heldBytes() > HELD_BYTES_MAX) this.fail('it holds no picture');
    if ((this.encoder?.pendingBytes() ?? 0) > PENDING_BYTES_MAX) this.fail(TOO_SLOW, 'too-slow');
    return wantsMore;
  }

  /** Fulfilled when it wants more. */
  drained(): Promise<void> {
    return this.encoder?.drained() ?? Promise.resolve();
  }

  /** No more comes: what there is becomes segments. Fulfilled when that is done. */
  async end(): Promise<void> {
    const { encoder } = this;
    if (!this.isOver) {
      this.stop();
      if (encoder) finishSoon(encoder);
    }
    // One that was killed is waited for too: until it is gone it may give out segments.
    await encoder?.exited;
  }

  state(): PackagerState {
    return {
      info: this.info,
      progress: this.progress,
      bytes: this.bytes,
      restarts: this.restarts,
      cpuSeconds: this.cpuSecondsBefore + (this.encoder?.cpuSeconds() ?? 0),
    };
  }

  // An encoder would fill what is missing with pictures, all at once: a day took 23 GB. So it ends
  // before, and another begins after.
  private timed(sourceMs: number, nowMs: number): void {
    const step = this.times.step(sourceMs, nowMs);
    if (step !== 'on') this.feed.cut();
    if (step === 'jump') this.beginAnew(nowMs);
    else if (step === 'silence' && this.encoder) finishSoon(this.encoder);
    this.times.firstMs ??= sourceMs;
    this.timeline.observe(sourceMs, nowMs);
  }

  private probed(info: SourceInfo): void {
    this.probe = null;
    if (this.isOver) return;
    this.info = info;
    this.options.logger.info({ ...info }, 'the source is understood');
    this.startEncoder(info, (encoder) => this.feed.begin(encoder), this.times.firstMs ?? 0);
  }

  private startEncoder(info: SourceInfo, feed: (encoder: Encoder) => void, startMs: number): void {
    const { container, settings } = this.options;
    this.segmenter = null;
    this.progress = null;
    this.backOff.started(this.parts.nowMs());
    try {
      this.encoder = this.parts.startEncoder(
        { container, source: info, settings, startMs },
        {
          onInits: (tracks, inits) => this.began(tracks, inits),
          onFragment: (track, fragment) => this.made(track, fragment),
          onProgress: (progress) => {
            this.progress = progress;
          },
        },
      );
    } catch (error) {
      this.ended({ code: null, signal: null, lastLines: [(error as Error).message] });
      return;
    }
    const { encoder } = this;
    feed(encoder);
    void encoder.exited.then((exit) => this.exited(encoder, exit));
  }

  private began(tracks: readonly Track[], inits: ReadonlyMap<TrackId, InitSegment>): void {
    const { segmentMs, partMs, output } = this.options;
    const next = output.next();
    const bytes = [...inits].map(([id, init]) => [id, init.bytes] as const);
    this.begins = { number: next.epoch, tracks, inits: new Map(bytes) };
    this.segmenter = new Segmenter({
      epoch: next.epoch,
      firstSeq: next.seq,
      notBeforeMs: next.notBeforeMs,
      segmentMs,
      partMs,
      tracks,
      timeline: this.timeline,
    });
  }

  private made(track: TrackId, fragment: Fragment): void {
    if (!this.segmenter) return;
    if (track === PICTURE) this.backOff.made(this.parts.nowMs());
    try {
      this.publish(this.segmenter.push(track, fragment));
    } catch (error) {
      this.options.logger.error({ err: error }, 'the tracks make no timeline');
      this.close();
      this.encoder?.kill();
    }
  }

  /** What was whole becomes segments, and what still comes does not. */
  private close(): void {
    const { segmenter } = this;
    this.segmenter = null;
    if (segmenter) this.publish(segmenter.finish());
  }

  private publish(events: readonly SegmenterEvent[]): void {
    const { output } = this.options;
    for (const event of events) {
      if (event.kind === 'segment') output.segment(event.segment, event.bytes);
      else if (event.kind === 'part') output.part(event.seq, event.part, event.bytes);
      else if (this.begins) output.epoch({ ...this.begins, startMs: event.startMs });
    }
  }

  private exited(encoder: Encoder, exit: EncoderExit): void {
    if (this.encoder !== encoder) return;
    this.cpuSecondsBefore += encoder.cpuSeconds() ?? 0;
    this.encoder = null;
    this.close();
    if (!this.isOver) this.ended(exit);
  }

  private ended(exit: EncoderExit): void {
    const { logger } = this.options;
    const { lastLines, ...how } = exit;
    const wait = this.backOff.exited(this.parts.nowMs());
    if (wait === null) {
      this.fail(`nothing could be made of it: ${lastLines.at(-1) ?? 'the encoder said nothing'}`);
      logger.error({ ...how, lastLines }, 'the encoder failed again and again');
      return;
    }
    logger.warn({ ...how, lastLines, againInMs: wait }, 'the encoder ended and is started again');
    this.feed.leave();
    this.again = setTimeout(() => this.restart(), wait);
  }

  private restart(): void {
    if (this.isOver || !this.info) return;
    this.restarts++;
    const startMs = this.times.newestMs ?? 0;
    // It begins at a key frame, however much had to be seen to understand the source.
    const info = { ...this.info, lookMs: LOOK_MS };
    this.startEncoder(info, (encoder) => this.feed.join(encoder), startMs);
  }

  private lookAfter(): void {
    const nowMs = this.parts.nowMs();
    if (!this.encoder) return;
    if (this.backOff.isStuck(nowMs)) {
      this.options.logger.warn('the encoder is stuck');
      this.encoder.kill();
    } else if (this.timeline.needsNewEpoch()) {
      this.feed.cut();
      this.beginAnew(nowMs);
    }
  }

  private beginAnew(nowMs: number): void {
    this.options.logger.warn("the source's clock jumped; its timeline begins anew");
    if (this.times.jumped(nowMs)) {
      this.fail('its clock does not run as ours does; send in real time (ffmpeg: -re)');
      return;
    }
    this.timeline = newTimeline(this.options.container);
    this.encoder?.kill();
  }

  private fail(line: string, why: Ending = 'not-understood'): void {
    if (this.isOver) return;
    const { encoder } = this;
    this.stop();
    encoder?.kill();
    this.options.output.failed({ why, line });
  }

  private stop(): void {
    this.isOver = true;
    this.probe?.kill();
    this.probe = null;
    clearInterval(this.look);
    if (this.again) clearTimeout(this.again);
  }
}

function newTimeline(container: Container): Timeline {
  return new Timeline(container === 'mpegts' ? MPEGTS_WRAP_MS : null);
}
