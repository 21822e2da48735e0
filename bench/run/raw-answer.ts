import { parseResponse } from '../../crowd/connections.ts';

/** An answer as it is on the wire. */
export interface RawAnswer {
  readonly status: number;
  /** Copied. */
  readonly body: Buffer;
  /** Of head and body. */
  readonly bytes: number;
}

const ANSWER_S = 10;

/**
 * Sends a request as it is, on a connection of its own.
 * @throws Error when there is no answer with a length
 */
export async function rawAnswer(url: string, request: string): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
  const chunks: Buffer[] = [];
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_socket, chunk) => {
        chunks.push(Buffer.from(chunk));
        const bytes = Buffer.concat(chunks);
        try {
          const parsed = parseResponse(bytes);
          if (!parsed) return;
          const { status, body } = parsed.answer;
          resolve({ status, body: Buffer.from(body), bytes: bytes.length });
        } catch (error) {
          reject(error);
        }
      },
      timeout: () => reject(new Error(`${url} does not answer`)),
      close: () => reject(new Error(`${url} closed the connection`)),
      error: (_socket, error) => reject(error),
    },
  });
  try {
    socket.timeout(ANSWER_S);
    socket.write(request);
    return await promise;
  } finally {
    socket.end();
  }
}
