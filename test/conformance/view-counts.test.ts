import { describe, expect, test } from 'bun:test';
import type { ViewCount } from '../../protocol/view-counts.ts';
import { formatCount } from '../../server/realtime/presence/view-count-events.ts';
import { expectMembers, expectNoContent } from '../support/conformance/expectations.ts';
import { newAudience } from '../support/conformance/feed-viewer.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import {
  expectJson,
  manualClock,
  START_MS,
  startService,
  type TestViewer,
  viewerWith,
} from '../support/harness/harness.ts';
import { temporaryFolder } from '../support/harness/program.ts';

const harness = await serviceOfFile();

const pathOf = (viewer: TestViewer) => `/api/v1/view-counts/${viewer.streamId}`;
const register = async (viewer: TestViewer) => expectNoContent(await viewer.post(pathOf(viewer)));
const read = async (viewer: TestViewer) =>
  expectJson<ViewCount>(await viewer.get(pathOf(viewer)), 200);
const countOf = async (viewer: TestViewer) => (await read(viewer)).value;

/** Viewers of a new stream, none of them registered. */
const audienceOf = async (count: number) => (await newAudience(harness, count)).viewers;

describe('view counts', () => {
  test('[V-1] [G-23] registering a view returns 204 without a body, whatever body is sent', async () => {
    const [viewer] = await audienceOf(1);
    await register(viewer);
    for (const body of ['{}', 'nonsense', '[1', '\0'.repeat(4_096)]) {
      const response = await fetch(harness.url + pathOf(viewer), {
        method: 'POST',
        headers: { Authorization: `Bearer ${viewer.token}`, 'Content-Type': 'text/plain' },
        body,
      });
      await expectNoContent(response);
    }
    expect(await countOf(viewer)).toBe(1);
  });

  test('[V-2] a view count has exactly value and formatted', async () => {
    const viewers = await audienceOf(3);
    expect(await read(viewers[0])).toEqual({ value: 0, formatted: '0' });
    for (const viewer of viewers) await register(viewer);
    const count = await read(viewers[0]);
    expectMembers(count, ['value', 'formatted']);
    expect(count).toEqual({ value: 3, formatted: '3' });
  });

  test.each([0, 1, 2, 3])(
    '[V-3] a registration at phase %p of a second counts in its interval and the next four',
    async (phase) => {
      const [viewer] = await audienceOf(1);
      await harness.advance((4 + phase - (harness.interval() % 4)) % 4);
      await register(viewer);
      const values: number[] = [];
      for (let step = 0; step < 7; step++) {
        values.push(await countOf(viewer));
        await harness.advance(1);
      }
      expect(values).toEqual([1, 1, 1, 1, 1, 0, 0]);
    },
  );

  test('[V-3] a registration lasts 1.00 to 1.25 s, to the end of the interval in which its second ends', async () => {
    const clock = manualClock(START_MS);
    await using fine = await startService({ clock });
    const viewer = await fine.viewer(await fine.createStream());
    const at = async (sinceStartMs: number) => {
      clock.set(START_MS + sinceStartMs);
      return countOf(viewer);
    };
    clock.set(START_MS + 249);
    await register(viewer);
    expect([await at(249), await at(1_249), await at(1_250)]).toEqual([1, 1, 0]);
    clock.set(START_MS + 2_000);
    await register(viewer);
    expect([await at(3_000), await at(3_249), await at(3_250)]).toEqual([1, 1, 0]);
  });

  test('[V-4] a client that registers once a second is counted without a gap', async () => {
    const [viewer, reader] = (await audienceOf(2)) as [TestViewer, TestViewer];
    for (let second = 0; second < 4; second++) {
      await register(viewer);
      for (let step = 0; step < 4; step++) {
        expect(await countOf(reader)).toBe(1);
        await harness.advance(1);
      }
    }
  });

  test('[V-5] all registrations, tabs and tokens of one identifier count once', async () => {
    const stream = await harness.createStream();
    const tabs = [await harness.viewer(stream, 'ada'), await harness.viewer(stream, 'ada')];
    await harness.advance(4);
    tabs.push(await harness.viewer(stream, 'ada'));
    for (const tab of [...tabs, ...tabs]) await register(tab);
    await Promise.all(tabs.map(register));
    const other = await harness.viewer(stream, 'Ada');
    expect(await countOf(other)).toBe(1);
    await register(other);
    expect(await countOf(other)).toBe(2);
  });

  test('[V-6] a view count read after an acknowledged registration includes it', async () => {
    const viewers = await audienceOf(20);
    for (const [index, viewer] of viewers.entries()) {
      await register(viewer);
      expect(await countOf(viewers[0])).toBe(index + 1);
    }
  });

  test('[V-7] formatted is English compact notation with at most one decimal', async () => {
    const wanted: [number, string][] = [
      [0, '0'],
      [999, '999'],
      [1000, '1K'],
      [1234, '1.2K'],
      [999950, '1M'],
      [3400000, '3.4M'],
    ];
    for (const [value, formatted] of wanted) expect(formatCount(value)).toBe(formatted);
  });

  test('[V-7] 1,001 viewers are formatted as 1K over HTTP', async () => {
    const viewers = await audienceOf(1_001);
    await Promise.all(viewers.slice(0, 999).map(register));
    expect(await read(viewers[0])).toEqual({ value: 999, formatted: '999' });
    await Promise.all(viewers.slice(999).map(register));
    expect(await read(viewers[0])).toEqual({ value: 1_001, formatted: '1K' });
  }, 20_000);

  test('[V-8] reading the view count registers no viewer', async () => {
    const [viewer] = await audienceOf(1);
    for (let i = 0; i < 3; i++) expect(await countOf(viewer)).toBe(0);
    await viewer.get(
      `/api/v1/events-streams/${viewer.streamId}?interval=${harness.interval() - 1}`,
    );
    await viewer.get(pathOf(viewer), { 'X-HTTP-Method-Override': 'POST' });
    expect(await countOf(viewer)).toBe(0);
  });

  test('[V-9] streams are counted separately', async () => {
    const [one, two] = (await audienceOf(2)) as [TestViewer, TestViewer];
    const [elsewhere] = await audienceOf(1);
    await register(one);
    await register(two);
    expect(await countOf(elsewhere)).toBe(0);
    await register(elsewhere);
    expect([await countOf(one), await countOf(elsewhere)]).toEqual([2, 1]);
  });
});

test('[V-10] after a restart counts start at 0 and grow with the next registrations', async () => {
  using folder = temporaryFolder();
  const directory = folder.path('data');
  const clock = manualClock(START_MS);
  const before = await startService({ clock, directory });
  const viewer = await before.viewer(await before.createStream());
  await register(viewer);
  expect(await countOf(viewer)).toBe(1);
  await before.close();
  await using after = await startService({ clock, directory });
  const again = viewerWith(after.url, viewer.streamId, viewer.token);
  expect(await countOf(again)).toBe(0);
  await register(again);
  expect(await countOf(again)).toBe(1);
});
