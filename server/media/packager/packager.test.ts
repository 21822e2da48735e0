import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test';
import {
  BEGIN_MS,
  bytesOf,
  INFO,
  newPackager,
  settled,
} from '../../../test/support/media/packager-fixture.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  // Whatever became of a packager, it leaves no timer.
  const left = jest.getTimerCount();
  jest.clearAllTimers();
  jest.useRealTimers();
  expect(left).toBe(0);
});

const messages = (lines: readonly { msg: string }[]) => lines.map(({ msg }) => msg);
const seqs = (segments: readonly { seq: number; epoch: number }[]) =>
  segments.map(({ seq, epoch }) => `${epoch}:${seq}`);

type Scene = ReturnType<typeof newPackager>;

/** A source that is understood, with an encoder that has begun. */
async function running(options: Parameters<typeof newPackager>[0] = {}): Promise<Scene> {
  const scene = newPackager(options);
  scene.send('H;J1000;');
  await scene.parts.pass(100);
  scene.send('P1100;');
  await scene.parts.probe.understands();
  scene.parts.encoder.makes(1_000, 2.5);
  return scene;
}

describe('a source', () => {
  test('[M-11] [M-12] is looked at, encoded, and becomes an epoch of segments in service time', async () => {
    const { packager, parts, output, send } = newPackager();
    expect(send('H;J1000;')).toBe(true);
    expect(parts.probe.seen).toBe('H;J1000;');
    expect(parts.encoders).toHaveLength(0);
    await parts.pass(500);
    send('P1400;');
    await parts.probe.understands();
    const { encoder } = parts;
    expect(encoder.plan).toMatchObject({ container: 'flv', source: INFO, startMs: 1_000 });
    expect(encoder.taken).toBe('H;J1000;P1400;');
    encoder.makes(1_000, 2.5);
    // What came at once was made before it came: the first unit is 1 s old by the source's clock.
    expect(output.epochs).toMatchObject([{ number: 0, startMs: BEGIN_MS }]);
    expect(seqs(output.segments)).toEqual(['0:0', '0:1']);
    expect(output.segments[0]).toMatchObject({ startMs: BEGIN_MS, durationMs: 1_000 });
    expect(packager.state()).toMatchObject({ info: INFO, bytes: 14, restarts: 0, cpuSeconds: 1.5 });
    const ending = packager.end();
    await encoder.ends({ code: 0 });
    await ending;
  });

  test('[M-16] that is no video fails with what the probe says, and no encoder is started', async () => {
    const { parts, output, send } = newPackager();
    send('P1;');
    await parts.probe.fails('it holds no picture');
    expect(output.failures).toEqual(['it holds no picture']);
    expect(parts.encoders).toHaveLength(0);
    expect(send('P2;')).toBe(true);
  });

  test('[M-16] that breaks half way fails, and its encoder is killed', async () => {
    const { packager, parts, output, send } = await running();
    expect(send('X')).toBe(true);
    expect(parts.encoder.isKilled).toBe(true);
    await settled();
    expect(output.failures).toEqual(['this is no container']);
    // What was whole is not lost.
    expect(seqs(output.segments)).toEqual(['0:0', '0:1', '0:2']);
    await packager.end();
  });

  test('[M-16] of which too much waits before it is understood fails', async () => {
    const { parts, output, packager } = newPackager();
    const piece = bytesOf(`P${'1'.repeat(65_000)};`);
    for (let i = 0; i < 520; i++) packager.write(piece);
    expect(output.failures).toEqual(['it holds no picture']);
    expect(parts.probe.isKilled).toBe(true);
    await parts.probe.understands();
    expect(parts.encoders).toHaveLength(0);
  });

  test('[M-16] that is cut into too many pieces fails before they are all read', async () => {
    const { parts, output, packager } = newPackager();
    packager.write(bytesOf('P;'.repeat(2_000_000)));
    expect(output.failures).toEqual(['it is cut into too many pieces']);
    expect(packager.state().bytes).toBeLessThan(100_000);
    expect(parts.probe.isKilled).toBe(true);
  });

  test('[M-4] that the encoder cannot keep up with is held back, and fails at a bound', async () => {
    const { packager, parts, output, send } = await running();
    parts.encoder.wantsMore = false;
    expect(send('P1200;')).toBe(false);
    let isDrained = false;
    void packager.drained().then(() => {
      isDrained = true;
    });
    await settled();
    expect(isDrained).toBe(false);
    await parts.encoder.drains();
    expect(isDrained).toBe(true);
    parts.encoder.pending = (32 << 20) + 1;
    send('P1300;');
    await settled();
    expect(output.failures).toEqual([expect.stringContaining('does not keep up')]);
    expect(parts.encoder.isKilled).toBe(true);
  });

  test('[M-16] that ends while it is looked at leaves nothing', async () => {
    const { packager, parts, output, send } = newPackager();
    send('H;J1;');
    await packager.end();
    expect(parts.probe.isKilled).toBe(true);
    await parts.probe.fails('it ended before it was understood');
    expect([output.failures, parts.encoders]).toEqual([[], []]);
  });

  test('that ends is encoded to its end', async () => {
    const { packager, parts, output, send } = await running();
    let isOver = false;
    void packager.end().then(() => {
      isOver = true;
    });
    expect(parts.encoder).toMatchObject({ isFinished: true, isKilled: false });
    send('P2000;');
    expect(parts.encoder.taken).not.toContain('P2000');
    parts.encoder.makesMore(3_500, 0.5);
    await settled();
    expect(isOver).toBe(false);
    await parts.encoder.ends({ code: 0 });
    expect(isOver).toBe(true);
    expect(seqs(output.segments)).toEqual(['0:0', '0:1', '0:2']);
    expect(output.failures).toEqual([]);
  });

  test('[M-41] that ends waits for its encoder 5 s, and then kills it', async () => {
    const { packager, parts } = await running();
    const ending = packager.end();
    await parts.pass(4_750);
    expect(parts.encoder.isKilled).toBe(false);
    await parts.pass(250);
    expect(parts.encoder.isKilled).toBe(true);
    await ending;
  });

  test('[M-6] that failed is over when its encoder is gone, so that no two number segments', async () => {
    const { packager, parts, output, send } = await running();
    parts.encoder.diesAtOnce = false;
    send('X');
    let isOver = false;
    void packager.end().then(() => {
      isOver = true;
    });
    await settled();
    expect(isOver).toBe(false);
    await parts.encoder.ends();
    expect(isOver).toBe(true);
    expect(output.failures).toHaveLength(1);
  });
});

