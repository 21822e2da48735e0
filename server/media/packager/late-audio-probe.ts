import type { ContainerReader, SourceUnit } from '../container/container.ts';
import type { Probe, SourceInfo } from './encoder.ts';

// Audio that cannot be decoded would be probed again and again.
const ATTEMPTS_MAX = 3;

/** Probes a source again when audio arrives that the first probe did not find, or that the encoder does not decode. */
export class LateAudioProbe {
  private probe: Probe | null = null;
  private attempts = 0;
  /** Since when audio arrives, ms; null: it does not. */
  private audioSinceMs: number | null = null;

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
    if (this.reader.received.has('audio')) this.audioSinceMs ??= nowMs;
    const isDue = nowMs - (this.audioSinceMs ?? Number.POSITIVE_INFINITY) >= this.delayMs;
    if (!this.probe && unit.isEntryPoint && isDue) this.begin();
    this.probe?.write(unit.bytes);
  }

  stop(): void {
    this.attempts = ATTEMPTS_MAX;
    this.probe?.kill();
    this.probe = null;
  }

  private begin(): void {
    if (this.attempts++ >= ATTEMPTS_MAX) return;
    const probe = this.start();
    this.probe = probe;
    probe.write(this.reader.header());
    const finish = (info: SourceInfo | null) => {
      if (this.probe !== probe) return;
      this.probe = null;
      if (!info?.hasAudio) return;
      this.stop();
      this.onFound(info);
    };
    probe.result.then(finish, () => finish(null));
  }
}
