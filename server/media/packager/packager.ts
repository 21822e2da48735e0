import type { Logger } from 'pino';
import { runtime } from '../../platform/runtime.ts';
import type { ContainerReader } from '../container/container.ts';
import { MPEGTS_WRAP_MS } from '../container/mpegts.ts';
import type { Fragment, InitSegment } from '../fmp4/fragment.ts';
import type { Epoch, Part, Segment, Track, TrackBytes, TrackId } from '../segment.ts';
import { Segmenter, type SegmenterEvent } from '../segmenter.ts';
import type { Container, SourceEnd, SourceEndReason } from '../source.ts';
import { Timeline } from '../timeline.ts';
import { msOf } from '../track-queue.ts';
import {
  type Encoder,
  type EncoderExit,
  type EncoderProgress,
  type EncoderSettings,
  finishWithTimeout,
  type Probe,
  type SourceInfo,
  type StartEncoder,
  type StartProbe,
} from './encoder.ts';
import { AUDIO_TRACK } from './encoder-tracks.ts';
import { ANALYZE_MS } from './ffmpeg-arguments.ts';
import { InputRates } from './input-rates.ts';
import { KeyFrameMeter } from './key-frame-meter.ts';
import { LateAudioProbe } from './late-audio-probe.ts';
import { newPictureFiller } from './new-picture-filler.ts';
import type { PictureFiller } from './picture-filler.ts';
import { RestartPolicy } from './restart-policy.ts';
import { SourceClock } from './source-clock.ts';
import { SourceFeed } from './source-feed.ts';

/** Collaborators of a packager. Tests replace them to inject failures. */
export interface PackagerDependencies {
  readonly startProbe: StartProbe;
  readonly startEncoder: StartEncoder;
  readonly newReader: (container: Container) => ContainerReader;
  /** Service time, Unix ms. */
  readonly nowMs: () => number;
}

/** Receives what a packager produces. */
export interface SegmentSink {
  /** Number, first sequence number and earliest start (Unix ms) of the next epoch. */
  nextEpoch(): { readonly epoch: number; readonly seq: number; readonly notBeforeMs: number };
  addEpoch(epoch: Epoch): void;
  addPart(seq: number, part: Part, bytes: TrackBytes): void;
  addSegment(segment: Segment, bytes: TrackBytes): void;
  /** The source cannot be encoded. */
  onSourceFailed(end: SourceEnd): void;
}

export interface PackagerOptions {
  readonly container: Container;
  readonly settings: EncoderSettings;
  readonly segmentMs: number;
  readonly partMs: number | null;
  readonly logger: Logger;
  readonly sink: SegmentSink;
}

// Input is parsed in chunks, so that a message of many tiny units is rejected within a few ms: a
// 4 MB message of them blocked the process for two seconds.
const READ_CHUNK_BYTES = 64 << 10;
// Source bytes pending for a slow encoder: 8 s of the largest source.
const PENDING_BYTES_MAX = 32 << 20;
// Bytes buffered while the probe runs, which takes 10 s at most.
const PROBE_BYTES_MAX = 32 << 20;
const FAILURE_CHARS_MAX = 300;
const TOO_SLOW_MESSAGE =
  'The encoder is too slow. Send a smaller video, or give the service more CPU.';
// A source may send only audio for this long before its video starts.
const VIDEO_MISSING_MS_MAX = 60_000;
/** An encoder that can decode audio that returns does so within this time. */
const AUDIO_RETURN_MS = 5_000;
/**
 * Audio with a valid header and frames that cannot be decoded would get another encoder every 10 s: from then on it has
 * to arrive for a minute.
 */
const AUDIO_TAKEOVERS_MAX = 3;
const FURTHER_TAKEOVER_MS = 60_000;
/**
 * A sender that hangs with an open connection keeps another one out. Those that send a picture only when it changes
 * pause for some seconds.
 */
const MEDIA_MISSING_MS_MAX = 30_000;
const CHECK_INTERVAL_MS = 500;
// The largest rendition; its fragments show that an encoder works.
const MAIN_RENDITION = 'v0';

