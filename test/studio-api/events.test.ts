import { describe, expect, test } from 'bun:test';
import { eventsFrom, ofType } from '../support/conformance/feed-viewer.ts';
import { serviceOfFile } from '../support/conformance/service.ts';
import { expectJson } from '../support/harness/harness.ts';

const service = await serviceOfFile();

const detailOf = async (response: Response) =>
  (await expectJson<{ detail: string }>(response, 400)).detail;

describe("the producer's events", () => {
  const event = (id: string, body: object) => service.studio('POST', `/streams/${id}/events`, body);

  test('[P-23] events of the producer get 201 with exactly id, streamId and type', async () => {
    const id = await service.createStream();
    const seen = new Set<string>();
    for (const type of ['purchase', 'discount', 'lights']) {
      const data = type === 'purchase' ? { text: 'two mugs' } : {};
      const response = await event(id, { type, data });
      const accepted = await expectJson<Record<string, string>>(response, 201);
      expect(accepted).toEqual({ id: expect.any(String), streamId: id, type });
      seen.add(accepted.id ?? '');
    }
    expect(seen.size).toBe(3);
  });

  test('[P-24] [C-10] purchases and discounts appear in `chats`', async () => {
    const id = await service.createStream();
    const viewer = await service.viewer(id);
    const interval = service.interval();
    const at = service.clock.nowMs();
    await event(id, { type: 'purchase', data: { name: 'Ada', text: 'two mugs' } });
    await event(id, { type: 'purchase', data: { text: 'a hat' } });
    await event(id, { type: 'discount' });
    await event(id, { type: 'discount', data: {} });
    await event(id, { type: 'discount', data: { count: 1_000_000 } });
    await service.advance(1);
    const events = await service.events(viewer, interval);
    expect(events.filter(({ type }) => type === 'chats')).toEqual([
      {
        type: 'chats',
        data: {
          messages: [],
          questions: [],
          greetings: [],
          cheers: [],
          purchases: [
            { id: expect.any(String), viewer: '', name: 'Ada', text: 'two mugs', at },
            { id: expect.any(String), viewer: '', name: '', text: 'a hat', at },
          ],
          hearts: 0,
          discounts: 1_000_002,
        },
      },
    ]);
  });

  test('[P-25] [F-35] events of other types appear in the feed unchanged, whatever their texts', async () => {
    const id = await service.createStream();
    const viewer = await service.viewer(id);
    const interval = service.interval();
    const sent = [
      { type: 'lights', data: { colour: 'red\n\u0000', deep: [1, { a: null }], '': '' } },
      { type: `a${'-9'.repeat(19)}z`, data: null },
    ];
    for (const body of sent) expect((await event(id, body)).status).toBe(201);
    await service.advance(1);
    const events = await service.events(viewer, interval);
    expect(events.filter(({ type }) => type !== 'view-count')).toEqual(sent);
  });

  test.each([
    [{ type: 'purchase' }, 'data'],
    [{ type: 'purchase', data: {} }, 'data.text'],
    [{ type: 'purchase', data: { text: 'x'.repeat(281) } }, 'data.text'],
    [{ type: 'purchase', data: { text: 'a\u0007' } }, 'data.text'],
    [{ type: 'purchase', data: { text: 'a', name: 'x'.repeat(41) } }, 'data.name'],
    [{ type: 'purchase', data: { text: 'a', name: '' } }, 'data.name'],
    [{ type: 'discount', data: { count: 0 } }, 'data.count'],
    [{ type: 'discount', data: { count: 1_000_001 } }, 'data.count'],
    [{ type: 'discount', data: { count: 1.5 } }, 'data.count'],
    [{ type: 'quiz', data: {} }, 'type'],
    [{ type: 'quiz-results', data: {} }, 'type'],
    [{ type: 'view-count', data: {} }, 'type'],
    [{ type: 'chats', data: {} }, 'type'],
    [{ type: 'request-quiz-winners', data: null }, 'type'],
    [{ type: 'quiz-winners', data: {} }, 'type'],
    [{ type: 'Lights', data: {} }, 'type'],
    [{ type: '1up', data: {} }, 'type'],
    [{ type: '', data: {} }, 'type'],
    [{ type: 'a'.repeat(41), data: {} }, 'type'],
    [{ data: {} }, 'type'],
    [{ type: 'lights' }, 'data'],
    [{ type: 'lights', data: [] }, 'data'],
    [{ type: 'lights', data: 'red' }, 'data'],
    [{ type: 'lights', data: { text: 'x'.repeat(4_096) } }, 'data'],
  ])('[P-23] [P-24] [P-25] the event %j gets 400, which names %s', async (body, member) => {
    const id = await service.createStream();
    expect(await detailOf(await event(id, body))).toContain(member);
    const viewer = await service.viewer(id);
    const interval = service.interval();
    await service.advance(1);
    const events = await service.events(viewer, interval);
    expect(events.filter(({ type }) => type !== 'view-count')).toEqual([]);
  });

  test('[P-23] an event has up to 4,096 bytes of data', async () => {
    const id = await service.createStream();
    const room = 4_096 - '{"text":""}'.length;
    const fits = { type: 'lights', data: { text: 'x'.repeat(room) } };
    expect((await event(id, fits)).status).toBe(201);
    const wide = { type: 'lights', data: { text: 'é'.repeat(room / 2 + 1) } };
    expect((await event(id, wide)).status).toBe(400);
  });

  test('[P-26] an event gets 409 in an ended stream', async () => {
    const id = await service.createStream();
    await service.studio('POST', `/streams/${id}/end`);
    expect((await event(id, { type: 'lights', data: null })).status).toBe(409);
  });

  test('[I-2] events of the producer are in exactly one interval each, in order', async () => {
    const id = await service.createStream();
    const viewer = await service.viewer(id);
    const from = service.interval();
    for (let n = 0; n < 12; n++) {
      await event(id, { type: 'step', data: { n } });
      if (n % 3 === 2) await service.advance(1);
    }
    await service.advance(4);
    const steps = ofType(await eventsFrom(service, viewer, from), 'step');
    expect(steps.map(({ data }) => data)).toEqual(Array.from({ length: 12 }, (_, n) => ({ n })));
  });
});
