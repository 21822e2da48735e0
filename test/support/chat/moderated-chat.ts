import { decodeJwt } from 'jose';
import { INTERVAL_MS } from '../../../protocol/interval.ts';
import type { LiveState } from '../../../protocol/live.ts';
import type {
  ChatMode,
  QueuedQuestion,
  RestrictedViewer,
  StoredChatMessage,
  ViewerChat,
} from '../../../protocol/moderation.ts';
import { EventReader } from '../conformance/event-source.ts';
import { eventsFrom } from '../conformance/feed-viewer.ts';
import { expectJson, type Harness, type TestViewer } from '../harness/harness.ts';

/** Advances the clock by `ms` and seals, so that later requests belong to a new interval. */
export async function passMs(service: Harness, ms: number): Promise<void> {
  service.pass(ms - INTERVAL_MS);
  await service.advance(1);
}

/** The public id of a viewer: the `viewer` of chat messages. */
export const viewerIdOf = ({ token }: TestViewer) => decodeJwt(token).sub as string;

/** Posts to the chat of the viewer's stream. */
export const postChat = (viewer: TestViewer, body: object = {}) =>
  viewer.post(`/api/v1/events-streams/${viewer.streamId}/chats`, {
    kind: 'message',
    text: 'Good evening!',
    ...body,
  });
export const sendHearts = (viewer: TestViewer) =>
  viewer.post(`/api/v1/events-streams/${viewer.streamId}/chats`, { kind: 'heart' });

/** Posts a message and seals it. @returns the message as viewers receive it */
export async function sendMessage(
  service: Harness,
  viewer: TestViewer,
  body: object = {},
): Promise<StoredChatMessage> {
  const { status } = await postChat(viewer, body);
  if (status !== 204) throw new Error(`posting a message got status ${status}`);
  await service.advance(1);
  return newestMessage(service, viewer.streamId);
}

/** The last sealed message of a stream, without the fields that only the log has. */
export async function newestMessage(
  service: Harness,
  streamId: string,
): Promise<StoredChatMessage> {
  const response = await service.studio('GET', `/streams/${streamId}/chat?limit=1`);
  const { results } = await expectJson<{
    results: (StoredChatMessage & Record<string, unknown>)[];
  }>(response, 200);
  const [newest] = results;
  if (!newest) throw new Error('the chat log is empty');
  const { interval: _, hidden: __, ...message } = newest;
  return message;
}

const CHAT_EVENT_TYPES = ['chat-mode', 'chat-hidden', 'chat-pinned'];

/** A stream with a viewer, and requests that moderate its chat. */
export class ModeratedChat {
  private constructor(
    private readonly service: Harness,
    readonly viewer: TestViewer,
  ) {}

  static async open(service: Harness): Promise<ModeratedChat> {
    return new ModeratedChat(service, await service.viewer(await service.createStream(), 'ada'));
  }

  get mutePath(): string {
    return `/chat/muted/${viewerIdOf(this.viewer)}`;
  }
  get banPath(): string {
    return `/banned/${viewerIdOf(this.viewer)}`;
  }

  call(method: string, path: string, body?: object): Promise<Response> {
    return this.service.studio(method, `/streams/${this.viewer.streamId}${path}`, body);
  }

  /** Sends a POST that must return 201. @returns its body */
  async create<T>(path: string, body?: object): Promise<T> {
    return expectJson<T>(await this.call('POST', path, body), 201);
  }

  async patchMode(body: object): Promise<ChatMode> {
    return expectJson(await this.call('PATCH', '/chat', body), 200);
  }

  /** Unmutes or unbans a viewer. @param path such as `mutePath` */
  async lift(path: string): Promise<void> {
    const { status } = await this.call('DELETE', path);
    if (status !== 204) throw new Error(`lifting a restriction got status ${status}`);
  }

  async listRestricted(): Promise<RestrictedViewer[]> {
    return this.list('/restricted');
  }

  async listQuestions(query = ''): Promise<QueuedQuestion[]> {
    return this.list(`/chat/questions${query}`);
  }

  /** The chat state that a viewer's page reads when it opens. */
  async readViewerChat(viewer = this.viewer): Promise<ViewerChat> {
    const response = await viewer.get(`/api/v1/streams/${viewer.streamId}/`);
    return (await expectJson<{ chat: ViewerChat }>(response, 200)).chat;
  }

  /** Runs `work` and seals. @returns the moderation events that viewers received */
  async eventsDuring(work: () => Promise<unknown>) {
    const firstInterval = this.service.interval();
    await work();
    await this.service.advance(1);
    const events = await eventsFrom(this.service, this.viewer, firstInterval);
    return events
      .filter(({ type }) => CHAT_EVENT_TYPES.includes(type))
      .map(({ type, data }) => ({ type, data }));
  }

  async liveState(): Promise<LiveState> {
    const reader = new EventReader(await this.call('GET', '/live'));
    const state = await reader.nextState<LiveState>(() => true);
    await reader.close();
    return state;
  }

  private async list<T>(path: string): Promise<T[]> {
    return (await expectJson<{ results: T[] }>(await this.call('GET', path), 200)).results;
  }
}
