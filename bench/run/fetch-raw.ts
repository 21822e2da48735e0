import { parseResponse } from '../../crowd/connections.ts';

interface RawResponse {
  readonly status: number;
  readonly body: Buffer;
  /** Size of head and body. */
  readonly bytes: number;
}

const TIMEOUT_S = 10;

/**
 * Sends the bytes of a request on a new connection.
 * @throws Error when there is no response within 10 s, or one without a length
 */
export async function fetchRaw(url: string, request: string): Promise<RawResponse> {
  const { hostname, port } = new URL(url);
  const { promise, resolve, reject } = Promise.withResolvers<RawResponse>();
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
          const { status, body } = parsed.response;
          resolve({ status, body: Buffer.from(body), bytes: bytes.length });
        } catch (error) {
          reject(error);
        }
      },
      timeout: () => reject(new Error(`${url} does not respond`)),
      close: () => reject(new Error(`${url} closed the connection`)),
      error: (_socket, error) => reject(error),
    },
  });
  try {
    socket.timeout(TIMEOUT_S);
    socket.write(request);
    return await promise;
  } finally {
    socket.end();
  }
}
