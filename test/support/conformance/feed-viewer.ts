import { expect } from 'bun:test';
import { expectJson, type Harness, type TestViewer } from '../harness/harness.ts';

/** Common steps of feed tests. */
export interface FeedSteps {
  /** Creates a viewer of a new stream. */
  newViewer(): Promise<TestViewer>;
  /** Reads an interval of the viewer's stream. */
  read(viewer: TestViewer, interval: number | string, headers?: object): Promise<Response>;
  /** The body of an interval; the status must be 200. */
  readText(viewer: TestViewer, interval: number): Promise<string>;
  /** Sends a custom event to the viewer's stream. */
  send(viewer: TestViewer, type: string, data?: object | null): Promise<{ readonly id: string }>;
  /** Advances by one interval. @returns the interval that this sealed */
  sealNext(): Promise<number>;
}

export function feedSteps(harness: Harness): FeedSteps {
  const read: FeedSteps['read'] = (viewer, interval, headers) =>
    viewer.get(`/api/v1/events-streams/${viewer.streamId}?interval=${interval}`, { ...headers });
  return {
    newViewer: async () => harness.viewer(await harness.createStream()),
    read,
    async readText(viewer, interval) {
      const response = await read(viewer, interval);
      expect(response.status).toBe(200);
      return response.text();
    },
    async send(viewer, type, data = null) {
      const path = `/streams/${viewer.streamId}/events`;
      return expectJson(await harness.studio('POST', path, { type, data }), 201);
    },
    async sealNext() {
      await harness.advance(1);
      return harness.interval() - 1;
    },
  };
}

/** Creates a stream with viewers. */
export async function newAudience(harness: Harness, viewerCount: number) {
  const stream = await harness.createStream();
  const viewers = Array.from({ length: viewerCount }, () => harness.viewer(stream));
  return { stream, viewers: (await Promise.all(viewers)) as [TestViewer, ...TestViewer[]] };
}

/** An event of the feed with its interval. */
export interface FeedEventOfInterval<T = unknown> {
  readonly interval: number;
  readonly type: string;
  readonly data: T;
}

/** All events of the viewer's stream in the sealed intervals from one interval on. */
export async function eventsFrom(
  harness: Harness,
  viewer: TestViewer,
  from: number,
): Promise<FeedEventOfInterval[]> {
  const events: FeedEventOfInterval[] = [];
  for (let interval = from; interval < harness.interval(); interval++) {
    for (const event of await harness.events(viewer, interval)) events.push({ interval, ...event });
  }
  return events;
}

export function ofType<T>(
  events: readonly FeedEventOfInterval[],
  type: string,
): FeedEventOfInterval<T>[] {
  return events.filter((event) => event.type === type) as FeedEventOfInterval<T>[];
}
