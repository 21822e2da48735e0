import type { Environment } from './environment.ts';

/** How many are watching. */
export interface ViewCount {
  readonly value: number;
  /** Short, for people: `999`, `1.2K`, `3.4M`. */
  readonly formatted: string;
}

/** One line that somebody wrote. */
export interface ChatLine {
  readonly id: string;
  /** The sender's opaque id. */
  readonly viewer: string;
  readonly name: string;
  readonly text: string;
  /** Unix ms, by the service's clock. */
  readonly at: number;
}

/** What happened in the chat in an interval. */
export interface Chats {
  readonly messages: readonly ChatLine[];
  readonly questions: readonly ChatLine[];
  readonly greetings: readonly ChatLine[];
  readonly cheers: readonly ChatLine[];
  readonly purchases: readonly ChatLine[];
  readonly hearts: number;
  readonly discounts: number;
}

/** What a viewer may write. */
export type ChatKind = 'message' | 'question' | 'greeting' | 'cheer';

export interface ChoiceCount {
  readonly count: number;
  readonly percentage: number;
}

/** A quiz as the feed tells it. */
export interface Quiz {
  readonly id: string;
  readonly streamId: string;
  /** Unix ms, by the service's clock. */
  readonly created: number;
  /** How long it is open, ms. */
  readonly duration: number;
  /** Answers are taken before this interval. */
  readonly closeInterval: number;
  readonly question: string;
  /** By the text of the choice; all 0 until the results. */
  readonly choices: Readonly<Record<string, ChoiceCount>>;
  /** The texts of the choices in the producer's order, which parsers of JSON do not keep. */
  readonly order: readonly string[];
}

/** What came of it. */
export interface QuizResults extends Quiz {
  /** The correct choice. */
  readonly answer: string;
}

/** How the chat goes. */
export interface ChatMode {
  /** A viewer writes one line in so many ms; 0: as many as they like. */
  readonly slowModeMs: number;
  /** Nobody can write. */
  readonly paused: boolean;
}

/** A line of the chat that is shown above the others. */
export interface PinnedLine extends ChatLine {
  readonly kind: ChatKind | 'purchase';
}

/** The events of the service, by type. Types of the producer's own have data of any shape. */
export interface EventData {
  readonly 'view-count': ViewCount;
  readonly chats: Chats;
  readonly quiz: Quiz;
  readonly 'quiz-results': QuizResults;
  readonly 'request-quiz-winners': null;
  readonly 'quiz-winners': { readonly count: number };
  readonly 'chat-mode': ChatMode;
  /** Lines that are shown no longer. */
  readonly 'chat-hidden': { readonly ids: readonly string[] };
  /** The line to show above the chat; null: none. */
  readonly 'chat-pinned': { readonly line: PinnedLine | null };
}

export interface StreamEvent {
  readonly type: string;
  readonly data: unknown;
}

/** What the feed holds of 250 ms. */
export interface EventsInterval {
  readonly interval: number;
  readonly events: readonly StreamEvent[];
}

/** A stream, as everybody may read it. */
export interface Stream {
  readonly id: string;
  readonly producer: string;
  readonly dash_url: string;
  readonly hls_url: string;
  readonly status: 'CREATED' | 'STREAMING' | 'ENDED';
}

/** The stream that a viewer watches. */
export interface SeenStream extends Stream {
  /** How its chat goes: told to who comes, and to who missed something; else it is not here. */
  readonly chat?: StreamChat;
}

/** How the chat of a stream goes, when its events were not heard. */
export interface StreamChat {
  readonly slow_mode_ms: number;
  readonly paused: boolean;
  readonly pinned: PinnedLine | null;
  /** Lines that were hidden last, the newest first. */
  readonly hidden: readonly string[];
}

/** What is on screen. `@fourbeat/viewer/pictures` makes it of any player. */
export interface Picture {
  /** Wall clock of the frame on screen, Unix ms; null while there is none. */
  wallClockMs(): number | null;
  /** It comes with the picture, so that only who has one loads it. */
  readonly hold: HoldEvents;
}

/**
 * Makes what holds events until they are on screen.
 * @param past where intervals come from that the feed did not bring
 * @param shown what was on screen until now, in order: the newest of it
 */
export type HoldEvents = (
  env: Environment,
  past: { interval(interval: number): Promise<EventsInterval> },
  listener: ScreenListener,
  shown: readonly EventsInterval[],
) => HeldEvents;

export interface ScreenListener {
  /** An interval is on screen. What it throws is its own to catch. */
  onInterval(interval: EventsInterval): void;
  /** The picture went elsewhere, to this interval: what was on screen has not happened there. */
  onJump(interval: number): void;
}

export interface HeldEvents {
  /** An interval of the feed; they come in order. */
  push(interval: EventsInterval): void;
  /** The feed is over: whatever it did not bring is asked for from now on. */
  replay(): void;
  /**
   * Shows what is on this picture; null: shows all as it comes. A picture that does not say where
   * it is for 5 s is none, until it does.
   */
  follow(picture: Pick<Picture, 'wallClockMs'> | null): void;
  stop(): void;
}
