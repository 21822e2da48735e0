import { FlvReader } from '../container/flv.ts';
import { MatroskaReader } from '../container/matroska.ts';
import { findFfmpeg } from '../packager/find-ffmpeg.ts';
import { pauseMs, type Sequel, sequelOf } from './link-ends.ts';
import type { PlayReport } from './play-report.ts';
import { Relay } from './relay.ts';
import { type Material, prepareFile, type Sender, startPicture } from './sender.ts';
import { learnClock } from './service-clock.ts';
import { NoAddress, type SourceAddress } from './source-address.ts';
import { LinkRefused, openSourceLink, type SourceLink } from './source-link.ts';

export interface PlayOptions {
  readonly material: Material;
  /** Where the service is, `http://localhost:4250`. */
  readonly origin: string;
  /** @throws NoAddress */
  readonly findAddress: () => Promise<SourceAddress>;
  readonly ffmpeg: string;
  readonly report: PlayReport;
  /** Fulfilled when somebody wants it to end. */
  readonly asked: Promise<void>;
  readonly sleep?: (ms: number) => Promise<void>;
}

// A link that has lasted so long was a good one: the next pause is short again.
const GOOD_LINK_MS = 10_000;
// What the line has not taken yet when a file has ended.
const REST_MS = 15_000;
const LOOK_MS = 50;
const REPORT_MS = 1_000;

/**
 * Plays a file or the test picture to a stream (SPEC M-9), until it ends or is asked to. A
 * connection that breaks is made again; what plays runs on.
 * @throws Error with a line for the person who started it
 */
export async function play(options: PlayOptions): Promise<void> {
  const { material, origin, ffmpeg } = options;
  await requireFfmpeg(ffmpeg);
  const clock = await learnClock(origin);
  const address = await options.findAddress();
  const start =
    material.kind === 'file'
      ? await prepareFile(ffmpeg, material)
      : () => startPicture(ffmpeg, material, address.title, clock);
  const link = await firstLink(address, material);
  let sender: Sender;
  try {
    sender = start();
  } catch (error) {
    link.close();
    throw error;
  }
  await new Run(options, sender, link).run();
}

async function requireFfmpeg(ffmpeg: string): Promise<void> {
  if (Bun.which(ffmpeg) !== null) return;
  const found = await findFfmpeg({ ffmpeg, encoder: 'libx264', preset: 'ultrafast' });
  if ('missing' in found) throw new Error(found.missing);
}

async function firstLink(address: SourceAddress, material: Material): Promise<SourceLink> {
  try {
    return await openSourceLink(address, containerOf(material));
  } catch (error) {
    if (!(error instanceof LinkRefused)) throw error;
    const sequel = sequelOf(error.end, false);
    throw new Error(sequel.kind === 'give-up' ? sequel.why : error.message);
  }
}

/** Matroska holds whatever a file has; of FLV every frame goes out as it is made. */
function containerOf({ kind }: Material): 'matroska' | 'flv' {
  return kind === 'file' ? 'matroska' : 'flv';
}

/** From the first link on. */
class Run {
  private readonly relay: Relay;
  private readonly startMs = performance.now();
  private readonly over = Promise.withResolvers<void>();
  private isOver = false;

  constructor(
    private readonly options: PlayOptions,
    private readonly sender: Sender,
    private link: SourceLink | null,
  ) {
    const isFlv = containerOf(options.material) === 'flv';
    this.relay = new Relay(isFlv ? new FlvReader() : new MatroskaReader());
  }

  async run(): Promise<void> {
    const { sender } = this;
    const { report } = this.options;
    this.relay.attach(this.link);
    report.say('live');
    const ticks = setInterval(() => this.tell(), REPORT_MS);
    const pumped = this.pump();
    try {
      const sequel = await Promise.race([
        pumped.then(() => 'ended' as const),
        this.keepLinked(),
        this.options.asked.then(() => 'asked' as const),
      ]);
      if (sequel === 'ended') await this.finish();
      else if (sequel !== 'asked' && sequel.kind === 'give-up') throw new Error(sequel.why);
      else if (sequel !== 'asked') report.say('the stream has ended');
    } finally {
      this.isOver = true;
      this.over.resolve();
      clearInterval(ticks);
      await sender.stop();
      await pumped.catch(() => {});
      this.link?.close();
      await this.link?.closed;
    }
  }

  /** Brings what the encoder makes to the relay, to its end. */
  private async pump(): Promise<void> {
    for await (const bytes of this.sender.program.output) {
      this.relay.take(bytes);
      const hasRoom = await this.relay.room((ms) => this.pause(ms));
      if (!hasRoom) this.link?.close();
    }
  }

  /** The encoder has ended by itself. */
  private async finish(): Promise<void> {
    const { status, complaint } = await this.sender.program.exited;
    if (status !== 0) throw new Error(`ffmpeg ended with ${status}: ${complaint || 'no reason'}`);
    const { link } = this;
    if (!link) throw new Error('the file ended while there was no connection');
    const endMs = performance.now() + REST_MS;
    while (link.waitingBytes() > 0 && performance.now() < endMs) await Bun.sleep(LOOK_MS);
    this.tell();
    this.options.report.say('the file has ended');
  }

  /** Makes a new link for each that ends, until that makes no sense. */
  private async keepLinked(): Promise<Exclude<Sequel, { kind: 'again' }>> {
    let tries = 0;
    while (!this.isOver) {
      const { link } = this;
      let sequel: Sequel;
      if (link) {
        const sinceMs = performance.now();
        const end = await link.closed;
        this.link = null;
        this.relay.attach(null);
        if (this.isOver) break;
        if (performance.now() - sinceMs >= GOOD_LINK_MS) tries = 0;
        sequel = sequelOf(end, true);
        if (sequel.kind === 'again')
          this.options.report.say(`the connection is gone: ${end.reason || end.code}`);
      } else {
        sequel = await this.linkAgain();
      }
      if (sequel.kind !== 'again') return sequel;
      if (!this.link) await this.pause(pauseMs(tries++, Math.random()));
    }
    return { kind: 'over' };
  }

  private async linkAgain(): Promise<Sequel> {
    try {
      // The key may have been rotated meanwhile.
      const address = await this.options.findAddress();
      const link = await openSourceLink(address, containerOf(this.options.material));
      if (this.isOver) {
        link.close();
        return { kind: 'over' };
      }
      this.link = link;
      this.relay.attach(link);
      this.options.report.say('live again');
      return { kind: 'again' };
    } catch (error) {
      if (error instanceof LinkRefused) return sequelOf(error.end, true);
      if (error instanceof NoAddress && error.isPassing) return { kind: 'again' };
      throw error;
    }
  }

  private tell(): void {
    this.options.report.show({
      isLive: this.link !== null,
      elapsedMs: performance.now() - this.startMs,
      sentBytes: this.relay.sentBytes,
      frames: this.sender.frames(),
    });
  }

  private pause(ms: number): Promise<void> {
    return Promise.race([(this.options.sleep ?? Bun.sleep)(ms), this.over.promise]);
  }
}
