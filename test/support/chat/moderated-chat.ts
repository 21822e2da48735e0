import { decodeJwt } from 'jose';
import type { LiveState } from '../../../protocol/live.ts';
import type {
  ChatMode,
  KeptLine,
  QueuedQuestion,
  RestrictedViewer,
  ViewersChat,
} from '../../../protocol/moderation.ts';
import { EventReader } from '../conformance/event-source.ts';
import { expectJson, type Harness, type TestViewer } from '../harness/harness.ts';

/** The id by which a viewer is known in lines of the chat. */
export const idOf = ({ token }: TestViewer) => decodeJwt(token).sub as string;

/** Posts to the chat of the viewer's stream. */
export const post = (viewer: TestViewer, body: object = {}) =>
  viewer.post(`/api/v1/events-streams/${viewer.streamId}/chats`, {
    kind: 'message',
    text: 'Good evening!',
    ...body,
  });
export const sendHearts = (viewer: TestViewer) =>
  viewer.post(`/api/v1/events-streams/${viewer.streamId}/chats`, { kind: 'heart' });

/** A line that a viewer wrote, as viewers were sent it. */
export async function sentLine(
  service: Harness,
  viewer: TestViewer,
  body: object = {},
): Promise<KeptLine> {
  const { status } = await post(viewer, body);
  if (status !== 204) throw new Error(`a post was answered with ${status}`);
  await service.advance(1);
  return newestLine(service, viewer.streamId);
}

/** The line that viewers of a stream were sent last. */
export async function newestLine(service: Harness, streamId: string): Promise<KeptLine> {
  const log = await service.studio('GET', `/streams/${streamId}/chat?limit=1`);
  const { results } = await expectJson<{ results: (KeptLine & Record<string, unknown>)[] }>(
    log,
    200,
  );
  const [newest] = results;
  if (!newest) throw new Error('no line was sent');
  const { interval: _, hidden: __, ...line } = newest;
  return line;
}

const TOLD = ['chat-mode', 'chat-hidden', 'chat-pinned'];

/** A stream with a viewer, and what those who run it do with its chat. */
export class ModeratedChat {
  private constructor(
    private readonly service: Harness,
    readonly viewer: TestViewer,
  ) {}

  static async open(service: Harness): Promise<ModeratedChat> {
    return new ModeratedChat(service, await service.viewer(await service.createStream(), 'ada'));
  }

  /** The path of a restriction of the viewer. */
  get muted(): string {
    return `/chat/muted/${idOf(this.viewer)}`;
  }
  get banned(): string {
    return `/banned/${idOf(this.viewer)}`;
  }

  call(method: string, path: string, body?: object): Promise<Response> {
    return this.service.studio(method, `/streams/${this.viewer.streamId}${path}`, body);
  }

  async made<T>(path: string, body?: object): Promise<T> {
    return expectJson<T>(await this.call('POST', path, body), 201);
  }

  async mode(body: object): Promise<ChatMode> {
    return expectJson(await this.call('PATCH', '/chat', body), 200);
  }

  async lift(path: string): Promise<void> {
    const { status } = await this.call('DELETE', path);
    if (status !== 204) throw new Error(`a restriction was lifted with ${status}`);
  }

  async restricted(): Promise<RestrictedViewer[]> {
    return this.listed('/restricted');
  }

  async questions(query = ''): Promise<QueuedQuestion[]> {
    return this.listed(`/chat/questions${query}`);
  }

  /** What the viewer's page reads when it is opened. */
  async asLateViewer(viewer = this.viewer): Promise<ViewersChat> {
    const response = await viewer.get(`/api/v1/streams/${viewer.streamId}/`);
    return (await expectJson<{ chat: ViewersChat }>(response, 200)).chat;
  }

  /** What viewers are told of the chat while something is done. */
  async told(work: () => Promise<unknown>) {
    const from = this.service.interval();
    await work();
    await this.service.advance(1);
    const events = [];
    for (let interval = from; interval < this.service.interval(); interval++) {
      events.push(...(await this.service.events(this.viewer, interval)));
    }
    return events.filter(({ type }) => TOLD.includes(type));
  }

  async liveState(): Promise<LiveState> {
    const reader = new EventReader(await this.call('GET', '/live'));
    for (;;) {
      const message = await reader.next(3_000);
      if (!message) throw new Error('no state came');
      const isState = message.fields.some(([name, value]) => name === 'event' && value === 'state');
      if (!isState) continue;
      await reader.close();
      return JSON.parse(message.data);
    }
  }

  private async listed<T>(path: string): Promise<T[]> {
    return (await expectJson<{ results: T[] }>(await this.call('GET', path), 200)).results;
  }
}
