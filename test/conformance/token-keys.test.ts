import { afterAll, expect, test } from 'bun:test';
import { decodeJwt, decodeProtectedHeader, type JWK } from 'jose';
import { Keyring, newSigningKey } from '../../server/auth/viewer-tokens/keyring.ts';
import { expectUnauthorized } from '../support/conformance/expectations.ts';
import { HIGH_RATES } from '../support/conformance/operations.ts';
import {
  expectJson,
  type Harness,
  type ManualClock,
  manualClock,
  START_MS,
  startService,
  viewerWith,
} from '../support/harness/harness.ts';
import { temporaryFolder } from '../support/harness/program.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** From a rotation to the new key's first signature: 10 minutes (T-15) and one to detect it. */
const AHEAD_MS = 11 * MINUTE_MS;

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** Runs `work` with a service on a directory that earlier and later services share. */
async function withService<T>(
  name: string,
  clock: ManualClock,
  work: (harness: Harness) => Promise<T>,
): Promise<T> {
  const config = { rates: HIGH_RATES };
  await using harness = await startService({ clock, directory: folder.path(name), config });
  return await work(harness);
}

const kidOf = (token: string) => decodeProtectedHeader(token).kid ?? '';
async function kidsOf(harness: Harness): Promise<string[]> {
  const response = await fetch(`${harness.url}/.well-known/jwks.json`);
  const { keys } = await expectJson<{ keys: JWK[] }>(response, 200);
  return keys.map(({ kid }) => kid ?? '');
}

test('[T-9] [N-16] seats and viewer ids survive a restart', async () => {
  const clock = manualClock(START_MS);
  const before = await withService('seats', clock, async (harness) => {
    const id = await harness.createStream();
    const tokens = ['a', 'b'].map(async (name) => (await harness.viewer(id, name)).token);
    return { id, tokens: await Promise.all(tokens) };
  });
  await withService('seats', clock, async (harness) => {
    const again = async (name: string) => decodeJwt((await harness.viewer(before.id, name)).token);
    for (const [index, name] of ['a', 'b'].entries()) {
      const { seat, sub } = decodeJwt(before.tokens[index] ?? '');
      expect(await again(name)).toMatchObject({ seat, sub });
    }
    // Seats leased before the restart may stay unused, and none is assigned twice (N-16).
    expect((await again('c')).seat).toBeGreaterThanOrEqual(2);
    // The key is unchanged too: a token from before the restart is still valid.
    const viewer = viewerWith(harness.url, before.id, before.tokens[0] ?? '');
    expect((await viewer.get(`/api/v1/view-counts/${before.id}`)).status).toBe(200);
  });
});

test('[T-14] [T-15] a new key is published over 10 minutes before it signs, and the old one stays published', async () => {
  const clock = manualClock(START_MS);
  const { id, first } = await withService('rotation', clock, async (harness) => {
    const streamId = await harness.createStream();
    const kid = kidOf((await harness.viewer(streamId)).token);
    expect(await kidsOf(harness)).toEqual([kid]);
    const offered = await newSigningKey();
    await harness.store.rotateSigningKeys({ offered, force: true, nowMs: START_MS });
    return { id: streamId, first: kid };
  });
  await withService('rotation', clock, async (harness) => {
    const kids = await kidsOf(harness);
    expect(kids).toHaveLength(2);
    expect(kids).toContain(first);
    const second = kids.find((kid) => kid !== first) ?? '';
    clock.set(START_MS + AHEAD_MS - 1);
    const last = await harness.viewer(id);
    expect(kidOf(last.token)).toBe(first);
    clock.set(START_MS + AHEAD_MS);
    const next = await harness.viewer(id);
    expect(kidOf(next.token)).toBe(second);
    // The last token of the old key stays valid for its 10 minutes under a published key.
    const path = `/api/v1/view-counts/${id}`;
    clock.set(START_MS + AHEAD_MS + 10 * MINUTE_MS - 1_000);
    expect((await kidsOf(harness)).sort()).toEqual([first, second].sort());
    clock.set(START_MS + AHEAD_MS + 10 * MINUTE_MS - 2_000);
    expect((await last.get(path)).status).toBe(200);
    expect((await next.get(path)).status).toBe(200);
    clock.set(START_MS + AHEAD_MS + 11 * MINUTE_MS - 1);
    expect((await kidsOf(harness)).sort()).toEqual([first, second].sort());
    clock.set(START_MS + AHEAD_MS + 11 * MINUTE_MS);
    expect(await kidsOf(harness)).toEqual([second]);
    await expectUnauthorized(await last.get(path), 'Bearer');
  });
});

test('[T-15] a running process adopts a rotation without a restart and rotates every 30 days', async () => {
  await withService('running', manualClock(START_MS), async ({ store }) => {
    const running = new Keyring(store);
    await running.refresh(START_MS);
    const kids = (nowMs: number) => running.jwks(nowMs).keys.map(({ kid }) => kid);
    const [first] = kids(START_MS);
    await new Keyring(store).refresh(START_MS + 1, true);
    await running.refresh(START_MS + 2);
    expect(kids(START_MS + 2)).toHaveLength(2);
    const active = START_MS + 1 + AHEAD_MS;
    expect(running.signingKey(active - 1).kid).toBe(first ?? '');
    const second = running.signingKey(active).kid;
    expect(second).not.toBe(first ?? '');
    const due = active + 30 * DAY_MS;
    await running.refresh(due - AHEAD_MS - 1);
    expect(kids(due - AHEAD_MS - 1)).toEqual([second]);
    await running.refresh(due - AHEAD_MS);
    expect(kids(due - AHEAD_MS)).toHaveLength(2);
    expect(running.signingKey(due - 1).kid).toBe(second);
    expect(running.signingKey(due).kid).not.toBe(second);
  });
});
