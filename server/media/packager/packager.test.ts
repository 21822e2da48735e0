import { afterEach, beforeEach, describe, expect, jest, test } from 'bun:test';
import {
  bytesOf,
  createPackagerFixture,
  INFO,
  STEP_MS,
  settled,
} from '../../../test/support/media/packager-fixture.ts';
import { BEGIN_MS } from '../../../test/support/media/segment-store-fixture.ts';
import { RTMP_LIMITS } from '../rtmp/rtmp-limits.ts';
import { RELAY_LIMITS } from '../srt/caller-relay.ts';
import { SOURCE_LIMITS } from '../websocket/websocket-source.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  // A packager that ended leaves no timer, however it ended.
  const openTimers = jest.getTimerCount();
  jest.clearAllTimers();
  jest.useRealTimers();
  expect(openTimers).toBe(0);
});

const messages = (lines: readonly { msg: string }[]) => lines.map(({ msg }) => msg);
const seqs = (segments: readonly { seq: number; epoch: number }[]) =>
  segments.map(({ seq, epoch }) => `${epoch}:${seq}`);

type Fixture = ReturnType<typeof createPackagerFixture>;

/** A packager whose source was probed and whose encoder has emitted 2.5 s. */
async function startPackager(
  options: Parameters<typeof createPackagerFixture>[0] = {},
  info = INFO,
): Promise<Fixture> {
  const fixture = createPackagerFixture(options);
  fixture.send('H;J1000;');
  await fixture.dependencies.advance(100);
  fixture.send('P1100;');
  await fixture.dependencies.probe.succeed(info);
  fixture.dependencies.encoder.emitStart(1_000, 2.5);
  return fixture;
}

