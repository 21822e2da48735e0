/** One request of each viewer to the same path: answers to a quiz, or reports of winners. */
export interface RequestBatch {
  readonly path: string;
  /** Assigned to the viewers cyclically. */
  readonly requests: readonly ViewersRequest[];
}

export interface ViewersRequest {
  /** JSON, or empty. */
  readonly body: string;
  /** The correct status of the response. */
  readonly status: number;
}

const CRLF = '\r\n';

/**
 * The bytes of all requests, in order: the first batch of all viewers, then the second. A returned
 * buffer is valid until the next call.
 */
export class ViewersRequests {
  readonly count: number;
  private readonly tokens: readonly Buffer[];
  private readonly batches: readonly { head: Buffer; tails: Buffer[]; statuses: number[] }[];
  private readonly scratch = Buffer.alloc(16_384);

  constructor(url: string, tokens: readonly string[], batches: readonly RequestBatch[]) {
    const { host } = new URL(url);
    this.count = tokens.length * batches.length;
    this.tokens = tokens.map((token) => Buffer.from(token));
    this.batches = batches.map(({ path, requests }) => ({
      head: Buffer.from(
        [`POST ${path} HTTP/1.1`, `Host: ${host}`, 'Authorization: Bearer '].join(CRLF),
      ),
      tails: requests.map(({ body }) => Buffer.from(tailOf(body))),
      statuses: requests.map(({ status }) => status),
    }));
  }

  get viewers(): number {
    return this.tokens.length;
  }

  batchOf(request: number): number {
    return Math.floor(request / this.tokens.length);
  }

  statusOf(request: number): number {
    const { statuses } = this.partsOf(request);
    return statuses[(request % this.tokens.length) % statuses.length] as number;
  }

  bytesOf(request: number): Uint8Array {
    const { head, tails } = this.partsOf(request);
    const viewer = request % this.tokens.length;
    let length = 0;
    for (const part of [head, this.tokens[viewer], tails[viewer % tails.length]] as Buffer[]) {
      this.scratch.set(part, length);
      length += part.length;
    }
    return this.scratch.subarray(0, length);
  }

  private partsOf(request: number) {
    return this.batches[this.batchOf(request)] as (typeof this.batches)[number];
  }
}

/** The end of a request head, and the body. */
function tailOf(body: string): string {
  const type = body === '' ? [] : ['Content-Type: application/json'];
  return ['', ...type, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join(CRLF);
}
