import { createServer } from 'node:net';

// The range is below the ports that the system gives to outgoing connections, so that a restarted
// server finds its port free, and above the ports of private Redis servers.
const FIRST_PORT = 22_500;
const PORT_COUNT = 10_000;

/** A port that nothing listens on now. If another process takes it first, the caller tries again. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORT_COUNT);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
