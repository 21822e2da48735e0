import { Database } from 'bun:sqlite';
import { afterEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { BunRequest } from 'bun';
import { viewerApi } from '../../../protocol/viewer-api.ts';
import {
  openShow,
  PRODUCER,
  SHOW_START_MS,
  type Show,
  uuidOf,
} from '../../../test/support/streams/show-fixture.ts';
import type { StudioCall, StudioHandlerFactory } from '../../auth/studio-handler.ts';
import { Route } from '../../http/route.ts';
import { DATABASE_FILE } from '../../storage/sql/sqlite.ts';
import {
  ownContactHandlers,
  type WinnerContactDeps,
  winnerContactHandlers,
} from './winner-contact-routes.ts';

const STREAM = uuidOf(1);
const ROUND = uuidOf(2);
const CONTACTS = 12_000;

let show: Show | null = null;
afterEach(async () => {
  await show?.close();
  show = null;
});

type Erase = (call: StudioCall) => Promise<null>;

test('[W-14] [L-19] contact details are erased in steps of 5,000; a repeat continues them, and erases nothing sent later', async () => {
  show = await openShow([STREAM]);
  using sqlite = new Database(join(show.directory, DATABASE_FILE));
  sqlite.run(
    `insert into winners_rounds (id, number, stream_id, game, quizzes, state, requested, count, contact_note)
     values (?, 1, ?, 0, 0, 'closed', 0, 0, 'note')`,
    [ROUND, STREAM],
  );
  const send = (count: number) =>
    sqlite.run(
      `with recursive n (n) as (select 1 union all select n + 1 from n where n < ?)
       insert into winner_contacts (round, seat, name, contact, created) select 1, n, 'a', 'b', 0 from n`,
      [count],
    );
  const left = () => sqlite.query('select count(*) as n from winner_contacts').get();
  send(CONTACTS);

  const remaining: unknown[] = [];
  let stepsLeft = 2;
  const step = async <T>(work: () => Promise<T>): Promise<T> => {
    if (stepsLeft-- === 0) throw new Error('the database is unavailable');
    const result = await work();
    remaining.push(left());
    return result;
  };
  const studio = ((_: unknown, run: unknown) => run) as unknown as StudioHandlerFactory;
  const { eraseContacts } = winnerContactHandlers(studio, {
    store: show.store,
    winnerCode: () => '',
    largeOperations: { run: (_, operation) => operation(step) },
  });
  const call = {
    producer: PRODUCER,
    params: { stream_id: STREAM, round_id: ROUND },
    idempotency: { owner: PRODUCER, key: 'k', fingerprint: 'f', nowMs: SHOW_START_MS },
  } as unknown as StudioCall;
  const erase = () => (eraseContacts as unknown as Erase)(call);

  await expect(erase()).rejects.toThrow('unavailable');
  expect(remaining).toEqual([{ n: 7_000 }, { n: 2_000 }]);
  stepsLeft = 10;
  await erase();
  expect(left()).toEqual({ n: 0 });
  send(3);
  await erase();
  expect(left()).toEqual({ n: 3 });
});

test('[W-14] details are erased for one viewer at a time, and networks take turns', async () => {
  const erasures: { seat: number; finish: () => void }[] = [];
  const deps = {
    store: {
      eraseOwnContact: ({ seat }: { seat: number }) =>
        new Promise<void>((finish) => erasures.push({ seat, finish })),
    },
    answers: { take: () => {} },
    credentials: {
      viewer: async ({ headers }: Request) => ({
        streamId: STREAM,
        seat: Number(headers.get('x-seat')),
      }),
    },
  };
  const { eraseOwnContact } = ownContactHandlers(deps as unknown as WinnerContactDeps);
  const options = { corsOrigin: '*', listener: { server: null }, trustProxy: true };
  const route = new Route(viewerApi.eraseOwnContact, 'DELETE', options);
  const erase = async (seat: number, address: string) => {
    const headers = { 'X-Forwarded-For': address, 'X-Seat': String(seat) };
    const request = Object.assign(new Request('http://localhost/', { headers }), {
      params: { stream_id: STREAM },
    });
    return (await eraseOwnContact(request as unknown as BunRequest<string>, route)).status;
  };
  const requests = [1, 2, 3].map((seat) => erase(seat, `192.0.2.${seat}`));
  requests.push(erase(4, '198.51.100.1'));
  const order: number[] = [];
  for (let count = 0; count < 4; count++) {
    await Bun.sleep(0);
    expect(erasures).toHaveLength(1);
    const [erasure] = erasures.splice(0);
    order.push(erasure?.seat as number);
    erasure?.finish();
  }
  expect(order).toEqual([1, 2, 4, 3]);
  expect(new Set(await Promise.all(requests))).toEqual(new Set([204]));
});
