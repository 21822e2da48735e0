export interface ReceivedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The `webhook-id` header; empty without one. */
  readonly id: string;
}

/** An HTTP server on loopback that receives webhook deliveries, with programmable responses. */
export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly received: ReceivedRequest[];
  /** Answers requests, with 204 by default; a pending promise delays the response. */
  answer: (request: ReceivedRequest) => Response | Promise<Response>;
  /** The requests with this type in their body. */
  ofType(type: string): ReceivedRequest[];
  /** Resolves when `count` requests have arrived in total. */
  until(count: number): Promise<void>;
  stop(): Promise<void>;
}

const NO_CONTENT = () => new Response(null, { status: 204 });

/** Starts a receiver. @param port a free port by default */
export function startReceiver(port = 0): Receiver {
  const waiters: { count: number; resolve: () => void }[] = [];
  const received: ReceivedRequest[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    idleTimeout: 60,
    async fetch(request) {
      const body = await request.text();
      const headers = Object.fromEntries(request.headers);
      const id = headers['webhook-id'] ?? '';
      const delivery = { path: new URL(request.url).pathname, headers, body, id };
      received.push(delivery);
      for (const { count, resolve } of waiters) if (received.length >= count) resolve();
      return receiver.answer(delivery);
    },
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${server.port}/`,
    port: server.port ?? 0,
    received,
    answer: NO_CONTENT,
    ofType: (type) => received.filter(({ body }) => JSON.parse(body).type === type),
    until: (count) =>
      new Promise((resolve) => {
        if (received.length >= count) resolve();
        else waiters.push({ count, resolve });
      }),
    stop: () => server.stop(true),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return receiver;
}
