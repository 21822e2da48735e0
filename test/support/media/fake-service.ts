import type { BunRequest, Server } from 'bun';
import { pino } from 'pino';
import { INGEST_PATH, WebSocketIngest } from '../../../server/media/websocket/websocket-ingest.ts';
import type { WebSocketSource } from '../../../server/media/websocket/websocket-source.ts';
import { freePort } from '../backends/free-port.ts';
import { FakeIngest } from './fake-ingest.ts';

export const STREAM = '7f0c3f2e-0d5e-4a5c-9d0a-3f6f6d6c1a01';
export const TOKEN = 'fb_0123456789abcdefghijABCDEFGHIJKLMNOPQRST';
const KEY = 'sk_0123456789abcdefghijABCDEFGHIJKL';

/** Offset of the fake service's clock from the system clock. */
export const AHEAD_MS = 3_600_000;

/**
 * The part of a service that a sender uses: the clock, the studio API for one stream, and the real
 * WebSocket ingest with a recording `FakeIngest`.
 */
export class FakeService {
  readonly ingest = new FakeIngest(new Map([[KEY, STREAM]]));
  /** Status of the stream in the studio API. */
  status = 'CREATED';
  /** Number of starts of the stream. */
  starts = 0;
  private server: Server<WebSocketSource> | null = null;
  private socket: WebSocketIngest | null = null;

  private constructor(private readonly port: number) {}

  static async start(): Promise<FakeService> {
    const service = new FakeService(await freePort());
    service.listen();
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts to listen; after `stop`, on the same port again. */
  listen(): void {
    const socket = new WebSocketIngest({
      ingest: this.ingest,
      logger: pino({ enabled: false }),
      addressOf: () => '192.0.2.1',
      corsOrigin: '*',
      log: { requestId: () => 'request-1', logDefect: () => {} },
    });
    this.socket = socket;
    this.server = Bun.serve<WebSocketSource, string>({
      hostname: '127.0.0.1',
      port: this.port,
      routes: {
        '/api/v1/time': () => Response.json({ now: Date.now() + AHEAD_MS, interval: 0 }),
        '/studio/v1/streams/:id': (request) => this.studio(request, { title: 'Quiz night' }),
        '/studio/v1/streams/:id/ingest': (request) =>
          this.studio(request, {
            key: KEY,
            websocket: { url: `${this.url.replace('http', 'ws')}/media/${STREAM}/ingest` },
          }),
        '/studio/v1/streams/:id/start': {
          POST: (request) => {
            this.starts++;
            return this.studio(request, {});
          },
        },
        [INGEST_PATH]: (request: BunRequest<string>, server) => socket.upgrade(request, server),
      },
      websocket: socket.handlers,
    });
  }

  /** Closes all connections and the port. */
  async stop(): Promise<void> {
    await this.socket?.stop();
    await this.server?.stop(true);
  }

  private studio(request: BunRequest<`${string}/:id${string}`>, body: object): Response {
    if (request.headers.get('authorization') !== `Token ${TOKEN}`) {
      return Response.json({ detail: 'The token is wrong.' }, { status: 401 });
    }
    if (request.params.id !== STREAM) {
      return Response.json({ detail: 'There is no such stream.' }, { status: 404 });
    }
    return Response.json({ ...body, status: this.status });
  }
}
