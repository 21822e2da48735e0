import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import type { StudioStream, WinnersRound } from '../../protocol/studio.ts';
import type { OwnContact, WinnerContact } from '../../protocol/winner-contacts.ts';
import { viewerIdOf } from '../support/chat/moderated-chat.ts';
import { expectNoContent, expectProblem } from '../support/conformance/expectations.ts';
import {
  expectJson,
  type Harness,
  startService,
  type TestViewer,
} from '../support/harness/harness.ts';
import { type AskedRound, askWinners, DETAILS, winRound } from '../support/quizzes/asked-winner.ts';

describe.each(['embedded', 'shared'] as const)('contact details on %s backends', (backends) => {
  let service: Harness;
  let streamId: string;
  let ada: TestViewer;
  let bob: TestViewer;
  beforeAll(async () => {
    service = await startService({ backends });
    await service.advance(1);
  }, 30_000);
  afterAll(() => service.close());

  const begin = async () => {
    streamId = await service.createStream();
    ada = await service.viewer(streamId);
    bob = await service.viewer(streamId);
  };
  const ownPath = () => `/api/v1/quizzes/${streamId}/winner-contact`;
  const own = async (viewer: TestViewer) =>
    expectJson<OwnContact>(await viewer.get(ownPath()), 200);
  const asked = async (viewer: TestViewer) => (await own(viewer)).request;
  const give = (viewer: TestViewer, roundId: string, fields: object = {}) =>
    viewer.post(ownPath(), { roundId, ...DETAILS, ...fields });
  const erase = ({ token }: TestViewer) =>
    fetch(service.url + ownPath(), {
      method: 'DELETE',
      headers: { Authorization: `Bearer ${token}` },
    });
  const list = async ({ path }: AskedRound) =>
    (
      await expectJson<{ results: WinnerContact[] }>(
        await service.studio('GET', `${path}/contacts`),
        200,
      )
    ).results;
  const roundsOf = async () =>
    (
      await expectJson<{ results: WinnersRound[] }>(
        await service.studio('GET', `/streams/${streamId}/winners-rounds`),
        200,
      )
    ).results;
  const exported = async (format: string) =>
    (await service.studio('GET', `/streams/${streamId}/exports/contacts?format=${format}`)).text();

  test('[W-14] winners of a round are asked, and only the producer reads what they send', async () => {
    await begin();
    const round = await winRound(service, streamId, [ada]);
    expect(await asked(ada)).toBeNull();
    await expectProblem(await give(ada, round.id), 409);
    const note = 'Where may we send your prize?';
    expect(await askWinners(service, round, note)).toMatchObject({
      id: round.id,
      contactNote: note,
      contacts: 0,
    });
    expect(await asked(ada)).toEqual({ roundId: round.id, note, details: null });
    expect(await asked(bob)).toBeNull();
    await expectProblem(await give(bob, round.id), 409);
    await expectNoContent(await give(ada, round.id));
    await expectNoContent(await give(ada, round.id, { contact: '+44 20 7946 0000' }));
    const details = { ...DETAILS, contact: '+44 20 7946 0000' };
    expect(await asked(ada)).toEqual({ roundId: round.id, note, details });
    const at = service.clock.nowMs();
    const code = expect.stringMatching(/^[A-Z]{4}-[2-9]{4}$/) as unknown as string;
    expect(await list(round)).toEqual([{ ...details, viewer: viewerIdOf(ada), code, at }]);
    expect(await roundsOf()).toEqual([expect.objectContaining({ contactNote: note, contacts: 1 })]);
  });

  test('[W-14] [J-12] contact details are exported, with formulas escaped', async () => {
    await begin();
    const round = await winRound(service, streamId, [ada]);
    await askWinners(service, round);
    await give(ada, round.id, { contact: '=HYPERLINK("https://evil.example")' });
    const line = JSON.parse(await exported('ndjson'));
    const time = new Date(service.clock.nowMs()).toISOString();
    expect(line).toMatchObject({ roundId: round.id, viewer: viewerIdOf(ada), ...{ time } });
    const [header, row] = (await exported('csv')).split('\r\n');
    expect(header).toBe('roundId,viewer,code,name,contact,at,time');
    expect(row).toContain(`Ada Lovelace,"'=HYPERLINK(""https://evil.example"")"`);
  });

  test('[W-14] the feed says only that a round is asked, and moderators read no details', async () => {
    await begin();
    const round = await winRound(service, streamId, [ada]);
    const interval = service.interval();
    await askWinners(service, round);
    await askWinners(service, round);
    await give(ada, round.id);
    await service.advance(1);
    const events = await service.events(bob, interval);
    expect(events.filter(({ type }) => type === 'winner-contact')).toEqual([
      { type: 'winner-contact', data: { roundId: round.id } },
    ]);
  });

  test('[W-14] what a winner sent is in no other response of the service', async () => {
    await begin();
    const round = await winRound(service, streamId, [ada]);
    await askWinners(service, round);
    const secret = `ada-${randomUUID()}`;
    await give(ada, round.id, { name: secret, contact: `${secret}@example.org` });
    await service.advance(4);
    await service.studio('POST', `/streams/${streamId}/end`);
    await service.advance(8);
    await service.service.makeReports();
    const stream = `/streams/${streamId}`;
    const studioPaths = [
      '',
      '/log',
      '/chat',
      '/report',
      '/winners-rounds',
      ...['winners', 'feed', 'chat', 'answers', 'results'].map((kind) => `/exports/${kind}`),
    ];
    for (const path of studioPaths) {
      const response = await service.studio('GET', stream + path);
      expect([path, response.status]).toEqual([path, 200]);
      expect([path, (await response.text()).includes(secret)]).toEqual([path, false]);
    }
    for (const path of [`/api/v1/streams/${streamId}/`, ownPath()]) {
      expect(await (await bob.get(path)).text()).not.toContain(secret);
    }
    expect(await exported('ndjson')).toContain(secret);
  });

  test('[W-14] the producer erases one or all, and a viewer its own; erased details are gone', async () => {
    await begin();
    const round = await winRound(service, streamId, [ada, bob]);
    await askWinners(service, round);
    const viewers = async () => (await list(round)).map(({ viewer }) => viewer);
    await give(ada, round.id);
    await give(bob, round.id);
    expect((await viewers()).toSorted()).toEqual([viewerIdOf(ada), viewerIdOf(bob)].toSorted());
    const ofAda = `${round.path}/contacts/${viewerIdOf(ada)}`;
    await expectNoContent(await service.studio('DELETE', ofAda));
    await expectProblem(await service.studio('DELETE', ofAda), 404);
    expect(await viewers()).toEqual([viewerIdOf(bob)]);
    await expectNoContent(await erase(bob));
    await expectNoContent(await erase(bob));
    expect(await viewers()).toEqual([]);
    await give(ada, round.id);
    await give(bob, round.id);
    await expectNoContent(await service.studio('DELETE', `${round.path}/contacts`));
    expect(await exported('ndjson')).toBe('');
    expect(await asked(ada)).toBeNull();
    await expectProblem(await give(ada, round.id), 409);
  });

  test('[W-14] the producer stops asking, and what was sent stays', async () => {
    await begin();
    const round = await winRound(service, streamId, [ada, bob]);
    await askWinners(service, round);
    await give(ada, round.id);
    await expectNoContent(await service.studio('DELETE', `${round.path}/contact-request`));
    expect(await asked(ada)).toBeNull();
    await expectProblem(await give(bob, round.id), 409);
    expect(await list(round)).toHaveLength(1);
  });

  test('[W-14] a viewer reads that details of it are stored when it is not asked, and erases those of all rounds', async () => {
    await begin();
    const rounds = [await winRound(service, streamId, [ada, bob])];
    rounds.push(await winRound(service, streamId, [ada]));
    const [first, second] = rounds as [AskedRound, AskedRound];
    await askWinners(service, first);
    expect(await own(ada)).toMatchObject({ hasDetails: false });
    await give(ada, first.id);
    expect(await own(ada)).toMatchObject({ request: { details: DETAILS }, hasDetails: true });
    await askWinners(service, second);
    expect(await own(ada)).toMatchObject({
      request: { roundId: second.id, details: null },
      hasDetails: true,
    });
    await give(ada, second.id);
    for (const { path } of rounds)
      await expectNoContent(await service.studio('DELETE', `${path}/contact-request`));
    expect(await own(ada)).toEqual({ request: null, hasDetails: true });
    expect(await own(bob)).toEqual({ request: null, hasDetails: false });
    const elsewhere = await service.viewer(await service.createStream());
    const otherPath = `/api/v1/quizzes/${elsewhere.streamId}/winner-contact`;
    expect(await (await elsewhere.get(otherPath)).json()).toEqual({
      request: null,
      hasDetails: false,
    });
    await expectNoContent(await erase(ada));
    expect(await own(ada)).toEqual({ request: null, hasDetails: false });
    for (const round of rounds) expect(await list(round)).toEqual([]);
  });

  test('[W-14] of several rounds a winner is asked for the newest; the show may have ended', async () => {
    await begin();
    const first = await winRound(service, streamId, [ada]);
    const second = await winRound(service, streamId, [ada]);
    const third = await winRound(service, streamId, [bob]);
    for (const round of [first, second, third]) await askWinners(service, round);
    await expectJson<StudioStream>(await service.studio('POST', `/streams/${streamId}/end`), 200);
    await askWinners(service, second, 'Really?');
    expect(await asked(ada)).toEqual({ roundId: second.id, note: 'Really?', details: null });
    expect((await asked(bob))?.roundId).toBe(third.id);
    await expectNoContent(await give(ada, second.id));
  });

  test('[W-14] an open round, another stream and an unknown round are refused', async () => {
    await begin();
    const requested = await service.studio('POST', `/streams/${streamId}/request-winners`);
    const { id } = await expectJson<WinnersRound>(requested, 201);
    const ask = (stream: string, round: string) =>
      service.studio('POST', `/streams/${stream}/winners-rounds/${round}/contact-request`, {
        note: 'Who are you?',
      });
    await expectProblem(await ask(streamId, id), 409);
    await service.advance(6);
    await expectProblem(await ask(await service.createStream(), id), 404);
    await expectProblem(await ask(streamId, randomUUID()), 404);
    await expectJson<WinnersRound>(await ask(streamId, id), 200);
    const stranger = await service.viewer(await service.createStream());
    await expectProblem(await stranger.get(ownPath()), 401);
    await expectProblem(await stranger.post(ownPath(), { roundId: id, ...DETAILS }), 401);
  });

  test('[W-14] [C-19] a banned winner is refused', async () => {
    await begin();
    const round = await winRound(service, streamId, [ada]);
    await askWinners(service, round);
    await service.studio('POST', `/streams/${streamId}/banned/${viewerIdOf(ada)}`, {});
    await expectProblem(await give(ada, round.id), 401);
    expect(await list(round)).toEqual([]);
  });
});
