import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A TCP proxy to a service that a test can interrupt. During an interruption it drops data without
 * closing connections, like a broken network. After it, an old connection closes at its next data.
 */
export class InterruptibleProxy {
  private readonly clients = new Set<Socket>();
  private isInterrupted = false;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** Starts a proxy. @param port port of the service */
  static async to(port: number): Promise<InterruptibleProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const proxyPort = typeof address === 'object' ? address?.port : null;
    const proxy = new InterruptibleProxy(server, `http://127.0.0.1:${proxyPort}`);
    server.on('connection', (client) => proxy.accept(client, port));
    return proxy;
  }

  interrupt(): void {
    this.isInterrupted = true;
    for (const client of this.clients) client.emit('interrupt');
  }

  restore(): void {
    this.isInterrupted = false;
  }

  close(): void {
    for (const client of this.clients) client.destroy();
    this.server.close();
  }

  private accept(client: Socket, port: number): void {
    this.clients.add(client);
    // Errors reach the other side as a close.
    client.on('error', () => {});
    client.on('close', () => this.clients.delete(client));
    if (this.isInterrupted) this.blackhole(client);
    else this.forward(client, connect(port, '127.0.0.1'));
  }

  private forward(client: Socket, upstream: Socket): void {
    const end = () => client.destroy();
    upstream.on('error', () => {});
    upstream.on('close', end);
    client.on('close', () => upstream.destroy());
    client.pipe(upstream).pipe(client);
    client.once('interrupt', () => {
      upstream.off('close', end);
      client.unpipe();
      upstream.unpipe();
      upstream.destroy();
      this.blackhole(client);
    });
  }

  private blackhole(client: Socket): void {
    client.on('data', () => {
      if (!this.isInterrupted) client.destroy();
    });
    client.resume();
  }
}
