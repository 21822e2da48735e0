import { createServer } from 'node:net';

// Below the ports that the system gives to outgoing connections, so that a server which is
// restarted finds its port free; above those that private Redis servers take.
const FIRST_PORT = 22_500;
const PORTS = 10_000;

/** A port that nothing listens on now. Another may take it first: try again when it did. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
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
