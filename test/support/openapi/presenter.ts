import { randomUUID } from 'node:crypto';
import type { Exercises, Ground } from './ground.ts';

/** The operations by which a show is on the wall behind its host. */
export function presenterExercises(ground: Ground): Exercises {
  return {
    createPresenterKey: async () => {
      const params = { stream_id: await ground.service.createStream() };
      const ask = { params, headers: { 'Idempotency-Key': randomUUID() } };
      return [
        ...(await ground.inStream('createPresenterKey', {}, 201)),
        [await ground.studio('createPresenterKey', ask), 201],
        [await ground.studio('createPresenterKey', ask), 409],
      ];
    },
    readPresenterKey: () => ground.inStream('readPresenterKey', {}, 200),
    withdrawPresenterKey: () => ground.inStream('withdrawPresenterKey', {}, 204),
    presentShow: async () => {
      const answers = await ground.inStream('presentShow', {}, 200);
      await answers[0]?.[0].body?.cancel();
      return answers;
    },
  };
}
