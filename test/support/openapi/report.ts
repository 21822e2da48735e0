import { expect } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { answer } from '../conformance/quiz-show.ts';
import type { Answered, Exercises, Fixture } from './fixture.ts';

/** The operations by which a show is looked at once it is over. */
export function reportExercises(fixture: Fixture): Exercises {
  const { service } = fixture;
  return {
    readReport: async () => {
      const { streamId, viewer, quiz } = await fixture.show();
      const params = { stream_id: streamId };
      const early = await fixture.studio('readReport', { params });
      await viewer.post(`/api/v1/view-counts/${streamId}`);
      await answer(viewer, quiz);
      await service.advance(5);
      await service.studio('POST', `/streams/${streamId}/end`);
      const working = await fixture.studio('readReport', { params });
      await service.advance(2);
      await service.service.report();
      return [
        [early, 409],
        [working, 200],
        [await fixture.studio('readReport', { params }), 200],
        [await fixture.studio('readReport', { params: { stream_id: randomUUID() } }), 404],
      ];
    },
    exportAudience: () => exported(fixture, 'exportAudience'),
    exportChat: () => exported(fixture, 'exportChat'),
    exportResults: () => exported(fixture, 'exportResults'),
  };
}

/** An export in either format, and in one that there is not. */
export async function exported(fixture: Fixture, operationId: string): Promise<Answered[]> {
  const { streamId } = await fixture.show();
  await fixture.service.advance(2);
  const params = { stream_id: streamId };
  const csv = await fixture.studio(operationId, { params, query: '?format=csv' });
  expect(csv.headers.get('content-type')).toStartWith('text/csv');
  return [
    ...(await fixture.inStream(operationId, {}, 200)),
    [await fixture.studio(operationId, { params }), 200],
    [csv, 200],
    [await fixture.studio(operationId, { params, query: '?format=xml' }), 400],
  ];
}
