import { expect, test } from 'bun:test';
import { ConnectionLost, type Net } from '../../../crowd/connections.ts';
import { LossyNet } from './lossy-net.ts';

test('[Y-5] half of what is lost never comes, of the other half only the answer is lost', async () => {
  const draws = [0.05, 0.15, 0.2, 0.9];
  let came = 0;
  let gaveUp = 0;
  const net: Net = {
    request: async () => {
      came++;
      return { status: 204, body: new Uint8Array(0), retryAfterS: 0 };
    },
  };
  const lossy = new LossyNet(net, {
    lossShare: 0.2,
    random: () => draws.shift() ?? 1,
    giveUp: async () => {
      gaveUp++;
    },
  });
  const ask = () => lossy.request('POST', '/', '').catch((error) => error);
  expect(await ask()).toBeInstanceOf(ConnectionLost);
  expect([came, gaveUp]).toEqual([0, 1]);
  expect(await ask()).toBeInstanceOf(ConnectionLost);
  expect([came, gaveUp]).toEqual([1, 1]);
  expect((await ask()).status).toBe(204);
  expect((await ask()).status).toBe(204);
  expect([came, lossy.lost]).toEqual([3, 2]);
});
