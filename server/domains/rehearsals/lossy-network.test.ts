import { expect, test } from 'bun:test';
import { ConnectionLost, type HttpTransport } from '../../../crowd/connections.ts';
import { LossyNetwork } from './lossy-network.ts';

test('[Y-5] LossyNetwork loses half before the service, and half after it', async () => {
  const draws = [0.05, 0.15, 0.2, 0.9];
  let arrived = 0;
  let timedOut = 0;
  const net: HttpTransport = {
    request: async () => {
      arrived++;
      return { status: 204, body: new Uint8Array(0), retryAfterS: 0 };
    },
  };
  const lossy = new LossyNetwork(net, {
    lossShare: 0.2,
    random: () => draws.shift() ?? 1,
    waitForTimeout: async () => {
      timedOut++;
    },
  });
  const sendRequest = () => lossy.request('POST', '/', '').catch((error) => error);
  expect(await sendRequest()).toBeInstanceOf(ConnectionLost);
  expect([arrived, timedOut]).toEqual([0, 1]);
  expect(await sendRequest()).toBeInstanceOf(ConnectionLost);
  expect([arrived, timedOut]).toEqual([1, 1]);
  expect((await sendRequest()).status).toBe(204);
  expect((await sendRequest()).status).toBe(204);
  expect([arrived, lossy.lost]).toEqual([3, 2]);
});