describe('source', () => {
  test('[M-11] [M-12] a source is probed, encoded and becomes an epoch of segments in service time', async () => {
    const { packager, dependencies, sink, send } = createPackagerFixture();
    expect(send('H;J1000;')).toBe(true);
    expect(dependencies.probe.input).toBe('H;J1000;');
    expect(dependencies.encoders).toHaveLength(0);
    await dependencies.advance(500);
    send('P1400;');
    await dependencies.probe.succeed();
    const { encoder } = dependencies;
    expect(encoder.options).toMatchObject({ container: 'flv', source: INFO, startMs: 1_000 });
    expect(encoder.input).toBe('H;J1000;P1400;');
    encoder.emitStart(1_000, 2.5);
    // The newest unit arrives without delay, so the first one is 1 s old.
    expect(sink.epochs).toMatchObject([{ number: 0, startMs: BEGIN_MS }]);
    expect(seqs(sink.segments)).toEqual(['0:0', '0:1']);
    expect(sink.segments[0]).toMatchObject({ startMs: BEGIN_MS, durationMs: 1_000 });
    expect(packager.state()).toMatchObject({ info: INFO, bytes: 14, restarts: 0, cpuSeconds: 1.5 });
    const ending = packager.end();
    await encoder.exitWith({ code: 0 });
    await ending;
  });

  test('[M-16] a source that is no video fails with the message of the probe and starts no encoder', async () => {
    const { dependencies, sink, send } = createPackagerFixture();
    send('P1;');
    await dependencies.probe.fail('No video was found in the source.');
    expect(sink.failures).toEqual(['No video was found in the source.']);
    expect(dependencies.encoders).toHaveLength(0);
    expect(send('P2;')).toBe(true);
  });

  test('[M-13] a source whose video starts after its probe is probed again from there on', async () => {
    const { dependencies, sink, send, endSource } = createPackagerFixture();
    send('H;A1000;');
    await dependencies.probe.fail('The source has no video track; a source needs one.');
    expect(sink.failures).toEqual([]);
    await dependencies.advance(20_000, () => send('A2000;'));
    send('P21000;J21100;A21100;');
    expect(dependencies.probes.map(({ input }) => input)).toEqual(['H;A1000;', 'H;J21100;A21100;']);
    await dependencies.probe.succeed();
    expect(dependencies.encoder.options.startMs).toBe(21_100);
    expect(dependencies.encoder.input).toBe('H;J21100;A21100;');
    await endSource();
  });

  test('[M-16] a source that has only audio for a minute fails', async () => {
    const { dependencies, sink, send } = createPackagerFixture();
    send('H;A1000;');
    await dependencies.probe.fail('The source has no video track; a source needs one.');
    await dependencies.advance(60_000, () => send('A2000;'));
    expect(sink.failures).toEqual([]);
    await dependencies.advance(1_000);
    expect(sink.failures).toEqual(['The source has no video track; a source needs one.']);
  });

  test('[M-13] audio that cannot be decoded is probed three times, then once a minute', async () => {
    const { dependencies, send, endSource } = createPackagerFixture();
    send('H;J1000;');
    await dependencies.probe.succeed({ ...INFO, hasAudio: false });
    dependencies.encoder.emitStart(1_000, 2);
    let ms = 1_000;
    const feed = async (seconds: number) => {
      for (let second = 0; second < seconds; second++) {
        await dependencies.advance(1_000);
        ms += 1_000;
        send(`A${ms};J${ms};`);
        dependencies.encoder.emit(ms + 1_000, 1);
        await dependencies.probe.succeed({ ...INFO, hasAudio: false });
      }
    };
    await feed(10);
    expect(dependencies.probes).toHaveLength(4);
    await feed(120);
    expect(dependencies.encoders).toHaveLength(1);
    expect(dependencies.probes).toHaveLength(6);
    await endSource();
  });

  test('[M-13] audio that returns and that the encoder does not decode gets another encoder', async () => {
    const { packager, dependencies, send, endSource } = await startPackager();
    const [first] = dependencies.encoders;
    const probes = dependencies.probes.length;
    first?.events.onAudioMissing(true);
    expect(packager.state().info?.hasAudio).toBe(false);
    let ms = 1_100;
    const feed = (seconds: number, kinds: string) =>
      dependencies.advance(seconds * 1_000, () => {
        ms += STEP_MS;
        for (const kind of kinds) send(`${kind}${ms};`);
        first?.emit(ms + 2_400 - STEP_MS, STEP_MS / 1_000);
      });
    // It is not probed while there is none, nor at once.
    await feed(70, 'J');
    await feed(4, 'AJ');
    expect(dependencies.probes).toHaveLength(probes);
    await feed(2, 'AJ');
    expect(dependencies.probes).toHaveLength(probes + 1);
    await dependencies.probe.succeed();
    await feed(1, 'AJ');
    expect(first?.isFinished).toBe(true);
    await first?.exitWith({ code: 0 });
    expect(dependencies.encoders).toHaveLength(2);
    expect(dependencies.encoder.options.source.hasAudio).toBe(true);
    expect(packager.state().info?.hasAudio).toBe(true);
    await endSource();
  });

  test('[M-13] audio that returns after a single packet of it gets another encoder', async () => {
    const { dependencies, send, endSource } = await startPackager();
    const [first] = dependencies.encoders;
    const probes = dependencies.probes.length;
    let ms = 1_100;
    const feed = (seconds: number, kinds: string) =>
      dependencies.advance(seconds * 1_000, () => {
        ms += STEP_MS;
        for (const kind of kinds) send(`${kind}${ms};`);
        first?.emit(ms + 2_400 - STEP_MS, STEP_MS / 1_000);
      });
    first?.events.onAudioMissing(true);
    send(`A${ms};`);
    for (let second = 0; second < 40; second++) {
      await feed(1, 'J');
      await dependencies.probe.succeed({ ...INFO, hasAudio: false });
    }
    expect(dependencies.probes).toHaveLength(probes);
    await feed(6, 'AJ');
    expect(dependencies.probes).toHaveLength(probes + 1);
    await dependencies.probe.succeed();
    await feed(1, 'AJ');
    await first?.exitWith({ code: 0 });
    expect(dependencies.encoders).toHaveLength(2);
    await endSource();
  });

  test('[M-13] audio that the encoder decodes again is not probed', async () => {
    const { packager, dependencies, send, endSource } = await startPackager();
    const probes = dependencies.probes.length;
    dependencies.encoder.events.onAudioMissing(true);
    dependencies.encoder.events.onAudioMissing(false);
    expect(packager.state().info?.hasAudio).toBe(true);
    for (let ms = 2_000; ms < 30_000; ms += 1_000) {
      await dependencies.advance(1_000);
      send(`A${ms};J${ms};`);
    }
    expect(dependencies.probes).toHaveLength(probes);
    await endSource();
  });

  test('[M-6] [M-16] a source that sends no video and no audio for 30 s ends', async () => {
    const { dependencies, sink, send } = await startPackager();
    await dependencies.advance(29_000, () => send('H;'));
    expect(sink.failures).toEqual([]);
    await dependencies.advance(2_000, () => send('H;'));
    expect(sink.failures).toEqual(['The source sends no video and no audio any more.']);
    await settled();
  });

  test('[M-16] a source with an invalid container fails, and its encoder is killed', async () => {
    const { packager, dependencies, sink, send } = await startPackager();
    expect(send('X')).toBe(true);
    expect(dependencies.encoder.isKilled).toBe(true);
    await settled();
    expect(sink.failures).toEqual(['invalid container']);
    // Complete segments are kept.
    expect(seqs(sink.segments)).toEqual(['0:0', '0:1', '0:2']);
    await packager.end();
  });

  test('[M-16] a source fails when too many bytes are buffered before the probe ends', async () => {
    const { dependencies, sink, packager } = createPackagerFixture();
    const unit = bytesOf(`P${'1'.repeat(65_000)};`);
    for (let i = 0; i < 520; i++) packager.write(unit);
    expect(sink.failures).toEqual(['No video was found in the source.']);
    expect(dependencies.probe.isKilled).toBe(true);
    await dependencies.probe.succeed();
    expect(dependencies.encoders).toHaveLength(0);
  });

  test('[M-16] a source with too many units a second fails before all are parsed', async () => {
    const { dependencies, sink, packager } = createPackagerFixture();
    packager.write(bytesOf('P;'.repeat(2_000_000)));
    expect(sink.failures).toEqual(['The source sends too many packets or elements a second.']);
    expect(packager.state().bytes).toBeLessThan(100_000);
    expect(dependencies.probe.isKilled).toBe(true);
  });

  test('[M-16] 5,000 units a second are accepted, and no more', async () => {
    const { sink, packager } = createPackagerFixture();
    packager.write(bytesOf('P;'.repeat(5_000)));
    expect(sink.failures).toEqual([]);
    packager.write(bytesOf('P;'));
    expect(sink.failures).toEqual(['The source sends too many packets or elements a second.']);
  });

  test('[M-16] a source with too many headers a second fails, and one with many does not', async () => {
    const { dependencies, sink, packager } = createPackagerFixture();
    for (let second = 0; second < 3; second++) {
      packager.write(bytesOf('H;'.repeat(2_000)));
      await dependencies.advance(1_000);
    }
    expect(sink.failures).toEqual([]);
    packager.write(bytesOf('H;'.repeat(2_001)));
    expect(sink.failures).toEqual(['The source sends too many packets or elements a second.']);
  });

  test('[M-16] a source with too many elements in few units fails before all are parsed', async () => {
    const empty = 'ec80';
    const block = `a38481${'0'.repeat(6)}`;
    const cluster = `1f43b675ffe78100${empty.repeat(990)}${block}`;
    const header = `1a45dfa3874282847765626d18538067ff`;
    for (const [clusters, failures] of [
      [19, []],
      [500, ['The source sends too many packets or elements a second.']],
    ] as const) {
      const { packager, sink } = createPackagerFixture({ container: 'matroska' });
      packager.write(Buffer.from(header + cluster.repeat(clusters), 'hex'));
      expect(sink.failures).toEqual([...failures]);
      expect(packager.state().bytes).toBeLessThan(200_000);
      await packager.end();
    }
  });

  test('[M-4] a source that outpaces its encoder gets back pressure, then fails at a limit', async () => {
    const { packager, dependencies, sink, send } = await startPackager();
    dependencies.encoder.acceptsMore = false;
    expect(send('P1200;')).toBe(false);
    let isDrained = false;
    void packager.drained().then(() => {
      isDrained = true;
    });
    await settled();
    expect(isDrained).toBe(false);
    await dependencies.encoder.drain();
    expect(isDrained).toBe(true);
    dependencies.encoder.pending = (32 << 20) + 1;
    send('P1300;');
    await settled();
    expect(sink.failures).toEqual([expect.stringContaining('encoder is too slow')]);
    expect(dependencies.encoder.isKilled).toBe(true);
  });

  test('[M-16] a source that ends during the probe starts no encoder', async () => {
    const { packager, dependencies, sink, send } = createPackagerFixture();
    send('H;J1;');
    await packager.end();
    expect(dependencies.probe.isKilled).toBe(true);
    await dependencies.probe.fail('The source ended before it was recognized.');
    expect([sink.failures, dependencies.encoders]).toEqual([[], []]);
  });

  test('a source that ends is encoded to its end', async () => {
    const { packager, dependencies, sink, send } = await startPackager();
    let hasEnded = false;
    void packager.end().then(() => {
      hasEnded = true;
    });
    expect(dependencies.encoder).toMatchObject({ isFinished: true, isKilled: false });
    send('P2000;');
    expect(dependencies.encoder.input).not.toContain('P2000');
    dependencies.encoder.emit(3_500, 0.5);
    await settled();
    expect(hasEnded).toBe(false);
    await dependencies.encoder.exitWith({ code: 0 });
    expect(hasEnded).toBe(true);
    expect(seqs(sink.segments)).toEqual(['0:0', '0:1', '0:2']);
    expect(sink.failures).toEqual([]);
  });

  test('[M-41] an encoder of an ended source is killed after 5 s', async () => {
    const { packager, dependencies } = await startPackager();
    const ending = packager.end();
    await dependencies.advance(4_750);
    expect(dependencies.encoder.isKilled).toBe(false);
    await dependencies.advance(250);
    expect(dependencies.encoder.isKilled).toBe(true);
    await ending;
  });

  test('[M-6] a failed source ends when its encoder has exited, so that no two encoders number segments', async () => {
    const { packager, dependencies, sink, send } = await startPackager();
    dependencies.encoder.exitsWhenKilled = false;
    send('X');
    let hasEnded = false;
    void packager.end().then(() => {
      hasEnded = true;
    });
    await settled();
    expect(hasEnded).toBe(false);
    await dependencies.encoder.exitWith();
    expect(hasEnded).toBe(true);
    expect(sink.failures).toHaveLength(1);
  });
});

