import { afterEach, expect, test } from 'bun:test';
import { BoundedUdp, type BoundedUdpOptions } from './bounded-udp.ts';

const WORK_MS = 2;
const FLOOD_MS = 2_000;
/** Sends more datagrams than the receiver can handle, 10 each 10 ms. */
const SENDER = `
  const socket = await Bun.udpSocket({ hostname: '127.0.0.1', socket: { error: () => {} } });
  const endMs = Date.now() + ${FLOOD_MS};
  while (Date.now() < endMs) {
    for (let n = 0; n < 10; n++) {
      try { socket.send('flood', Number(process.argv[1]), '127.0.0.1'); } catch {}
    }
    await Bun.sleep(10);
  }
  socket.close();
`;

const closers: (() => void)[] = [];

afterEach(() => {
  for (const close of closers.splice(0)) close();
});

test('[M-16] a flood of datagrams does not stop the event loop, and later ones arrive', async () => {
  let received = 0;
  let floods = 0;
  const udp = await BoundedUdp.bind({
    ...{ host: '127.0.0.1', port: 0, turnMax: 20 },
    onDatagram: () => {
      received++;
      Bun.sleepSync(WORK_MS);
    },
    onFlood: () => floods++,
    onBindError: () => {},
  });
  closers.push(() => udp.close());
  let turns = 0;
  const timer = setInterval(() => turns++, 10);
  closers.push(() => clearInterval(timer));
  const sender = Bun.spawn([process.execPath, '-e', SENDER, String(udp.port)]);
  const senderEnds = sender.exited.then(() => turns);
  expect(await senderEnds).toBeGreaterThan(5);
  expect(floods).toBeGreaterThan(1);
  const { port } = udp;
  const before = received;
  const client = await Bun.udpSocket({ hostname: '127.0.0.1', socket: { error: () => {} } });
  closers.push(() => client.close());
  for (let tries = 0; received === before && tries < 100; tries++) {
    client.send('later', port, '127.0.0.1');
    await Bun.sleep(10);
  }
  expect(received).toBeGreaterThan(before);
}, 15_000);

/** Binds a socket that takes the second datagram of a turn for a flood. */
async function floodedUdp(
  options: Pick<BoundedUdpOptions, 'onFlood' | 'onBindError'>,
  onDatagram = () => {},
) {
  const udp = await BoundedUdp.bind({
    ...{ host: '127.0.0.1', port: 0, turnMax: 1, ...options },
    onDatagram() {
      onDatagram();
      Bun.sleepSync(20);
    },
  });
  closers.push(() => udp.close());
  return udp;
}

async function send(port: number, datagrams: string[]): Promise<void> {
  const client = await Bun.udpSocket({ hostname: '127.0.0.1', socket: { error: () => {} } });
  for (const datagram of datagrams) client.send(datagram, port, '127.0.0.1');
  await Bun.sleep(20);
  client.close();
}

test('[M-16] a port that another program took is reported, and bound again when it is free', async () => {
  const taken = Promise.withResolvers<{ close(): void }>();
  const failed = Promise.withResolvers<Error>();
  let received = 0;
  const udp = await floodedUdp(
    {
      onFlood: () => taken.resolve(Bun.udpSocket({ hostname: '127.0.0.1', port: udp.port })),
      onBindError: failed.resolve,
    },
    () => received++,
  );
  await send(udp.port, ['one', 'two']);
  const other = await taken.promise;
  expect((await failed.promise).message).toContain('EADDRINUSE');
  other.close();
  for (let tries = 0; received === 1 && tries < 100; tries++) await send(udp.port, ['later']);
  expect(received).toBe(2);
}, 15_000);

test('a closed socket is not bound again', async () => {
  const udp = await floodedUdp({ onFlood: () => udp.close(), onBindError: () => {} });
  const { port } = udp;
  await send(port, ['one', 'two']);
  const other = await Bun.udpSocket({ hostname: '127.0.0.1', port });
  other.close();
});
