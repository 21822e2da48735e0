import type { Logger } from 'pino';
import type { IngestAddresses } from './ingest-addresses.ts';

type Protocol = 'rtmp' | 'srt';

interface Listener {
  readonly port: number;
  stop(): Promise<void> | void;
}

/** The listeners for RTMP and SRT. */
export class IngestPorts implements IngestAddresses {
  private readonly listeners = new Map<Protocol, Listener>();
  /** Protocols whose error was logged. */
  private readonly failed = new Set<Protocol>();
  private isClosed = false;

  constructor(private readonly logger: Logger) {}

  get rtmpPort(): number | null {
    return this.listeners.get('rtmp')?.port ?? null;
  }

  get srtPort(): number | null {
    return this.listeners.get('srt')?.port ?? null;
  }

  /**
   * Opens a port that is not open yet; call it again after a failure. Logs the first error.
   * @param port null: not configured
   * @returns whether nothing is left to open
   */
  async open(
    protocol: Protocol,
    port: number | null,
    listen: (port: number) => Promise<Listener>,
  ): Promise<boolean> {
    if (port === null || this.isClosed || this.listeners.has(protocol)) return true;
    const name = protocol.toUpperCase();
    try {
      const listener = await listen(port);
      if (this.isClosed) {
        await listener.stop();
        return true;
      }
      this.listeners.set(protocol, listener);
      this.logger.info({ port: listener.port }, `listening for video by ${name}`);
      return true;
    } catch (error) {
      if (!this.failed.has(protocol))
        this.logger.error(`cannot listen for video by ${name}: ${(error as Error).message}`);
      this.failed.add(protocol);
      return false;
    }
  }

  /** Closes the open ports, and those that are still being opened. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.listeners.values()].map((listener) => listener.stop()));
  }
}
