import { runtime } from '../../platform/runtime.ts';
import { FlvReader } from '../container/flv.ts';
import { MatroskaReader } from '../container/matroska.ts';
import { checkFfmpeg } from '../packager/find-ffmpeg.ts';
import {
  type PlayEncoder,
  type PlayInput,
  prepareFileEncoder,
  startTestPicture,
} from './play-encoder.ts';
import type { PlayReport } from './play-report.ts';
import { decideReconnect, type ReconnectDecision, reconnectDelayMs } from './reconnect.ts';
import { Relay } from './relay.ts';
import { syncServiceClock } from './service-clock.ts';
import { type SourceAddress, SourceAddressError } from './source-address.ts';
import {
  ConnectionRefused,
  openSourceConnection,
  type SourceConnection,
} from './source-connection.ts';

export interface PlayOptions {
  readonly input: PlayInput;
  /** Base URL of the service, such as `http://localhost:4250`. */
  readonly origin: string;
  /** @throws SourceAddressError */
  readonly findAddress: () => Promise<SourceAddress>;
  /** Starts the show, unless it is started. @throws SourceAddressError */
  readonly startShow: () => Promise<void>;
  readonly ffmpeg: string;
  readonly report: PlayReport;
  /** Fulfilled when the user asks to stop. */
  readonly stopRequested: Promise<void>;
  readonly sleep?: (ms: number) => Promise<void>;
}

// A connection that lasts this long resets the reconnect delay.
const STABLE_CONNECTION_MS = 10_000;
// How long buffered bytes may take to leave after a file has ended.
const FLUSH_TIMEOUT_MS = 15_000;
const POLL_MS = 50;
const REPORT_INTERVAL_MS = 1_000;

/**
 * Plays a file or the test picture to a stream (SPEC M-9) until it ends or the user stops it.
 * Reconnects when the connection breaks; the encoder keeps running meanwhile.
 * @throws Error with a one-line message for the user
 */
export async function play(options: PlayOptions): Promise<void> {
  const { input, origin, ffmpeg } = options;
  await requireFfmpeg(ffmpeg);
  const clock = await syncServiceClock(origin);
  const address = await options.findAddress();
  const start =
    input.kind === 'file'
      ? await prepareFileEncoder(ffmpeg, input)
      : () => startTestPicture(ffmpeg, input, address.title, clock);
  const connection = await connectFirst(address, input);
  let encoder: PlayEncoder;
  try {
    await options.startShow();
    encoder = start();
  } catch (error) {
    connection.close();
    throw error;
  }
  await new PlaySession(options, encoder, connection).run();
}

async function requireFfmpeg(ffmpeg: string): Promise<void> {
  if (Bun.which(ffmpeg) !== null) return;
  const problem = await checkFfmpeg({ ffmpeg, encoder: 'libx264', preset: 'ultrafast' });
  if (problem !== null) throw new Error(problem);
}

async function connectFirst(address: SourceAddress, input: PlayInput): Promise<SourceConnection> {
  try {
    return await openSourceConnection(address, containerOf(input));
  } catch (error) {
    if (!(error instanceof ConnectionRefused)) throw error;
    const decision = decideReconnect(error.close, false);
    throw new Error(decision.kind === 'give-up' ? decision.reason : error.message);
  }
}

/** Matroska holds every codec of a file. FLV adds no latency: each frame is sent as it is made. */
function containerOf({ kind }: PlayInput): 'matroska' | 'flv' {
  return kind === 'file' ? 'matroska' : 'flv';
}

/** One run of an encoder, over one connection after another. */
class PlaySession {
  private readonly relay: Relay;
  private readonly startMs = runtime.monotonicMs();
  private readonly stopped = Promise.withResolvers<void>();
  private isStopped = false;

  constructor(
    private readonly options: PlayOptions,
    private readonly encoder: PlayEncoder,
    private connection: SourceConnection | null,
  ) {
    const isFlv = containerOf(options.input) === 'flv';
    this.relay = new Relay(isFlv ? new FlvReader() : new MatroskaReader());
  }

