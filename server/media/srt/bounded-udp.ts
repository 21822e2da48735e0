import type { udp } from 'bun';
import { runtime } from '../../platform/runtime.ts';

export interface BoundedUdpOptions {
  /** Null binds all addresses, IPv6 included where available. */
  readonly host: string | null;
  /** 0 selects a free port. */
  readonly port: number;
  readonly onDatagram: (datagram: Buffer, port: number, address: string) => void;
  /** Called when too many datagrams arrived and those of the next moments are dropped. */
  readonly onFlood: () => void;
  /** Called with each failed attempt to bind the port again. */
  readonly onBindError: (error: Error) => void;
  /** Datagrams in one turn of the event loop that are no flood. */
  readonly turnMax?: number;
}

/** The kernel buffers about 100 full ones, by default. */
const TURN_MAX = 1_000;
/** A large buffer of the kernel, filled while the thread waited, is read within this time. */
const TURN_MS = 15;
/** At 18 µs, the slowest datagram, a flood takes half of the thread. */
const PAUSE_MS = 20;
const REBIND_MS = 200;

/**
 * A UDP socket that lets the event loop go on. The runtime reads a socket until it is empty: while 50 Mbit/s of
 * handshakes arrived, no timer and no other socket had a turn. After `turnMax` datagrams and 15 ms in one turn it
 * is closed for a moment, which ends that reading.
 */
export class BoundedUdp {
  private socket: udp.Socket<'buffer'> | null = null;
  private boundPort = 0;
  private received = 0;
  private turnStartMs = 0;
  private isCounting = false;
  private isClosed = false;

  private constructor(private readonly options: BoundedUdpOptions) {}

  /** @throws Error with the code of the system when the port cannot be bound */
  static async bind(options: BoundedUdpOptions): Promise<BoundedUdp> {
    const udp = new BoundedUdp(options);
    await udp.open(options.port);
    return udp;
  }

  get port(): number {
    return this.boundPort;
  }

  /** Sends a datagram, which may get lost. */
  send(datagram: Buffer, port: number, address: string): void {
    try {
      this.socket?.send(datagram, port, address);
    } catch {
      // No route.
    }
  }

  close(): void {
    this.isClosed = true;
    this.socket?.close();
    this.socket = null;
  }

  private async open(port: number): Promise<void> {
    const socket = await bindAddress(this.options.host, port, (datagram, from, address) =>
      this.receive(datagram, from, address),
    );
    if (this.isClosed) return socket.close();
    this.socket = socket;
    this.boundPort = socket.port;
  }

  private receive(datagram: Buffer, port: number, address: string): void {
    if (this.socket === null) return;
    if (!this.isCounting) {
      this.isCounting = true;
      this.turnStartMs = runtime.monotonicMs();
      runtime.setImmediate(() => {
        this.isCounting = false;
        this.received = 0;
      });
    }
    if (++this.received > (this.options.turnMax ?? TURN_MAX) && this.isTurnOver())
      void this.pause();
    else this.options.onDatagram(datagram, port, address);
  }

  private isTurnOver(): boolean {
    return runtime.monotonicMs() - this.turnStartMs >= TURN_MS;
  }

  private async pause(): Promise<void> {
    this.socket?.close();
    this.socket = null;
    this.options.onFlood();
    for (let waitMs = PAUSE_MS; this.socket === null && !this.isClosed; waitMs = REBIND_MS) {
      await runtime.sleep(waitMs);
      if (!this.isClosed) await this.open(this.boundPort).catch(this.options.onBindError);
    }
  }
}

async function bindAddress(
  host: string | null,
  port: number,
  onDatagram: BoundedUdpOptions['onDatagram'],
): Promise<udp.Socket<'buffer'>> {
  const open = (hostname: string) =>
    Bun.udpSocket({
      hostname,
      port,
      socket: {
        data: (_, datagram, from, address) => onDatagram(datagram, from, address),
        // An ICMP error for a sent datagram.
        error: () => {},
      },
    });
  if (host !== null) return open(host);
  try {
    return await open('::');
  } catch (error) {
    if ((error as { code?: string }).code !== 'EAFNOSUPPORT') throw error;
    return open('0.0.0.0');
  }
}
