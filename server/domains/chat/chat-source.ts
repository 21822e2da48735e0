import type { ChatElement, ChatKind } from '../../../protocol/feed.ts';
import type {
  SharedTransientSource,
  TransientSource,
} from '../../realtime/feed/transient-source.ts';

/** A message as it arrived. */
export interface PostedMessage {
  readonly kind: ChatKind;
  readonly element: ChatElement;
  /** The client that posted it, by `clientKey`. */
  readonly client: string;
}

/** Takes the chat posts of viewers for the interval being filled. */
export interface ChatPosts {
  /**
   * Adds a message. An interval contains a fair selection of its messages (C-8).
   * @throws Unavailable
   */
  post(streamId: string, message: PostedMessage): void;

  /** Adds hearts; each one counts (C-9). @throws Unavailable */
  hearts(streamId: string, count: number): void;
}

/**
 * Chat posts of the streams from one sealing to the next. They are transient: a crash may lose posts
 * that are not sealed (C-11). The memory for a stream is bounded, however much is posted.
 */
export interface ChatSource extends ChatPosts, TransientSource {}

/** The chat posts of one node among several, until another node or Redis has them. */
export interface SharedChatSource extends ChatPosts, SharedTransientSource {}
