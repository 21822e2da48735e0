import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A way to a service that a test cuts, as a network is cut: what is sent is lost, and nobody is told.
 * Who goes on by a connection of before when the way is there again is told that there is none.
 */
export class InterruptibleProxy {
  private readonly near = new Set<Socket>();
  private isCut = false;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** @param port of the service */
  static async to(port: number): Promise<InterruptibleProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const own = typeof address === 'object' ? address?.port : null;
    const line = new InterruptibleProxy(server, `http://127.0.0.1:${own}`);
    server.on('connection', (near) => line.join(near, port));
    return line;
  }

  cut(): void {
    this.isCut = true;
    for (const near of this.near) near.emit('cut');
  }

  mend(): void {
    this.isCut = false;
  }

  close(): void {
    for (const near of this.near) near.destroy();
    this.server.close();
  }

  private join(near: Socket, port: number): void {
    this.near.add(near);
    // What the other side sees of an error is the end.
    near.on('error', () => {});
    near.on('close', () => this.near.delete(near));
    if (this.isCut) this.lose(near);
    else this.pass(near, connect(port, '127.0.0.1'));
  }

  private pass(near: Socket, far: Socket): void {
    const end = () => near.destroy();
    far.on('error', () => {});
    far.on('close', end);
    near.on('close', () => far.destroy());
    near.pipe(far).pipe(near);
    near.once('cut', () => {
      far.off('close', end);
      near.unpipe();
      far.unpipe();
      far.destroy();
      this.lose(near);
    });
  }

  private lose(near: Socket): void {
    near.on('data', () => {
      if (!this.isCut) near.destroy();
    });
    near.resume();
  }
}
