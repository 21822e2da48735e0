import { randomUUID } from 'node:crypto';
import type { Exercises, Fixture } from './fixture.ts';

/** The operations of the presenter display. */
export function presenterExercises(fixture: Fixture): Exercises {
  return {
    createPresenterKey: async () => {
      const params = { stream_id: await fixture.service.createStream() };
      const request = { params, headers: { 'Idempotency-Key': randomUUID() } };
      return [
        ...(await fixture.sendInStream('createPresenterKey', {}, 201)),
        [await fixture.sendAsAccount('createPresenterKey', request), 201],
        [await fixture.sendAsAccount('createPresenterKey', request), 409],
      ];
    },
    readPresenterKey: () => fixture.sendInStream('readPresenterKey', {}, 200),
    withdrawPresenterKey: () => fixture.sendInStream('withdrawPresenterKey', {}, 204),
    presentShow: async () => {
      const responses = await fixture.sendInStream('presentShow', {}, 200);
      await responses[0]?.[0].body?.cancel();
      return responses;
    },
  };
}
