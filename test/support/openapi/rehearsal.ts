import type { Exercises, Fixture } from './fixture.ts';

const CROWD = { viewers: 1, latencyMs: 500, lossShare: 0.1, botShare: 0.5, lateShare: 0.25 };

/** The operations about rehearsals. */
export function rehearsalExercises(fixture: Fixture): Exercises {
  const { service } = fixture;
  const newShow = async () => ({ stream_id: await service.createStream() });
  const startRehearsal = async () => {
    const params = await newShow();
    await fixture.sendAsAccount('createRehearsal', { params, body: CROWD });
    return params;
  };
  const end = (params: { stream_id: string }) =>
    fixture.sendAsAccount('deleteRehearsal', { params });
  return {
    createRehearsal: async () => {
      const request = { params: await newShow(), body: CROWD };
      const first = await fixture.sendAsAccount('createRehearsal', request);
      const second = await fixture.sendAsAccount('createRehearsal', request);
      await end(request.params);
      return [
        [first, 201],
        [second, 409],
        [await fixture.sendAsAccount('createRehearsal', { ...request, body: { viewers: 0 } }), 400],
      ];
    },
    readRehearsal: async () => {
      const params = await startRehearsal();
      const read = await fixture.sendAsAccount('readRehearsal', { params });
      await end(params);
      return [
        [read, 200],
        [await fixture.sendAsAccount('readRehearsal', { params }), 404],
      ];
    },
    deleteRehearsal: async () => {
      const params = await startRehearsal();
      return [
        [await end(params), 204],
        [await end(params), 404],
      ];
    },
  };
}
