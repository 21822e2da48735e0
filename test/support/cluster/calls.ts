import { expectJson, QUIZ, type TestViewer, viewerWith } from '../harness/harness.ts';
import type { ReadEvent } from '../kill/consistency-checker.ts';
import type { Cluster } from './cluster.ts';

export interface PublishedQuiz {
  readonly id: string;
  readonly closeInterval: number;
  readonly created: number;
}

/** API calls to the nodes of a cluster, which are named by their index. */
export interface NodeCalls {
  url(node: number): string;
  studio(
    node: number,
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Response>;
  createStream(node: number): Promise<string>;
  /** A viewer with a token that this node issued. */
  viewer(node: number, streamId: string, identifier?: string): Promise<TestViewer>;
  /** The same viewer, with the same token, on another node. */
  onNode(viewer: TestViewer, node: number): TestViewer;
  draft(node: number, streamId: string, fields?: Record<string, unknown>): Promise<string>;
  publish(node: number, quizId: string): Promise<PublishedQuiz>;
  /** The current interval of the node's clock. */
  interval(node: number): Promise<number>;
}

const ATTEMPTS_MAX = 5;

/** Sends a request again after a 503, as clients do: a busy machine may miss a deadline of the database. */
async function served(send: () => Promise<Response>): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await send();
    if (response.status !== 503 || attempt === ATTEMPTS_MAX) return response;
    await Bun.sleep(200);
  }
}

/** @throws Error from each call that gets an unexpected status */
export function callsTo(cluster: Pick<Cluster, 'nodes'>, apiToken: string): NodeCalls {
  const url = (node: number) => {
    const target = cluster.nodes[node]?.target;
    return `http://${target?.hostname}:${target?.port}`;
  };
  const calls: NodeCalls = {
    url,
    studio: (node, method, path, body, headers = {}) =>
      // The server may close an idle connection while a POST is on its way.
      fetch(`${url(node)}/studio/v1${path}`, {
        keepalive: false,
        method,
        headers: {
          Authorization: `Token ${apiToken}`,
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    async createStream(node) {
      const show = { title: 'A show' };
      const response = await served(() => calls.studio(node, 'POST', '/streams', show));
      return (await expectJson<{ id: string }>(response, 201)).id;
    },
    async viewer(node, streamId, identifier = crypto.randomUUID()) {
      const body = JSON.stringify({ stream_id: streamId, unique_user_identifier: identifier });
      const headers = { 'Content-Type': 'application/json' };
      const send = () => fetch(`${url(node)}/api/v1/token`, { method: 'POST', headers, body });
      const response = await served(send);
      const { token } = await expectJson<{ token: string }>(response, 200);
      return viewerWith(url(node), streamId, token);
    },
    onNode: ({ streamId, token }, node) => viewerWith(url(node), streamId, token),
    async draft(node, streamId, fields = {}) {
      const quiz = { ...QUIZ, duration: 1_000, ...fields };
      const path = `/streams/${streamId}/quizzes`;
      const response = await served(() => calls.studio(node, 'POST', path, quiz));
      return (await expectJson<{ id: string }>(response, 201)).id;
    },
    async publish(node, quizId) {
      return expectJson(await calls.studio(node, 'POST', `/quizzes/${quizId}/publish`), 200);
    },
    async interval(node) {
      const { interval } = await expectJson<{ interval: number }>(
        await fetch(`${url(node)}/api/v1/time`),
        200,
      );
      return interval;
    },
  };
  return calls;
}

/** The body of an interval, from the viewer's node; waits until the interval is sealed. */
export async function bodyOf(viewer: TestViewer, interval: number): Promise<string> {
  const path = `/api/v1/events-streams/${viewer.streamId}?interval=${interval}`;
  const response = await viewer.get(path);
  const body = await response.text();
  if (response.status !== 200) throw new Error(`interval ${interval}: ${response.status} ${body}`);
  return body;
}

/** Reads the feed from an interval on. @returns the first event of this type */
export async function nextEvent<Data>(
  viewer: TestViewer,
  from: number,
  type: string,
): Promise<ReadEvent & { data: Data }> {
  for (let interval = from; ; interval++) {
    const { events } = JSON.parse(await bodyOf(viewer, interval));
    const data = events.find((event: { type: string }) => event.type === type)?.data;
    if (data !== undefined) return { interval, type, data };
  }
}

/** The view count that the viewer's node returns. */
export async function countOf(viewer: TestViewer): Promise<number> {
  const response = await viewer.get(`/api/v1/view-counts/${viewer.streamId}`);
  return (await expectJson<{ value: number }>(response, 200)).value;
}

/** Sends a heartbeat. @throws Error unless it is acknowledged */
export async function heartbeat(viewer: TestViewer): Promise<void> {
  const response = await viewer.post(`/api/v1/view-counts/${viewer.streamId}`);
  if (response.status !== 204) throw new Error(`${response.status} ${await response.text()}`);
}

/** Sends an answer. @returns the status */
export async function answerOf(
  viewer: TestViewer,
  quiz: Pick<PublishedQuiz, 'id' | 'closeInterval'>,
  choice: string = QUIZ.answer,
): Promise<number> {
  const { streamId } = viewer;
  const body = { streamId, choice, closeInterval: quiz.closeInterval };
  const response = await viewer.post(`/api/v1/quizzes/${quiz.id}/answer`, body);
  await response.arrayBuffer();
  return response.status;
}
