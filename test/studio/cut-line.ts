import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A way to a service that a test cuts, as a network is cut: what is sent is lost, nobody is told, and
 * what was connected by then is of no use any more.
 */
export class CutLine {
  private readonly sockets = new Set<Socket>();
  private isCut = false;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** @param port of the service */
  static async to(port: number): Promise<CutLine> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const own = typeof address === 'object' ? address?.port : null;
    const line = new CutLine(server, `http://127.0.0.1:${own}`);
    server.on('connection', (near) => line.join(near, port));
    return line;
  }

  cut(): void {
    this.isCut = true;
    for (const socket of this.sockets) {
      socket.unpipe();
      socket.pause();
    }
  }

  /** Those who connect from now on get through. */
  mend(): void {
    this.isCut = false;
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
  }

  private join(near: Socket, port: number): void {
    this.keep(near);
    if (this.isCut) return;
    const far = this.keep(connect(port, '127.0.0.1'));
    near.pipe(far).pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  }

  private keep(socket: Socket): Socket {
    this.sockets.add(socket);
    // What the other side sees of an error is the end.
    socket.on('error', () => {});
    socket.on('close', () => this.sockets.delete(socket));
    return socket;
  }
}
