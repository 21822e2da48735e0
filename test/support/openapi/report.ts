import { expect } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { answer } from '../conformance/quiz-show.ts';
import type { CheckedResponse, Exercises, Fixture } from './fixture.ts';

/** The operations of reports and exports. */
export function reportExercises(fixture: Fixture): Exercises {
  const { service } = fixture;
  return {
    readReport: async () => {
      const { streamId, viewer, quiz } = await fixture.createShow();
      const params = { stream_id: streamId };
      const early = await fixture.sendAsAccount('readReport', { params });
      await viewer.post(`/api/v1/view-counts/${streamId}`);
      await answer(viewer, quiz);
      await service.advance(5);
      await service.studio('POST', `/streams/${streamId}/end`);
      const pending = await fixture.sendAsAccount('readReport', { params });
      await service.advance(2);
      await service.service.makeReports();
      return [
        [early, 409],
        [pending, 200],
        [await fixture.sendAsAccount('readReport', { params }), 200],
        [await fixture.sendAsAccount('readReport', { params: { stream_id: randomUUID() } }), 404],
      ];
    },
    exportAudience: () => exportResponses(fixture, 'exportAudience'),
    exportChat: () => exportResponses(fixture, 'exportChat'),
    exportResults: () => exportResponses(fixture, 'exportResults'),
  };
}

/** Exports in both formats and in an unknown one. */
export async function exportResponses(
  fixture: Fixture,
  operationId: string,
): Promise<CheckedResponse[]> {
  const { streamId } = await fixture.createShow();
  await fixture.service.advance(2);
  const params = { stream_id: streamId };
  const csv = await fixture.sendAsAccount(operationId, { params, query: '?format=csv' });
  expect(csv.headers.get('content-type')).toStartWith('text/csv');
  return [
    ...(await fixture.sendInStream(operationId, {}, 200)),
    [await fixture.sendAsAccount(operationId, { params }), 200],
    [csv, 200],
    [await fixture.sendAsAccount(operationId, { params, query: '?format=xml' }), 400],
  ];
}