/** Turns one source into segments: probes it, encodes it, and restarts encoders that fail. */
export class Packager {
  private readonly reader: ContainerReader;
  private readonly feed: SourceFeed;
  private timeline: Timeline;
  private readonly restartPolicy = new RestartPolicy();
  private probe: Probe | null;
  private info: SourceInfo | null = null;
  private encoder: Encoder | null = null;
  private segmenter: Segmenter | null = null;
  /** The epoch that starts with the encoder's first video frame. */
  private pendingEpoch: Omit<Epoch, 'startMs'> | null = null;
  private mainTimescale = 1;
  /** The timeline of the segmenter: a jump replaces the other one before the last output arrives. */
  private outputTimeline: Timeline;
  private progress: EncoderProgress | null = null;
  private restartTimer: Timer | null = null;
  /** Finds audio that starts after the probe, or that returns and the encoder does not decode. */
  private lateAudio: LateAudioProbe | null = null;
  /** Encoders in a row that took over to decode audio, and did not. */
  private audioTakeovers = 0;
  /** Whether the running encoder has generated silence for audio, which it lost or was started without. */
  private isAudioMissing = false;
  /** Service time of the last audio or video, ms. */
  private lastMediaMs: number;
  /** Source time at which the next encoder takes over without a gap, ms; null: none is due. */
  private switchMs: number | null = null;
  /** Service time since which a source with audio has no video yet, ms; null: it has. */
  private videoMissingSinceMs: number | null = null;
  private readonly checkTimer: Timer;
  private readonly sourceClock = new SourceClock();
  private readonly keyFrames = new KeyFrameMeter();
  private readonly pictureFiller: PictureFiller;
  private readonly rates: InputRates;
  private bytes = 0;
  private restarts = 0;
  private endedCpuSeconds = 0;
  private isEnded = false;

  constructor(
    private readonly dependencies: PackagerDependencies,
    private readonly options: PackagerOptions,
  ) {
    this.reader = dependencies.newReader(options.container);
    this.rates = new InputRates(options.container);
    this.timeline = newTimeline(options.container);
    this.outputTimeline = this.timeline;
    this.feed = new SourceFeed(() => this.reader.header());
    this.pictureFiller = newPictureFiller(options.container, dependencies.nowMs);
    this.probe = this.startProbe();
    this.lastMediaMs = dependencies.nowMs();
    this.checkTimer = runtime.setInterval(() => this.check(), CHECK_INTERVAL_MS);
  }

  /** Accepts bytes of the source. @returns false to apply back pressure until `drained` */
  write(bytes: Uint8Array): boolean {
    let acceptsMore = true;
    for (let offset = 0; offset < bytes.length && !this.isEnded; offset += READ_CHUNK_BYTES) {
      acceptsMore =
        this.parseChunk(bytes.subarray(offset, offset + READ_CHUNK_BYTES)) && acceptsMore;
    }
    return acceptsMore;
  }

  private parseChunk(bytes: Uint8Array): boolean {
    this.bytes += bytes.byteLength;
    const nowMs = this.dependencies.nowMs();
    let acceptsMore = true;
    try {
      const { received } = this.reader;
      const before = received.count;
      const units = this.reader.push(bytes);
      if (received.count > before) this.lastMediaMs = nowMs;
      this.rates.count(units, this.reader.takeElementCount?.() ?? 0, nowMs);
      for (const unit of this.pictureFiller.fill(units)) {
        if (unit.sourceMs !== null && !unit.isHeader) this.onSourceTime(unit.sourceMs, nowMs);
        this.keyFrames.observe(unit);
        if (unit.isEntryPoint) this.probeLateVideo(unit.sourceMs);
        this.probe?.write(unit.bytes);
        this.lateAudio?.push(unit, nowMs);
        acceptsMore = this.feed.push(unit) && acceptsMore;
      }
    } catch (error) {
      this.fail((error as Error).message);
      return true;
    }
    if (this.feed.isFlowing()) this.restartPolicy.onInput(nowMs);
    if (this.feed.bufferedBytes() > PROBE_BYTES_MAX) this.fail('No video was found in the source.');
    if ((this.encoder?.pendingBytes() ?? 0) > PENDING_BYTES_MAX)
      this.fail(TOO_SLOW_MESSAGE, 'too-slow');
    return acceptsMore;
  }

