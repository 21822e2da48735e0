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
  send(viewer: TestViewer, type: string, data?: object | null): Promise<unknown>;
  /** Advances by one interval. @returns the interval that this sealed */
  sealNext(): Promise<number>;
}

/** @param current the service of the test file, once it has started */
export function feedSteps(current: () => Harness): FeedSteps {
  const read: FeedSteps['read'] = (viewer, interval, headers) =>
    viewer.get(`/api/v1/events-streams/${viewer.streamId}?interval=${interval}`, { ...headers });
  return {
    newViewer: async () => current().viewer(await current().createStream()),
    read,
    async readText(viewer, interval) {
      const response = await read(viewer, interval);
      expect(response.status).toBe(200);
      return response.text();
    },
    async send(viewer, type, data = null) {
      const path = `/streams/${viewer.streamId}/events`;
      return expectJson(await current().studio('POST', path, { type, data }), 201);
    },
    async sealNext() {
      await current().advance(1);
      return current().interval() - 1;
    },
  };
}
