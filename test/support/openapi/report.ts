import { expect } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { answer } from '../conformance/quiz-show.ts';
import type { Answered, Exercises, Ground } from './ground.ts';

/** The operations by which a show is looked at once it is over. */
export function reportExercises(ground: Ground): Exercises {
  const { service } = ground;
  return {
    readReport: async () => {
      const { streamId, viewer, quiz } = await ground.show();
      const params = { stream_id: streamId };
      const early = await ground.studio('readReport', { params });
      await viewer.post(`/api/v1/view-counts/${streamId}`);
      await answer(viewer, quiz);
      await service.advance(5);
      await service.studio('POST', `/streams/${streamId}/end`);
      const working = await ground.studio('readReport', { params });
      await service.advance(2);
      await service.service.report();
      return [
        [early, 409],
        [working, 200],
        [await ground.studio('readReport', { params }), 200],
        [await ground.studio('readReport', { params: { stream_id: randomUUID() } }), 404],
      ];
    },
    exportAudience: () => exported(ground, 'exportAudience'),
    exportChat: () => exported(ground, 'exportChat'),
    exportResults: () => exported(ground, 'exportResults'),
  };
}

/** An export in either format, and in one that there is not. */
export async function exported(ground: Ground, operationId: string): Promise<Answered[]> {
  const { streamId } = await ground.show();
  await ground.service.advance(2);
  const params = { stream_id: streamId };
  const csv = await ground.studio(operationId, { params, query: '?format=csv' });
  expect(csv.headers.get('content-type')).toStartWith('text/csv');
  return [
    ...(await ground.inStream(operationId, {}, 200)),
    [await ground.studio(operationId, { params }), 200],
    [csv, 200],
    [await ground.studio(operationId, { params, query: '?format=xml' }), 400],
  ];
}
