import { expect, test } from 'bun:test';
import { detectBan } from './ban-detection.ts';

/** @returns the number of `onBanned` calls for these responses, one after another */
async function bansIn(...responses: Response[]): Promise<number> {
  let bans = 0;
  const remaining = [...responses];
  const fetch = detectBan(
    async () => remaining.shift() as Response,
    () => {
      bans += 1;
    },
  );
  for (const response of responses) expect(await fetch('/')).toBe(response);
  return bans;
}

const unauthorized = (body: object) => Response.json(body, { status: 401 });

test('[C-19] a ban is reported once', async () => {
  expect(await bansIn(unauthorized({ banned: true }), unauthorized({ banned: true }))).toBe(1);
});

test('other refusals are not reported as a ban', async () => {
  expect(await bansIn(unauthorized({ detail: 'The token has expired.' }))).toBe(0);
  expect(await bansIn(new Response('<html>', { status: 401 }))).toBe(0);
  expect(await bansIn(Response.json({ banned: true }, { status: 409 }))).toBe(0);
});

test('the caller can read the body of a refusal', async () => {
  const fetch = detectBan(
    async () => unauthorized({ detail: 'Why.', banned: true }),
    () => {},
  );
  expect(await (await fetch('/')).json()).toEqual({ detail: 'Why.', banned: true });
});
