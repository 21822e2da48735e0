import { randomUUID } from 'node:crypto';
import { askWinners, DETAILS, newAskedWinner, winRound } from '../quizzes/asked-winner.ts';
import { bearer, type CheckedResponse, type Exercises, type Fixture } from './fixture.ts';
import { exportResponses } from './report.ts';

/** The operations on the contact details of winners, of the producer and of viewers. */
export function winnerContactExercises(fixture: Fixture): Exercises {
  const { service } = fixture;
  const onRound = async (
    operationId: string,
    status: number,
    body?: object,
  ): Promise<CheckedResponse[]> => {
    const stream_id = await service.createStream();
    const { round, viewerId } = await newAskedWinner(service, stream_id);
    const send = (round_id: string) =>
      fixture.sendAsAccount(operationId, {
        params: { stream_id, round_id, viewer: viewerId },
        ...(body && { body }),
      });
    return [
      [await send(round.id), status],
      [await send(randomUUID()), 404],
    ];
  };
  const asWinner = async (operationId: string, status: number): Promise<CheckedResponse[]> => {
    const stream_id = await service.createStream();
    const { viewer } = await newAskedWinner(service, stream_id);
    const params = { stream_id };
    return [
      [await fixture.send(operationId, { params, authorization: bearer(viewer) }), status],
      [await fixture.send(operationId, { params }), 401],
    ];
  };
  return {
    requestContacts: () => onRound('requestContacts', 200, { note: 'Who are you?' }),
    endContactRequest: () => onRound('endContactRequest', 204),
    listContacts: () => onRound('listContacts', 200),
    eraseContacts: () => onRound('eraseContacts', 204),
    eraseContact: () => onRound('eraseContact', 204),
    exportContacts: () => exportResponses(fixture, 'exportContacts'),
    readOwnContact: () => asWinner('readOwnContact', 200),
    eraseOwnContact: () => asWinner('eraseOwnContact', 204),
    saveOwnContact: async () => {
      const stream_id = await service.createStream();
      const [winner, other] = [await service.viewer(stream_id), await service.viewer(stream_id)];
      const round = await winRound(service, stream_id, [winner]);
      await askWinners(service, round);
      const body = { roundId: round.id, ...DETAILS };
      const send = (authorization: string) =>
        fixture.send('saveOwnContact', { params: { stream_id }, authorization, body });
      return [
        [await send(bearer(winner)), 204],
        [await send(bearer(other)), 409],
      ];
    },
  };
}