  /** Fulfilled when the encoder accepts more bytes. */
  drained(): Promise<void> {
    return this.encoder?.drained() ?? Promise.resolve();
  }

  /** Ends the input. Fulfilled when everything received has become segments. */
  async end(): Promise<void> {
    const { encoder } = this;
    if (!this.isEnded) {
      this.stop();
      if (encoder) finishWithTimeout(encoder);
    }
    // Wait for a killed encoder too: it may emit segments until it has exited.
    await encoder?.exited;
  }

  /** Health and totals of the source. */
  state() {
    const { info } = this;
    return {
      info: info && { ...info, hasAudio: info.hasAudio && !this.isAudioMissing },
      progress: this.progress,
      /** How far its key frames are apart, ms; null: unknown. */
      keyFrameIntervalMs: this.keyFrames.intervalMs(),
      /** Bytes received in total. */
      bytes: this.bytes,
      restarts: this.restarts,
      /** CPU time of all its encoders, s. */
      cpuSeconds: this.endedCpuSeconds + (this.encoder?.cpuSeconds() ?? 0),
    };
  }

  // An encoder fills a gap with frames, all at once: a gap of a day took 23 GB of memory. So the
  // encoder ends before the gap, and another one starts after it.
  private onSourceTime(sourceMs: number, nowMs: number): void {
    const step = this.sourceClock.advance(sourceMs, nowMs);
    if (step !== 'continuous') this.feed.markDiscontinuity();
    if (step === 'jump') this.resetTimeline(nowMs);
    else if (step === 'pause' && this.encoder) finishWithTimeout(this.encoder);
    this.sourceClock.firstMs ??= sourceMs;
    this.timeline.observe(sourceMs, nowMs);
    if (this.timeline.isFarAhead(sourceMs, nowMs)) this.startNewTimeline(nowMs);
  }

  private startProbe(): Probe {
    const probe = this.dependencies.startProbe(this.options.container);
    probe.result
      .then(
        (info) => this.onProbed(info),
        (error: Error) => this.onProbeFailed(error),
      )
      .catch((error: Error) => this.fail(error.message));
    return probe;
  }

  private onProbeFailed({ message }: Error): void {
    const { received } = this.reader;
    if (this.isEnded || received.has('video') || !received.has('audio')) {
      this.fail(message);
      return;
    }
    this.probe = null;
    this.videoMissingSinceMs = this.dependencies.nowMs();
    this.feed.discard();
  }

  /** Probes a source that had no video at its first entry point with video. */
  private probeLateVideo(sourceMs: number | null): void {
    if (this.videoMissingSinceMs === null || !this.reader.received.has('video')) return;
    this.videoMissingSinceMs = null;
    this.sourceClock.firstMs = sourceMs;
    this.feed.bufferFromNextEntryPoint();
    this.probe = this.startProbe();
    this.probe.write(this.reader.header());
  }

  private onProbed(info: SourceInfo): void {
    this.probe = null;
    if (this.isEnded) return;
    this.info = info;
    if (!info.hasAudio) this.watchForAudio(0);
    this.options.logger.info({ ...info }, 'source probed');
    const startMs = this.sourceClock.firstMs ?? 0;
    this.startEncoder(info, (encoder) => this.feed.startWithBuffered(encoder), startMs);
  }

  private watchForAudio(delayMs: number): void {
    const startProbe = () => this.dependencies.startProbe(this.options.container);
    const onFound = (info: SourceInfo) => this.onLateAudio(info);
    this.lateAudio = new LateAudioProbe(this.reader, startProbe, delayMs, onFound);
  }

  /**
   * An encoder drops audio after a gap of a minute, and audio whose codec or packet id has changed: another encoder
   * takes over if the audio arrives, and this one does not decode it.
   */
  private onAudioMissing(isMissing: boolean): void {
    if (this.isEnded) return;
    this.isAudioMissing = isMissing;
    this.stopLateAudio();
    if (!isMissing) return;
    this.reader.received.forgetAudio();
    const isOften = this.audioTakeovers >= AUDIO_TAKEOVERS_MAX;
    this.watchForAudio(isOften ? FURTHER_TAKEOVER_MS : AUDIO_RETURN_MS);
  }

