import { expect, test } from 'bun:test';
import { noticingSentOut } from './sent-out.ts';

/** How often it is noticed when these come, one after the other. */
async function noticed(...responses: Response[]): Promise<number> {
  let times = 0;
  const rest = [...responses];
  const fetch = noticingSentOut(
    async () => rest.shift() as Response,
    () => {
      times += 1;
    },
  );
  for (const response of responses) expect(await fetch('/')).toBe(response);
  return times;
}

const refused = (body: object) => Response.json(body, { status: 401 });

test('[C-19] who was sent out is noticed, once', async () => {
  expect(await noticed(refused({ banned: true }), refused({ banned: true }))).toBe(1);
});

test('whoever else is refused is not', async () => {
  expect(await noticed(refused({ detail: 'The token has expired.' }))).toBe(0);
  expect(await noticed(new Response('<html>', { status: 401 }))).toBe(0);
  expect(await noticed(Response.json({ banned: true }, { status: 409 }))).toBe(0);
});

test('what was refused can be read by who asked', async () => {
  const fetch = noticingSentOut(
    async () => refused({ detail: 'Why.', banned: true }),
    () => {},
  );
  expect(await (await fetch('/')).json()).toEqual({ detail: 'Why.', banned: true });
});
