import { networkInterfaces } from 'node:os';
import type { SocketHandler, TCPSocketListener, TCPSocketListenOptions } from 'bun';

// The types of the runtime lack what it can.
type ListenOptions<Data> = TCPSocketListenOptions<Data> & { readonly reusePort: boolean };

/**
 * Listens on a port.
 * @param host null: every address, IPv6 too where there is any
 * @param port 0: a free one
 * @param reusePort whether other threads of this process listen on it too
 * @throws Error with a line for the operator when it cannot be had
 */
export function listenOn<Data>(
  host: string | null,
  port: number,
  reusePort: boolean,
  socket: SocketHandler<Data>,
): TCPSocketListener<Data> {
  try {
    const options: ListenOptions<Data> = {
      hostname: host ?? everyAddress(),
      port,
      reusePort,
      // A client must be able to hear the end of an answer behind which the connection ends.
      allowHalfOpen: true,
      socket,
    };
    return Bun.listen(options);
  } catch (error) {
    throw new Error(reasonOf(error as Error, host, port));
  }
}

// Without a name the runtime would listen on IPv4 alone, without a word, when another process has
// the port on IPv6.
function everyAddress(): string {
  const addresses = Object.values(networkInterfaces()).flat();
  return addresses.some((address) => address?.family === 'IPv6') ? '::' : '0.0.0.0';
}

// Of a name that it cannot resolve the runtime says what the last call said that failed, which may
// be EADDRINUSE. So the code counts only when the host has any port at all.
function reasonOf(
  { message, code }: Error & { code?: string },
  host: string | null,
  port: number,
): string {
  if (host !== null && !isOurs(host)) {
    return `cannot listen on --host ${host}, port ${port}: this is no name or address of this machine`;
  }
  if (code === 'EADDRINUSE') {
    return `port ${port} is in use; stop what uses it, or choose another with --port`;
  }
  const where = host === null ? 'every address' : `--host ${host}`;
  return `cannot listen on ${where}, port ${port}: ${message}`;
}

function isOurs(hostname: string): boolean {
  try {
    Bun.listen({ hostname, port: 0, socket: { data: () => {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}
