/** What a receiver was sent. */
export interface Received {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly id: string;
}

/** Somebody who is told: a server of its own on loopback, which answers as it is made to. */
export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** All that came, in order. */
  readonly received: Received[];
  /** What it answers from now on; a promise holds the answer up. */
  answer: (request: Received) => Response | Promise<Response>;
  /** What came, by the type in its body. */
  ofType(type: string): Received[];
  /** Resolves when so many have come. */
  until(count: number): Promise<void>;
  stop(): Promise<void>;
}

const WELL = () => new Response(null, { status: 204 });

/** Starts a receiver. @param port any that is free, unless it has to be the one of before */
export function startReceiver(port = 0): Receiver {
  const waiting: { count: number; resolve: () => void }[] = [];
  const received: Received[] = [];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    idleTimeout: 60,
    async fetch(request) {
      const body = await request.text();
      const headers = Object.fromEntries(request.headers);
      const id = headers['webhook-id'] ?? '';
      const one = { path: new URL(request.url).pathname, headers, body, id };
      received.push(one);
      for (const { count, resolve } of waiting) if (received.length >= count) resolve();
      return receiver.answer(one);
    },
  });
  const receiver: Receiver = {
    url: `http://127.0.0.1:${server.port}/`,
    port: server.port ?? 0,
    received,
    answer: WELL,
    ofType: (type) => received.filter(({ body }) => JSON.parse(body).type === type),
    until: (count) =>
      new Promise((resolve) => {
        if (received.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
    stop: () => server.stop(true),
  };
  return receiver;
}