describe('an encoder', () => {
  test('[M-40] that crashes is started again and goes on with a new epoch at the next join', async () => {
    const { packager, parts, output, send, lines } = await running();
    const [first] = parts.encoders;
    await first?.ends({ code: null, signal: 'SIGSEGV', lastLines: ['one', 'the last'] });
    expect(seqs(output.segments)).toEqual(['0:0', '0:1', '0:2']);
    send('P3600;J4000;');
    await parts.pass(250);
    expect(parts.encoders).toHaveLength(2);
    expect(parts.encoder.plan.startMs).toBe(4_000);
    send('P4100;');
    expect(parts.encoder.taken).toBe('');
    await parts.pass(500);
    send('J5000;P5100;');
    expect(parts.encoder.taken).toBe('H;J5000;P5100;');
    parts.encoder.makes(5_000, 1.5);
    expect(output.epochs.map(({ number }) => number)).toEqual([0, 1]);
    expect(seqs(output.segments)).toEqual(['0:0', '0:1', '0:2', '1:3']);
    // The source's clock is the same: no time is lost or doubled.
    expect(output.segments.map(({ startMs }) => startMs - BEGIN_MS)).toEqual([
      0, 1_000, 2_000, 4_000,
    ]);
    expect(packager.state()).toMatchObject({ restarts: 1, cpuSeconds: 3 });
    // M-42
    const [line] = lines.filter(({ msg }) => msg.includes('started again'));
    expect(line).toMatchObject({ signal: 'SIGSEGV', lastLines: ['one', 'the last'], level: 40 });
    const ending = packager.end();
    await parts.encoder.ends();
    await ending;
  });

  test('[M-40] [M-42] that comes to nothing five times fails the source, with its last line', async () => {
    const { parts, output, send, lines } = newPackager();
    send('H;J1;');
    await parts.probe.understands();
    const waits = [250, 500, 1_000, 2_000];
    for (const waitMs of waits) {
      await parts.encoder.ends({ lastLines: ['Unknown encoder h264_none'] });
      await parts.pass(waitMs - 250);
      const before = parts.encoders.length;
      await parts.pass(250);
      expect(parts.encoders.length).toBe(before + 1);
    }
    expect(output.failures).toEqual([]);
    await parts.encoder.ends({ lastLines: ['something', 'Unknown encoder h264_none'] });
    expect(output.failures).toEqual([expect.stringContaining('Unknown encoder h264_none')]);
    await parts.pass(20_000);
    expect(parts.encoders).toHaveLength(5);
    expect(messages(lines).at(-1)).toBe('the encoder failed again and again');
  });

  test('[M-41] that is stuck is killed and started again', async () => {
    const { packager, parts, output, send, lines } = await running();
    const [first] = parts.encoders;
    const source = { ms: 1_200 };
    const feed = () => {
      source.ms += 250;
      send(`P${source.ms};`);
    };
    await parts.pass(10_000, feed);
    expect(first?.isKilled).toBe(false);
    await parts.pass(1_000, feed);
    expect(first?.isKilled).toBe(true);
    expect(messages(lines)).toContain('the encoder is stuck');
    await parts.pass(500, feed);
    expect(parts.encoders).toHaveLength(2);
    expect(output.failures).toEqual([]);
    const ending = packager.end();
    await parts.encoder.ends();
    await ending;
  });

  test('[M-41] that makes nothing because nothing comes is not stuck', async () => {
    const { packager, parts } = await running();
    await parts.pass(60_000);
    expect(parts.encoder.isKilled).toBe(false);
    const ending = packager.end();
    await parts.encoder.ends();
    await ending;
  });

  test('[M-41] that waits for the next key frame, however far, is not stuck', async () => {
    const { packager, parts, send } = await running();
    await parts.encoder.ends();
    const source = { ms: 1_200 };
    const feed = () => {
      source.ms += 250;
      send(`P${source.ms};`);
    };
    await parts.pass(15_000, feed);
    expect(parts.encoders).toHaveLength(2);
    expect([parts.encoder.taken, parts.encoder.isKilled]).toEqual(['', false]);
    const ending = packager.end();
    await parts.encoder.ends();
    await ending;
  });

  test('[M-16] that does not end after a silence is killed', async () => {
    const { packager, parts, send } = await running();
    const [first] = parts.encoders;
    await parts.pass(9_000);
    send('P10200;');
    expect([first?.isFinished, first?.isKilled]).toEqual([true, false]);
    await parts.pass(5_000);
    expect(first?.isKilled).toBe(true);
    await packager.end();
  });

  test('[M-12] begins anew when the clock of the source has jumped', async () => {
    const { packager, parts, output, send, lines } = await running();
    const [first] = parts.encoders;
    const source = { ms: 600_000 };
    const jumpedMs = parts.now - source.ms;
    const feed = () => {
      source.ms += 250;
      send(`J${source.ms};`);
    };
    await parts.pass(6_000, feed);
    expect(first?.isKilled).toBe(true);
    expect(messages(lines)).toContain("the source's clock jumped; its timeline begins anew");
    await parts.pass(500, feed);
    parts.encoder.makes(source.ms, 1.5);
    // It is in service time as before: one second of video ends before now.
    expect(output.epochs.at(-1)?.startMs).toBe(source.ms + jumpedMs);
    expect(output.segments.at(-1)?.epoch).toBe(1);
    const ending = packager.end();
    await parts.encoder.ends();
    await ending;
  });

  test.each([
    ['forward', 36_000_000],
    ['back', -36_000_000],
  ])(
    '[M-12] [M-16] is not given times that jump %s, which it would fill with pictures',
    async (_, jumpMs) => {
      const { packager, parts, output, send, lines } = await running();
      const [first] = parts.encoders;
      await parts.pass(4_000);
      send('J5100;P5200;');
      const nextMs = 5_300 + jumpMs;
      send(`J${nextMs};P${nextMs + 100};`);
      expect(first?.taken).toEndWith('J5100;P5200;');
      expect(first?.isKilled).toBe(true);
      expect(messages(lines)).toContain("the source's clock jumped; its timeline begins anew");
      await parts.pass(1_000);
      send(`P${nextMs + 900};J${nextMs + 1_000};`);
      expect(parts.encoder.taken).toBe(`H;J${nextMs + 1_000};`);
      parts.encoder.makes(nextMs + 1_000, 1.5);
      // The last picture of a message is the one that was just made.
      expect(output.segments.at(-1)).toMatchObject({ epoch: 1, startMs: parts.now - 100 });
      const ending = packager.end();
      await parts.encoder.ends();
      await ending;
    },
  );

  test('[M-12] [M-16] of a source that is always ahead of its time is not begun anew for ever', async () => {
    const { parts, output, send } = await running();
    const source = { ms: 1_100 };
    const feed = () => {
      source.ms += 2_500;
      send(`J${source.ms};`);
    };
    for (let jumps = 0; jumps < 8 && output.failures.length === 0; jumps++) {
      await parts.pass(6_500, feed);
      if (!parts.encoder.isKilled) parts.encoder.makes(source.ms, 1.5);
    }
    expect(output.failures).toEqual([expect.stringContaining('send in real time')]);
    await settled();
  });

  test('[M-40] whose tracks make no timeline is started again', async () => {
    const { packager, parts, output, lines } = await running();
    const [first] = parts.encoders;
    first?.makesMore(9_000, 1);
    expect(first?.isKilled).toBe(true);
    await settled();
    // What it had made before is not lost, and what comes after is not looked at.
    expect(seqs(output.segments)).toEqual(['0:0', '0:1', '0:2']);
    expect(messages(lines).filter((line) => line === 'the tracks make no timeline')).toHaveLength(
      1,
    );
    await parts.pass(250);
    expect(parts.encoders).toHaveLength(2);
    expect(output.failures).toEqual([]);
    const ending = packager.end();
    await parts.encoder.ends();
    await ending;
  });

  test('[M-40] that cannot even be started is one that came to nothing', async () => {
    const scene = newPackager();
    const { parts, output } = scene;
    const { startEncoder } = parts;
    let tries = 0;
    const failing = () => {
      tries++;
      throw new Error('spawn EAGAIN');
    };
    Object.assign(parts, { startEncoder: failing });
    scene.send('H;J1;');
    await parts.probe.understands();
    expect(tries).toBe(1);
    await parts.pass(250);
    expect(tries).toBe(2);
    Object.assign(parts, { startEncoder });
    await parts.pass(500);
    expect(parts.encoders).toHaveLength(1);
    Object.assign(parts, { startEncoder: failing });
    await parts.encoder.ends();
    await parts.pass(10_000);
    expect(output.failures).toEqual([expect.stringContaining('spawn EAGAIN')]);
  });

  test('that ends while its source ends is not started again', async () => {
    const { packager, parts } = await running();
    await parts.encoder.ends();
    await packager.end();
    await parts.pass(1_000);
    expect(parts.encoders).toHaveLength(1);
  });
});
