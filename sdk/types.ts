import type { Environment } from './environment.ts';

/** Number of viewers. */
export interface ViewCount {
  readonly value: number;
  /** Short form for display: `999`, `1.2K`, `3.4M`. */
  readonly formatted: string;
}

/** A chat message. */
export interface ChatMessage {
  readonly id: string;
  /** The sender's opaque id. */
  readonly viewer: string;
  readonly name: string;
  readonly text: string;
  /** Unix ms, by the service's clock. */
  readonly at: number;
}

/** Chat activity of an interval. */
export interface Chats {
  readonly messages: readonly ChatMessage[];
  readonly questions: readonly ChatMessage[];
  readonly greetings: readonly ChatMessage[];
  readonly cheers: readonly ChatMessage[];
  readonly purchases: readonly ChatMessage[];
  readonly hearts: number;
  readonly discounts: number;
}

/** Kinds of messages that viewers may write. */
export type ChatKind = 'message' | 'question' | 'greeting' | 'cheer';

/** Answers for one choice of a quiz. */
export interface ChoiceCount {
  readonly count: number;
  readonly percentage: number;
}

/** A quiz, as published in the feed. */
export interface Quiz {
  readonly id: string;
  readonly streamId: string;
  /** Unix ms, by the service's clock. */
  readonly created: number;
  /** Time to answer, ms. */
  readonly duration: number;
  /** Answers are accepted before this interval. */
  readonly closeInterval: number;
  readonly question: string;
  /** Counts by the text of the choice; all 0 until the results. */
  readonly choices: Readonly<Record<string, ChoiceCount>>;
  /** Texts of the choices in the producer's order, which the keys of `choices` may not keep. */
  readonly order: readonly string[];
}

/** A closed quiz with its results. */
export interface QuizResults extends Quiz {
  /** The correct choice. */
  readonly answer: string;
}

/** Restrictions on writing to the chat. */
export interface ChatMode {
  /** Minimum time between two messages of a viewer, ms; 0: no limit. */
  readonly slowModeMs: number;
  /** Whether viewers cannot write. */
  readonly paused: boolean;
}

/** A message that is pinned above the chat. */
export interface PinnedMessage extends ChatMessage {
  readonly kind: ChatKind | 'purchase';
}

/** Data of the service's events by type. Apps add the producer's own types by declaration merging. */
export interface EventData {
  readonly 'view-count': ViewCount;
  readonly chats: Chats;
  readonly quiz: Quiz;
  readonly 'quiz-results': QuizResults;
  readonly 'request-quiz-winners': null;
  readonly 'quiz-winners': { readonly count: number };
  readonly 'chat-mode': ChatMode;
  /** Messages to remove. */
  readonly 'chat-hidden': { readonly ids: readonly string[] };
  /** The message to pin above the chat; null: none. */
  readonly 'chat-pinned': { readonly line: PinnedMessage | null };
  /** The winners of a round are asked for contact details. */
  readonly 'winner-contact': { readonly roundId: string };
  /** The product that viewers see from now on; null: none. */
  readonly product: Product | null;
}

/** An event of the feed. */
export interface StreamEvent {
  readonly type: string;
  readonly data: unknown;
}

/** The events of 250 ms. */
export interface EventsInterval {
  readonly interval: number;
  readonly events: readonly StreamEvent[];
}

/** A stream, as anyone may read it. */
export interface Stream {
  readonly id: string;
  readonly producer: string;
  readonly dash_url: string;
  readonly hls_url: string;
  readonly status: 'CREATED' | 'STREAMING' | 'ENDED';
}

/** A stream, as its viewers read it. */
export interface ViewerStream extends Stream {
  /** Present after joining and after a gap only. */
  readonly chat?: ChatState;
  /** The code under which the producer lists this viewer when it wins; present when `chat` is. */
  readonly winner_code?: string;
  /** The product that viewers see; present when `chat` is. */
  readonly product?: Product | null;
}

/** Something that the producer sells. */
export interface Product {
  readonly id: string;
  readonly name: string;
  readonly picture_url: string | null;
  /** In minor units of the currency: 1250 with EUR are 12.50 euros. */
  readonly price: number;
  /** ISO 4217. */
  readonly currency: string;
  /** Where viewers buy it. */
  readonly url: string;
  /** Pieces left: 0 is sold out; null: not counted. */
  readonly stock: number | null;
}

/** State of a stream's chat, in place of chat events that were missed. */
export interface ChatState {
  readonly slow_mode_ms: number;
  readonly paused: boolean;
  readonly pinned: PinnedMessage | null;
  /** Ids of the messages that were hidden last, newest first. */
  readonly hidden: readonly string[];
  /** The newest messages of all kinds, oldest first, at most 50; without hidden ones. */
  readonly recent: readonly PinnedMessage[];
}

/** The picture of a video player, created by `@fourbeat/viewer/pictures`. */
export interface Picture {
  /** Wall-clock time of the frame on screen, Unix ms; null while there is none. */
  wallClockMs(): number | null;
  /** Part of the picture so that apps without one do not load the buffer. */
  readonly createBuffer: CreateEventBuffer;
}

/**
 * Creates a buffer that delays intervals until their frame is on screen.
 * @param source reads intervals that did not arrive in the feed
 * @param shown the newest intervals that were shown before, in order
 */
export type CreateEventBuffer = (
  env: Environment,
  source: { interval(interval: number): Promise<EventsInterval> },
  listener: PlaybackListener,
  shown: readonly EventsInterval[],
) => EventBuffer;

/** Receives intervals as playback reaches them. */
export interface PlaybackListener {
  /** Called for each interval on screen. Must not throw. */
  onInterval(interval: EventsInterval): void;
  /** Playback jumped to this interval: what was on screen has not happened there. */
  onJump(interval: number): void;
}

/** Delays intervals of the feed until playback reaches them. */
export interface EventBuffer {
  /** Adds an interval of the feed, in order. */
  push(interval: EventsInterval): void;
  /** The feed is over: from now on missing intervals are requested. */
  replay(): void;
  /**
   * Follows this picture; null: shows intervals as they arrive. A picture without a wall clock for
   * 5 s counts as none until it has one again.
   */
  follow(picture: Pick<Picture, 'wallClockMs'> | null): void;
  /** Stops all timers and discards all intervals. */
  stop(): void;
}
