import type { ContainerReader, SourceUnit } from '../container/container.ts';
import type { Probe, SourceInfo } from './encoder.ts';

// Audio that cannot be decoded would be probed again and again: from then on it is probed once a minute.
const ATTEMPTS_MAX = 3;
const FURTHER_ATTEMPT_MS = 60_000;
/** Audio that pauses for longer has to arrive anew: one packet that comes alone is no audio. */
const AUDIO_PAUSE_MS = 2_000;

/** Probes a source again when audio arrives that the first probe did not find, or that the encoder does not decode. */
export class LateAudioProbe {
  private probe: Probe | null = null;
  private attempts = 0;
  private lastAttemptMs = Number.NEGATIVE_INFINITY;
  private isStopped = false;
  /** Since when audio arrives, ms; null: it does not. */
  private audioSinceMs: number | null = null;
  private lastAudioMs = 0;

  /**
   * @param delayMs how long audio arrives before it is probed
   * @param onFound called once, when the source has audio that can be decoded
   */
  constructor(
    private readonly reader: Pick<ContainerReader, 'header' | 'received'>,
    private readonly start: () => Probe,
    private readonly delayMs: number,
    private readonly onFound: (info: SourceInfo) => void,
  ) {}

  push(unit: SourceUnit, nowMs: number): void {
    this.observeAudio(nowMs);
    const isDue = nowMs - (this.audioSinceMs ?? Number.POSITIVE_INFINITY) >= this.delayMs;
    if (!this.probe && unit.isEntryPoint && isDue) this.begin(nowMs);
    this.probe?.write(unit.bytes);
  }

  stop(): void {
    this.isStopped = true;
    this.probe?.kill();
    this.probe = null;
  }

  private observeAudio(nowMs: number): void {
    const { received } = this.reader;
    if (received.has('audio')) {
      // So that the next audio counts as received again.
      received.forgetAudio();
      this.audioSinceMs ??= nowMs;
      this.lastAudioMs = nowMs;
    } else if (nowMs - this.lastAudioMs > AUDIO_PAUSE_MS) {
      this.audioSinceMs = null;
    }
  }

  private begin(nowMs: number): void {
    const isTooSoon =
      this.attempts >= ATTEMPTS_MAX && nowMs - this.lastAttemptMs < FURTHER_ATTEMPT_MS;
    if (this.isStopped || isTooSoon) return;
    this.attempts++;
    this.lastAttemptMs = nowMs;
    const probe = this.start();
    this.probe = probe;
    probe.write(this.reader.header());
    const finish = (info: SourceInfo | null) => {
      if (this.probe !== probe) return;
      this.probe = null;
      this.audioSinceMs = null;
      if (!info?.hasAudio) return;
      this.stop();
      this.onFound(info);
    };
    probe.result.then(finish, () => finish(null));
  }
}