  private stopLateAudio(): void {
    this.lateAudio?.stop();
    this.lateAudio = null;
  }

  /** An encoder cannot add a track, so another one takes over at the next entry point. */
  private onLateAudio({ analyzeMs }: SourceInfo): void {
    if (this.isEnded || !this.info) return;
    this.options.logger.info('the source has audio now; another encoder takes over');
    this.audioTakeovers++;
    this.info = { ...this.info, hasAudio: true, ...(analyzeMs ? { analyzeMs } : {}) };
    this.feed.switchAtNextEntryPoint((startMs) => {
      this.switchMs = startMs ?? this.sourceClock.newestMs ?? 0;
      if (this.encoder) finishWithTimeout(this.encoder);
    });
  }

  private startEncoder(info: SourceInfo, feed: (encoder: Encoder) => void, startMs: number): void {
    const { container, settings } = this.options;
    this.segmenter = null;
    this.progress = null;
    this.isAudioMissing = !info.hasAudio;
    if (info.hasAudio) this.stopLateAudio();
    this.restartPolicy.onStart(this.dependencies.nowMs());
    try {
      this.encoder = this.dependencies.startEncoder(
        { container, source: info, settings, startMs },
        {
          onInits: (tracks, inits) => this.onInits(tracks, inits),
          onFragment: (track, fragment) => this.onFragment(track, fragment),
          onProgress: (progress) => {
            this.progress = progress;
          },
          onAudioMissing: (isMissing) => this.onAudioMissing(isMissing),
        },
      );
    } catch (error) {
      this.onEncoderFailure({ code: null, signal: null, lastLines: [(error as Error).message] });
      return;
    }
    const { encoder } = this;
    encoder.exited
      .then((exit) => this.onExit(encoder, exit))
      .catch((error: Error) => this.onExitError(encoder, error));
    feed(encoder);
  }