  async run(): Promise<void> {
    const { encoder } = this;
    const { report } = this.options;
    this.relay.attach(this.connection);
    report.log('Live');
    const reportTimer = runtime.setInterval(() => this.reportStatus(), REPORT_INTERVAL_MS);
    const pumped = this.pump();
    try {
      const result = await Promise.race([
        pumped.then(() => 'ended' as const),
        this.keepConnected(),
        this.options.stopRequested.then(() => 'stopped' as const),
      ]);
      if (result === 'ended') await this.finish();
      else if (result !== 'stopped' && result.kind === 'give-up') throw new Error(result.reason);
      else if (result !== 'stopped') report.log('The stream has ended');
    } finally {
      this.isStopped = true;
      this.stopped.resolve();
      runtime.clearTimer(reportTimer);
      await encoder.stop();
      await pumped.catch(() => {});
      this.connection?.close();
      await this.connection?.closed;
    }
  }

  /** Passes the encoder's output to the relay until it ends. */
  private async pump(): Promise<void> {
    for await (const bytes of this.encoder.process.output) {
      this.relay.push(bytes);
      const hasRoom = await this.relay.waitForRoom((ms) => this.sleep(ms));
      if (!hasRoom) this.connection?.close();
    }
  }

  /** Handles the encoder's exit: waits until the last bytes have left. */
  private async finish(): Promise<void> {
    const { status, lastErrorLine } = await this.encoder.process.exited;
    if (status !== 0)
      throw new Error(
        `ffmpeg exited with status ${status}: ${lastErrorLine || 'no error message'}`,
      );
    const { connection } = this;
    if (!connection) throw new Error('the file ended while the connection was down');
    const endMs = runtime.monotonicMs() + FLUSH_TIMEOUT_MS;
    while (connection.bufferedBytes() > 0 && runtime.monotonicMs() < endMs)
      await runtime.sleep(POLL_MS);
    this.reportStatus();
    this.options.report.log('The file has ended');
  }

  /** Replaces each connection that closes, until a retry is pointless or the session stops. */
  private async keepConnected(): Promise<Exclude<ReconnectDecision, { kind: 'retry' }>> {
    let attempts = 0;
    while (!this.isStopped) {
      const { connection } = this;
      let decision: ReconnectDecision;
      if (connection) {
        const sinceMs = runtime.monotonicMs();
        const close = await connection.closed;
        this.connection = null;
        this.relay.attach(null);
        if (this.isStopped) break;
        if (runtime.monotonicMs() - sinceMs >= STABLE_CONNECTION_MS) attempts = 0;
        decision = decideReconnect(close, true);
        if (decision.kind === 'retry')
          this.options.report.log(`Connection lost: ${close.reason || close.code}`);
      } else {
        decision = await this.reconnect();
      }
      if (decision.kind !== 'retry') return decision;
      if (!this.connection) await this.sleep(reconnectDelayMs(attempts++, runtime.random()));
    }
    return { kind: 'stream-ended' };
  }

  private async reconnect(): Promise<ReconnectDecision> {
    try {
      // The key may have been rotated since.
      const address = await this.options.findAddress();
      const connection = await openSourceConnection(address, containerOf(this.options.input));
      if (this.isStopped) {
        connection.close();
        return { kind: 'stream-ended' };
      }
      this.connection = connection;
      this.relay.attach(connection);
      this.options.report.log('Live again');
      return { kind: 'retry' };
    } catch (error) {
      if (error instanceof ConnectionRefused) return decideReconnect(error.close, true);
      if (error instanceof SourceAddressError && error.isTransient) return { kind: 'retry' };
      throw error;
    }
  }

  private reportStatus(): void {
    this.options.report.update({
      isLive: this.connection !== null,
      elapsedMs: runtime.monotonicMs() - this.startMs,
      sentBytes: this.relay.sentBytes,
      frames: this.encoder.frames(),
    });
  }

  private sleep(ms: number): Promise<void> {
    return Promise.race([(this.options.sleep ?? runtime.sleep)(ms), this.stopped.promise]);
  }
}
