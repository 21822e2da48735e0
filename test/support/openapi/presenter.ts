import { randomUUID } from 'node:crypto';
import type { Exercises, Fixture } from './fixture.ts';

/** The operations of the presenter display. */
export function presenterExercises(fixture: Fixture): Exercises {
  return {
    createPresenterKey: async () => {
      const params = { stream_id: await fixture.service.createStream() };
      const request = { params, headers: { 'Idempotency-Key': randomUUID() } };
      return [
        ...(await fixture.inStream('createPresenterKey', {}, 201)),
        [await fixture.studio('createPresenterKey', request), 201],
        [await fixture.studio('createPresenterKey', request), 409],
      ];
    },
    readPresenterKey: () => fixture.inStream('readPresenterKey', {}, 200),
    withdrawPresenterKey: () => fixture.inStream('withdrawPresenterKey', {}, 204),
    presentShow: async () => {
      const answers = await fixture.inStream('presentShow', {}, 200);
      await answers[0]?.[0].body?.cancel();
      return answers;
    },
  };
}
