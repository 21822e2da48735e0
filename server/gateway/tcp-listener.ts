import { networkInterfaces } from 'node:os';
import type { SocketHandler, TCPSocketListener, TCPSocketListenOptions } from 'bun';

// The types of the runtime lack this option.
type ListenOptions<Data> = TCPSocketListenOptions<Data> & { readonly reusePort: boolean };

/**
 * Listens on a TCP port.
 * @param host null: all addresses, with IPv6 where the machine has it
 * @param port 0: any free port
 * @param reusePort whether other threads of this process listen on the port too
 * @throws Error with a message for the operator
 */
export function listenTcp<Data>(
  host: string | null,
  port: number,
  reusePort: boolean,
  socket: SocketHandler<Data>,
): TCPSocketListener<Data> {
  try {
    const options: ListenOptions<Data> = {
      hostname: host ?? anyAddress(),
      port,
      reusePort,
      // A client must receive the end of a response after which the connection ends.
      allowHalfOpen: true,
      socket,
    };
    return Bun.listen(options);
  } catch (error) {
    throw new Error(describeError(error as Error, host, port));
  }
}

// Passed explicitly: without it the runtime silently uses IPv4 alone if the port is in use on IPv6.
function anyAddress(): string {
  const addresses = Object.values(networkInterfaces()).flat();
  return addresses.some((address) => address?.family === 'IPv6') ? '::' : '0.0.0.0';
}

// For a name that cannot be resolved the runtime reports the code of an earlier error, which may be
// EADDRINUSE. So the code is used only when the host is an address of this machine.
function describeError(
  { message, code }: Error & { code?: string },
  host: string | null,
  port: number,
): string {
  if (host !== null && !isLocalHost(host)) {
    return `cannot listen on --host ${host}, port ${port}: this is no name or address of this machine`;
  }
  if (code === 'EADDRINUSE') {
    return `port ${port} is in use; stop what uses it, or choose another with --port`;
  }
  const where = host === null ? 'all addresses' : `--host ${host}`;
  return `cannot listen on ${where}, port ${port}: ${message}`;
}

function isLocalHost(hostname: string): boolean {
  try {
    Bun.listen({ hostname, port: 0, socket: { data: () => {} } }).stop(true);
    return true;
  } catch {
    return false;
  }
}