  private onInits(tracks: readonly Track[], inits: ReadonlyMap<TrackId, InitSegment>): void {
    const { segmentMs, partMs, sink } = this.options;
    const next = sink.nextEpoch();
    this.outputTimeline = this.timeline;
    this.mainTimescale = tracks.find(({ id }) => id === MAIN_RENDITION)?.timescale ?? 1;
    const bytes = [...inits].map(([id, init]) => [id, init.bytes] as const);
    this.pendingEpoch = { number: next.epoch, tracks, inits: new Map(bytes) };
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

  private onFragment(track: TrackId, fragment: Fragment): void {
    if (!this.segmenter) return;
    if (track === MAIN_RENDITION && this.isOutputFarAhead(fragment)) return;
    if (track === AUDIO_TRACK && !this.isAudioMissing) this.audioTakeovers = 0;
    try {
      this.publish(this.segmenter.push(track, fragment));
    } catch (error) {
      this.options.logger.error({ err: error }, "the encoder's tracks make no continuous timeline");
      this.finishSegmenter();
      this.encoder?.kill();
    }
  }

  /** The input may have times that only the encoder reads. A new timeline starts then. */
  private isOutputFarAhead({ startTicks, durationTicks }: Fragment): boolean {
    const nowMs = this.dependencies.nowMs();
    this.restartPolicy.onOutput(nowMs);
    const endMs = msOf(startTicks + durationTicks, this.mainTimescale);
    if (!this.outputTimeline.isFarAhead(endMs, nowMs)) return false;
    this.finishSegmenter();
    this.startNewTimeline(nowMs);
    return true;
  }

  /** Publishes the complete segments and ignores later fragments. */
  private finishSegmenter(): void {
    const { segmenter } = this;
    this.segmenter = null;
    if (segmenter) this.publish(segmenter.finish());
  }

  private publish(events: readonly SegmenterEvent[]): void {
    const { sink } = this.options;
    for (const event of events) {
      if (event.kind === 'segment') sink.addSegment(event.segment, event.bytes);
      else if (event.kind === 'part') sink.addPart(event.seq, event.part, event.bytes);
      else if (this.pendingEpoch) sink.addEpoch({ ...this.pendingEpoch, startMs: event.startMs });
    }
  }

  private onExit(encoder: Encoder, exit: EncoderExit): void {
    if (this.encoder !== encoder) return;
    this.endedCpuSeconds += encoder.cpuSeconds() ?? 0;
    this.encoder = null;
    this.finishSegmenter();
    const { switchMs, info } = this;
    this.switchMs = null;
    if (this.isEnded) return;
    if (switchMs === null || !info) this.onEncoderFailure(exit);
    else this.startEncoder(info, (next) => this.feed.startWithBuffered(next), switchMs);
  }

  // Without this the source would stay open, without an encoder.
  private onExitError(encoder: Encoder, error: Error): void {
    this.options.logger.error({ err: error }, 'the output of the encoder could not be completed');
    if (this.encoder === encoder) this.encoder = null;
    this.fail(`The source could not be encoded: ${error.message}`);
  }

  private onEncoderFailure(exit: EncoderExit): void {
    const { logger } = this.options;
    const restartInMs = this.restartPolicy.onExit(this.dependencies.nowMs());
    if (restartInMs === null) {
      const reason = exit.lastLines.at(-1) ?? 'the encoder gave no reason';
      this.fail(`The source could not be encoded: ${reason}`);
      logger.error(exit, 'the encoder failed repeatedly; the source is closed');
      return;
    }
    logger.warn({ ...exit, restartInMs }, 'the encoder exited and will be restarted');
    this.feed.discard();
    this.restartTimer = runtime.setTimeout(() => this.restart(), restartInMs);
  }

  private restart(): void {
    if (this.isEnded || !this.info) return;
    this.restarts++;
    const startMs = this.sourceClock.newestMs ?? 0;
    // The encoder starts at a key frame, so the default analysis time suffices.
    const info = { ...this.info, analyzeMs: ANALYZE_MS };
    this.startEncoder(info, (encoder) => this.feed.startAtNextEntryPoint(encoder), startMs);
  }

  private check(): void {
    const nowMs = this.dependencies.nowMs();
    if (nowMs - (this.videoMissingSinceMs ?? nowMs) > VIDEO_MISSING_MS_MAX) {
      this.fail('The source has no video track; a source needs one.');
    }
    // While the encoder has input, the source may only wait for it.
    const isWaiting = (this.encoder?.pendingBytes() ?? 0) > 0;
    if (nowMs - this.lastMediaMs > MEDIA_MISSING_MS_MAX && !isWaiting) {
      this.fail('The source sends no video and no audio any more.');
    }
    // The source pauses when 4 MB are pending for an encoder that hangs.
    if (isWaiting) this.restartPolicy.onInput(nowMs);
    if (!this.encoder) return;
    if (this.restartPolicy.isStuck(nowMs)) {
      this.options.logger.warn('the encoder produces no output and is killed');
      this.encoder.kill();
    } else if (this.timeline.needsNewEpoch()) this.startNewTimeline(nowMs);
  }

  private startNewTimeline(nowMs: number): void {
    this.feed.markDiscontinuity();
    this.resetTimeline(nowMs);
  }

  private resetTimeline(nowMs: number): void {
    this.options.logger.warn("the source's clock jumped; a new timeline starts");
    if (this.sourceClock.resetAfterJump(nowMs)) {
      this.fail("The source's clock does not run in real time. Send in real time (ffmpeg: -re).");
      return;
    }
    this.timeline = newTimeline(this.options.container);
    this.encoder?.kill();
  }

  private fail(message: string, reason: SourceEndReason = 'not-understood'): void {
    if (this.isEnded) return;
    this.stop();
    try {
      this.encoder?.kill();
    } catch (error) {
      this.options.logger.error({ err: error }, 'the encoder could not be killed');
      // Nothing waits for its exit.
      this.encoder = null;
    }
    // It may contain input.
    this.options.sink.onSourceFailed({ reason, message: message.slice(0, FAILURE_CHARS_MAX) });
  }

  private stop(): void {
    this.isEnded = true;
    this.probe?.kill();
    this.probe = null;
    this.stopLateAudio();
    runtime.clearTimer(this.checkTimer);
    if (this.restartTimer) runtime.clearTimer(this.restartTimer);
  }
}

function newTimeline(container: Container): Timeline {
  return new Timeline(container === 'mpegts' ? MPEGTS_WRAP_MS : null);
}
