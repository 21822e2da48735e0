import type { WinnersRound } from '../../../protocol/studio.ts';
import { viewerIdOf } from '../chat/moderated-chat.ts';
import { expectJson, type Harness, type TestViewer } from '../harness/harness.ts';

/** The identifier of the viewer who wins. */
export const WINNER = 'winner';
export const DETAILS = { name: 'Ada Lovelace', contact: 'ada@example.org' };

/** A closed round whose winners are asked for contact details. */
export interface AskedRound {
  readonly id: string;
  readonly streamId: string;
  /** Its path below the studio API. */
  readonly path: string;
}

/** Runs a round without quizzes, which these viewers of a stream win. @returns its id */
export async function winRound(
  harness: Harness,
  streamId: string,
  winners: readonly TestViewer[],
): Promise<AskedRound> {
  const requested = await harness.studio('POST', `/streams/${streamId}/request-winners`);
  const { id } = await expectJson<WinnersRound>(requested, 201);
  for (const winner of winners) await winner.post(`/api/v1/quizzes/${streamId}/record-winner`);
  await harness.advance(6);
  return { id, streamId, path: `/streams/${streamId}/winners-rounds/${id}` };
}

export async function askWinners(
  harness: Harness,
  { path }: AskedRound,
  note = 'Where may we send your prize?',
): Promise<WinnersRound> {
  return expectJson(await harness.studio('POST', `${path}/contact-request`, { note }), 200);
}

/** A new stream with a round whose only winner is asked, and has sent its details. */
export async function newAskedWinner(harness: Harness, streamId: string) {
  const viewer = await harness.viewer(streamId, WINNER);
  const round = await winRound(harness, streamId, [viewer]);
  await askWinners(harness, round);
  const body = { roundId: round.id, ...DETAILS };
  await viewer.post(`/api/v1/quizzes/${streamId}/winner-contact`, body);
  return { viewer, viewerId: viewerIdOf(viewer), round };
}