describe('encoder', () => {
  test('[M-40] an encoder that crashes is restarted with a new epoch at the next entry point', async () => {
    const { packager, dependencies, sink, send, lines, endSource } = await startPackager();
    const [first] = dependencies.encoders;
    await first?.exitWith({ code: null, signal: 'SIGSEGV', lastLines: ['one', 'the last'] });
    expect(seqs(sink.segments)).toEqual(['0:0', '0:1', '0:2']);
    send('P3600;J4000;');
    await dependencies.advance(250);
    expect(dependencies.encoders).toHaveLength(2);
    expect(dependencies.encoder.options.startMs).toBe(4_000);
    send('P4100;');
    expect(dependencies.encoder.input).toBe('');
    await dependencies.advance(500);
    send('J5000;P5100;');
    expect(dependencies.encoder.input).toBe('H;J5000;P5100;');
    dependencies.encoder.emitStart(5_000, 1.5);
    expect(sink.epochs.map(({ number }) => number)).toEqual([0, 1]);
    expect(seqs(sink.segments)).toEqual(['0:0', '0:1', '0:2', '1:3']);
    // The source's clock is unchanged: no time is lost or repeated.
    expect(sink.segments.map(({ startMs }) => startMs - BEGIN_MS)).toEqual([
      0, 1_000, 2_000, 4_000,
    ]);
    expect(packager.state()).toMatchObject({ restarts: 1, cpuSeconds: 3 });
    // M-42
    const [line] = lines.filter(({ msg }) => msg.includes('will be restarted'));
    expect(line).toMatchObject({ signal: 'SIGSEGV', lastLines: ['one', 'the last'], level: 40 });
    await endSource();
  });

  test('[M-40] [M-42] an encoder that fails five times without output fails the source with its last log line', async () => {
    const { dependencies, sink, send, lines } = createPackagerFixture();
    send('H;J1;');
    await dependencies.probe.succeed();
    const delaysMs = [250, 500, 1_000, 2_000];
    for (const delayMs of delaysMs) {
      await dependencies.encoder.exitWith({ lastLines: ['Unknown encoder h264_none'] });
      await dependencies.advance(delayMs - 250);
      const before = dependencies.encoders.length;
      await dependencies.advance(250);
      expect(dependencies.encoders.length).toBe(before + 1);
    }
    expect(sink.failures).toEqual([]);
    await dependencies.encoder.exitWith({ lastLines: ['something', 'Unknown encoder h264_none'] });
    expect(sink.failures).toEqual([expect.stringContaining('Unknown encoder h264_none')]);
    await dependencies.advance(20_000);
    expect(dependencies.encoders).toHaveLength(5);
    expect(messages(lines).at(-1)).toBe('the encoder failed repeatedly; the source is closed');
  });

  test('[M-41] a stuck encoder is killed and restarted', async () => {
    const { dependencies, sink, sender, lines, endSource } = await startPackager();
    const [first] = dependencies.encoders;
    const { feed } = sender('P', 1_200, 250);
    await dependencies.advance(10_000, feed);
    expect(first?.isKilled).toBe(false);
    await dependencies.advance(1_000, feed);
    expect(first?.isKilled).toBe(true);
    expect(messages(lines)).toContain('the encoder produces no output and is killed');
    await dependencies.advance(500, feed);
    expect(dependencies.encoders).toHaveLength(2);
    expect(sink.failures).toEqual([]);
    await endSource();
  });

  test('[M-41] a stuck encoder is killed before its source, which waits for it, is disconnected', async () => {
    const { dependencies, sink, send, lines, endSource } = await startPackager();
    const [first] = dependencies.encoders;
    if (first) first.pending = 4 << 20;
    send('P1200;');
    await dependencies.advance(9_750);
    expect(first?.isKilled).toBe(false);
    const limitsMs = [RTMP_LIMITS, SOURCE_LIMITS, RELAY_LIMITS].map((one) => one.backPressureMs);
    await dependencies.advance(Math.min(...limitsMs) - 9_750 - 1_000);
    expect(first?.isKilled).toBe(true);
    expect(messages(lines)).toContain('the encoder produces no output and is killed');
    expect(sink.failures).toEqual([]);
    await endSource();
  });

  test('[M-41] a slow encoder that has pending input and emits output is not stuck', async () => {
    const { dependencies, send, endSource } = await startPackager();
    const { encoder } = dependencies;
    encoder.pending = 4 << 20;
    send('P1200;');
    for (let ms = 3_500; ms < 8_500; ms += 500) {
      await dependencies.advance(9_000);
      encoder.emit(ms, 0.5);
    }
    expect([encoder.isKilled, dependencies.encoders.length]).toEqual([false, 1]);
    await endSource();
  });

  test('[M-41] an encoder without input is not stuck', async () => {
    const { dependencies, endSource } = await startPackager();
    await dependencies.advance(25_000);
    expect(dependencies.encoder.isKilled).toBe(false);
    await endSource();
  });

  test('[M-41] an encoder that waits for a key frame is not stuck', async () => {
    const { dependencies, sender, endSource } = await startPackager();
    await dependencies.encoder.exitWith();
    await dependencies.advance(15_000, sender('P', 1_200, 250).feed);
    expect(dependencies.encoders).toHaveLength(2);
    expect([dependencies.encoder.input, dependencies.encoder.isKilled]).toEqual(['', false]);
    await endSource();
  });

  test('[M-16] an encoder that does not exit after a pause in the source is killed', async () => {
    const { packager, dependencies, send } = await startPackager();
    const [first] = dependencies.encoders;
    await dependencies.advance(9_000);
    send('P10200;');
    expect([first?.isFinished, first?.isKilled]).toEqual([true, false]);
    await dependencies.advance(5_000);
    expect(first?.isKilled).toBe(true);
    await packager.end();
  });

  test('[M-12] an encoder restarts with a new epoch when the source clock jumps', async () => {
    const { dependencies, sink, sender, lines, endSource } = await startPackager();
    const [first] = dependencies.encoders;
    const { source, feed } = sender('J', 600_000, 250);
    const jumpedMs = dependencies.now - source.ms;
    await dependencies.advance(6_000, feed);
    expect(first?.isKilled).toBe(true);
    expect(messages(lines)).toContain("the source's clock jumped; a new timeline starts");
    await dependencies.advance(500, feed);
    dependencies.encoder.emitStart(source.ms, 1.5);
    // The new epoch is mapped to service time as before.
    expect(sink.epochs.at(-1)?.startMs).toBe(source.ms + jumpedMs);
    expect(sink.segments.at(-1)?.epoch).toBe(1);
    await endSource();
  });

  test.each([
    ['forward', 36_000_000],
    ['back', -36_000_000],
  ])(
    '[M-12] [M-16] an encoder gets no timestamps that jump %s, since it would fill the gap with frames',
    async (_, jumpMs) => {
      const { dependencies, sink, send, lines, endSource } = await startPackager();
      const [first] = dependencies.encoders;
      await dependencies.advance(4_000);
      send('J5100;P5200;');
      const nextMs = 5_300 + jumpMs;
      send(`J${nextMs};P${nextMs + 100};`);
      expect(first?.input).toEndWith('J5100;P5200;');
      expect(first?.isKilled).toBe(true);
      expect(messages(lines)).toContain("the source's clock jumped; a new timeline starts");
      await dependencies.advance(1_000);
      send(`P${nextMs + 900};J${nextMs + 1_000};`);
      expect(dependencies.encoder.input).toBe(`H;J${nextMs + 1_000};`);
      dependencies.encoder.emitStart(nextMs + 1_000, 1.5);
      // The last unit of a message arrives without delay.
      expect(sink.segments.at(-1)).toMatchObject({ epoch: 1, startMs: dependencies.now - 100 });
      await endSource();
    },
  );

  test('[M-12] [M-16] a source with network lag of up to 1.5 s keeps its encoder', async () => {
    const { packager, dependencies, sink, send } = await startPackager();
    const { encoder } = dependencies;
    encoder.emit(3_500, 0.5);
    let sourceMs = 1_100;
    const startedMs = dependencies.now;
    await dependencies.advance(120_000, () => {
      const elapsedMs = dependencies.now - startedMs;
      const lagMs = 750 * (1 - Math.cos((2 * Math.PI * elapsedMs) / 30_000));
      // What has passed the queue by now.
      for (; sourceMs <= 1_100 + elapsedMs - lagMs; sourceMs += 100) send(`P${sourceMs};`);
      if (elapsedMs % 1_000 === 0) encoder.emit(3_000 + elapsedMs, 1);
    });
    expect([sink.failures, dependencies.encoders.length]).toEqual([[], 1]);
    const ending = packager.end();
    await encoder.exitWith();
    await ending;
  });

  test('[M-12] a source that drops frames in a network stall keeps its encoder', async () => {
    const { dependencies, send, endSource } = await startPackager();
    const { encoder } = dependencies;
    await dependencies.advance(10_000);
    // The queue of the sender had 3 s and dropped 5 s.
    for (let ms = 1_200; ms <= 4_200; ms += 100) send(`P${ms};`);
    for (let ms = 9_300; ms <= 11_000; ms += 100) send(`P${ms};`);
    expect(encoder.isKilled).toBe(false);
    expect(dependencies.encoders).toHaveLength(1);
    await endSource();
  });

  test('[M-12] [M-16] a source that is always ahead of real time fails after a few restarts', async () => {
    const { dependencies, sink, sender } = await startPackager();
    const { source, feed } = sender('J', 1_100, 2_500);
    for (let jumps = 0; jumps < 8 && sink.failures.length === 0; jumps++) {
      await dependencies.advance(6_500, feed);
      if (!dependencies.encoder.isKilled) dependencies.encoder.emitStart(source.ms, 1.5);
    }
    expect(sink.failures).toEqual([expect.stringContaining('Send in real time')]);
    await settled();
  });

  test('[M-12] [M-16] an encoder gets no timestamps that are far ahead of service time, step by step', async () => {
    const { dependencies, sink, sender, endSource } = await startPackager();
    const [first] = dependencies.encoders;
    const { source, feed } = sender('J', 1_100, 2_500);
    const serviceMs = (sink.epochs[0]?.startMs ?? 0) - 1_000;
    for (let count = 0; count < 40; count++) feed();
    const newestMs = Number(/(\d+);$/.exec(first?.input ?? '')?.[1]);
    expect(newestMs + serviceMs - dependencies.now).toBeWithin(5_000, 10_001);
    expect(first?.isKilled).toBe(true);
    await dependencies.advance(500);
    feed();
    expect(dependencies.encoder.input).toEndWith(`J${source.ms};`);
    await endSource();
  });

  test('[M-12] [M-16] a source that sends hours before its first segment fails', async () => {
    const { dependencies, sink, send } = createPackagerFixture();
    send('H;J1000;');
    for (let ms = 3_500; ms < 3_600_000; ms += 2_500) send(`J${ms};`);
    expect(sink.failures).toEqual([expect.stringContaining('Send in real time')]);
    await dependencies.advance(100);
  });

  test('[M-12] a source that first sends 20 s that a relay kept is encoded', async () => {
    const { dependencies, send, endSource } = createPackagerFixture();
    send('H;J1000;');
    for (let ms = 1_100; ms <= 21_000; ms += 100) send(`P${ms};`);
    await dependencies.probe.succeed();
    expect(dependencies.encoder.input).toStartWith('H;J1000;P1100;');
    expect(dependencies.encoder.input).toEndWith('P21000;');
    await endSource();
  });

  test('[M-12] [M-16] an encoder whose output is far ahead of service time is ended, whatever its input said', async () => {
    const { dependencies, sink, lines, endSource } = await startPackager();
    const [first] = dependencies.encoders;
    for (let ms = 3_500; ms < 60_000; ms += 500) first?.emit(ms, 0.5);
    expect(first?.isKilled).toBe(true);
    expect(messages(lines)).toContain("the source's clock jumped; a new timeline starts");
    const { startMs = 0, durationMs = 0 } = sink.segments.at(-1) ?? {};
    expect(startMs + durationMs - dependencies.now).toBeWithin(5_000, 11_001);
    await endSource();
  });

  test.each([
    ['no encoder decodes gets three further encoders at first', true, false, 8, 4],
    ['starts late and no encoder decodes gets three encoders at first', false, false, 8, 4],
    ['no encoder decodes for a minute gets another encoder', true, false, 62, 7],
    ['is missing again and again gets an encoder each time', true, true, 8, 7],
  ])('[M-13] audio that %s', async (_, hasAudio, isDecoded, missingSeconds, encoders) => {
    const { dependencies, send, endSource } = await startPackager({}, { ...INFO, hasAudio });
    let ms = 1_100;
    const feed = (seconds: number, isNew: boolean) => {
      const { encoder } = dependencies;
      if (isNew) encoder.emitStart(ms, 2.5);
      return dependencies.advance(seconds * 1_000, () => {
        ms += STEP_MS;
        send(`A${ms};J${ms};`);
        encoder.emit(ms + 2_400 - STEP_MS, STEP_MS / 1_000);
      });
    };
    for (let round = 0; round < 6; round++) {
      const { encoder, probes } = dependencies;
      const probed = probes.length;
      const isNew = round > 0;
      if (isDecoded) await feed(1, isNew);
      if (hasAudio || isNew) encoder.events.onAudioMissing(true);
      await feed(missingSeconds, isNew && !isDecoded);
      if (probes.length === probed) continue;
      await dependencies.probe.succeed();
      await feed(1, false);
      await encoder.exitWith({ code: 0 });
    }
    expect(dependencies.encoders).toHaveLength(encoders);
    await endSource();
  });

  test('[M-40] an encoder whose tracks make no continuous timeline is restarted', async () => {
    const { dependencies, sink, lines, endSource } = await startPackager();
    const [first] = dependencies.encoders;
    first?.emit(9_000, 1);
    expect(first?.isKilled).toBe(true);
    await settled();
    // Earlier output is kept, and later output is ignored.
    expect(seqs(sink.segments)).toEqual(['0:0', '0:1', '0:2']);
    expect(
      messages(lines).filter((line) => line === "the encoder's tracks make no continuous timeline"),
    ).toHaveLength(1);
    await dependencies.advance(250);
    expect(dependencies.encoders).toHaveLength(2);
    expect(sink.failures).toEqual([]);
    await endSource();
  });

  test('[M-40] an encoder that cannot be spawned counts as a failed one', async () => {
    const fixture = createPackagerFixture();
    const { dependencies, sink } = fixture;
    const { startEncoder } = dependencies;
    let attempts = 0;
    const failing = () => {
      attempts++;
      throw new Error('spawn EAGAIN');
    };
    Object.assign(dependencies, { startEncoder: failing });
    fixture.send('H;J1;');
    await dependencies.probe.succeed();
    expect(attempts).toBe(1);
    await dependencies.advance(250);
    expect(attempts).toBe(2);
    Object.assign(dependencies, { startEncoder });
    await dependencies.advance(500);
    expect(dependencies.encoders).toHaveLength(1);
    Object.assign(dependencies, { startEncoder: failing });
    await dependencies.encoder.exitWith();
    await dependencies.advance(10_000);
    expect(sink.failures).toEqual([expect.stringContaining('spawn EAGAIN')]);
  });

  test('an encoder that exits while its source ends is not restarted', async () => {
    const { packager, dependencies } = await startPackager();
    await dependencies.encoder.exitWith();
    await packager.end();
    await dependencies.advance(1_000);
    expect(dependencies.encoders).toHaveLength(1);
  });
});
