import { clientKey, rateLimitKey } from '../http/address.ts';

/** A client must read this much of a response, or the rest of it, within `STALL_TIMEOUT_S` (SPEC L-3). */
export const STALL_BYTES = 16 << 10;
/** The time in which a client must read `STALL_BYTES`. */
export const STALL_TIMEOUT_S = 30;
/**
 * Most memory of responses that clients have not read, without event streams, which have their own limits. The
 * gateway threads have equal shares: with 512 MB each, seven exceeded the memory that a node may have. By
 * calculation, gateways that relay 5 Gbit/s to clients with 5 Mbit/s each need 400 MB.
 */
export const UNSENT_RESPONSES_BYTES_MAX = 512 << 20;

/** For an incomplete response of the origin server, the memory of its socket counts, too. */
export const ORIGIN_SOCKET_BYTES = 208 << 10;

/** What a cut leaves of the limit, so that not every write over the limit has to cut. */
const LEFT_SHARE = 0.9;

/** A connection whose client has not read a response. */
export interface UnsentResponse {
  /** The IP address of the client. */
  readonly address: string;
  /** Closes the connection at once. */
  terminate(): void;
}

/** A playlist in the memory of the origin server, which all responses with this key share. */
export interface SharedBody {
  readonly key: string;
  readonly byteLength: number;
}

type Held = ArrayBufferLike | SharedBody;

/** The memory that an unsent response takes. */
interface UnsentMemory {
  /** The client; found once, since a cut looks at all responses: 30,000 took 0.1 s. */
  readonly client: string;
  readonly buffers: readonly Held[];
  readonly otherBytes: number;
}

const keyOf = (held: Held) => ('key' in held ? held.key : held);

/**
 * Bounds the memory of the responses of a gateway that clients do not read. A buffer that several responses
 * share counts once, with its whole size: a view of it keeps all of it. Above the limit it closes the
 * connections that have had unsent bytes for the longest time, of clients with more than an equal share: a client
 * that reads has no unsent bytes now and then. A response that the socket takes at once is not counted.
 */
export class UnsentResponses {
  /** The memory of all responses. */
  bytes = 0;
  /** In the order in which they began to wait. */
  private readonly memoryOf = new Map<UnsentResponse, UnsentMemory>();
  /** The number of responses that contain a buffer; a response that has it twice counts twice. */
  private readonly holders = new Map<ArrayBufferLike | string, number>();

  constructor(private readonly maxBytes = UNSENT_RESPONSES_BYTES_MAX) {}

  /**
   * Call it when the unsent bytes of a response have changed. It may close the connection.
   * @param otherBytes the memory that it takes besides these buffers
   */
  set(response: UnsentResponse, buffers: readonly Held[], otherBytes: number): void {
    const before = this.memoryOf.get(response);
    const client = before?.client ?? clientKey(rateLimitKey(response.address));
    this.memoryOf.set(response, { client, buffers, otherBytes });
    this.bytes += otherBytes;
    for (const buffer of buffers) this.hold(buffer);
    if (before) this.release(before);
    if (this.bytes > this.maxBytes) this.cut();
  }

  /** The response is sent, or its connection closed. */
  delete(response: UnsentResponse): void {
    const memory = this.memoryOf.get(response);
    if (!memory) return;
    this.memoryOf.delete(response);
    this.release(memory);
  }

  private hold(held: Held): void {
    const key = keyOf(held);
    const count = this.holders.get(key) ?? 0;
    if (count === 0) this.bytes += held.byteLength;
    this.holders.set(key, count + 1);
  }

  private release({ buffers, otherBytes }: UnsentMemory): void {
    this.bytes -= otherBytes;
    for (const held of buffers) {
      const key = keyOf(held);
      const count = this.holders.get(key) ?? 0;
      if (count > 1) this.holders.set(key, count - 1);
      else {
        this.holders.delete(key);
        this.bytes -= held.byteLength;
      }
    }
  }

  private cut(): void {
    const leftBytes = this.maxBytes * LEFT_SHARE;
    // More than one pass where clients share buffers: such a buffer is released with its last response.
    while (this.bytes > leftBytes && this.memoryOf.size > 0) this.cutToShares(leftBytes);
  }

  /** Closes responses of the clients that have more than an equal share of `leftBytes`. */
  private cutToShares(leftBytes: number): void {
    const bytesOf = this.bytesByClient();
    const shareBytes = leftBytes / bytesOf.size;
    for (const [response, memory] of [...this.memoryOf]) {
      if (this.bytes <= leftBytes) return;
      const { client } = memory;
      const clientBytes = bytesOf.get(client) ?? 0;
      if (clientBytes <= shareBytes) continue;
      bytesOf.set(client, clientBytes - this.bytesFor(memory));
      this.delete(response);
      response.terminate();
    }
  }

  private bytesByClient(): Map<string, number> {
    const bytesOf = new Map<string, number>();
    for (const memory of this.memoryOf.values()) {
      const clientBytes = bytesOf.get(memory.client) ?? 0;
      bytesOf.set(memory.client, clientBytes + this.bytesFor(memory));
    }
    return bytesOf;
  }

  /** The memory of a response; of a buffer that several share, an equal part. */
  private bytesFor({ buffers, otherBytes }: UnsentMemory): number {
    return buffers.reduce(
      (sum, held) => sum + held.byteLength / (this.holders.get(keyOf(held)) ?? 1),
      otherBytes,
    );
  }
}
