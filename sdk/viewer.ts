import type { FourbeatError } from './errors.ts';
import type {
  ChatKind,
  ChatMessage,
  EventData,
  EventsInterval,
  Picture,
  Quiz,
  QuizResults,
  StreamEvent,
  ViewCount,
  ViewerStream,
} from './types.ts';

/**
 * State of a viewer.
 *
 * - `joining`: no interval of the feed has arrived yet.
 * - `live`: the feed is up to date.
 * - `catching-up`: the viewer is reading intervals that it missed during a sleep or an outage.
 * - `offline`: the service cannot be reached, or rejects the viewer. The SDK retries; see
 *   `Snapshot.error`.
 * - `ended`: the show is over, or the viewer has left. Final.
 */
export type ViewerState = 'joining' | 'live' | 'catching-up' | 'offline' | 'ended';

/** Final result of an answer. */
export type AnswerOutcome =
  /** The service counts it, once. */
  | 'counted'
  /** The service already has a different answer of this viewer, for example from another tab. */
  | 'other-answer'
  /** Not counted: it did not reach the service before the quiz closed. */
  | 'too-late'
  /** The service did not respond until after the close, so the SDK cannot tell whether it counts. */
  | 'unknown';

/** The quiz on screen, with this viewer's answer. */
export interface ViewerQuiz {
  readonly quiz: Quiz;
  /** The viewer's choice, which is final; null: not answered. */
  readonly choice: string | null;
  /** Null while the answer is being sent, or when there is none. */
  readonly outcome: AnswerOutcome | null;
  /** Null until they are on screen. */
  readonly results: QuizResults | null;
}

/** The viewer's standing in the game, and the winners of its last round. */
export interface Winners {
  /**
   * Whether this viewer answered every quiz of the game correctly, by the results so far; null: not
   * known, for example after joining in the middle of a game. A game ends with `quiz-winners`.
   */
  readonly isWinning: boolean | null;
  /** Whether the service counts this viewer among the winners of the last round. */
  readonly hasWon: boolean;
  /** Number of winners of the last round; null before the first one. */
  readonly count: number | null;
}

/** What is on screen now. Immutable: every change makes a new object. */
export interface Snapshot {
  readonly state: ViewerState;
  /** Why `state` is `offline`; null in every other state. */
  readonly error: FourbeatError | null;
  /** Null until it is read for the first time. */
  readonly stream: ViewerStream | null;
  /** Null until the first `view-count` event. */
  readonly count: ViewCount | null;
  /** The newest open quiz, else the newest one; results stay for 10 s. */
  readonly quiz: ViewerQuiz | null;
  readonly winners: Winners;
  /** The newest messages of all kinds, oldest first, at most 100. */
  readonly messages: readonly (ChatMessage & { readonly kind: ChatKind | 'purchase' })[];
  /** Number of hearts since the viewer joined. */
  readonly hearts: number;
  /** Number of discounts since the viewer joined. */
  readonly discounts: number;
}

/** Events of the SDK itself, besides those of the feed (`EventData`). */
export interface ViewerEvents {
  /** The snapshot changed. */
  readonly change: Snapshot;
  /** An interval is on screen. Its events follow one by one. */
  readonly interval: EventsInterval;
  /** An event of any type is on screen. */
  readonly event: StreamEvent & { readonly interval: number };
  /** Playback jumped to another position: what was on screen has not happened there. */
  readonly jump: { readonly interval: number };
  /** Too much was missed: the feed skips these intervals, both included. */
  readonly gap: { readonly from: number; readonly to: number };
}

/** A viewer who watches a stream. */
export interface Viewer {
  readonly streamId: string;
  readonly state: ViewerState;
  readonly count: ViewCount | null;
  readonly quiz: ViewerQuiz | null;
  readonly snapshot: Snapshot;
  /** Shown beside the viewer's messages from now on; empty: no name. Initially `JoinOptions.name`. */
  name: string;
  /** Estimate of the service's clock. */
  readonly clock: {
    /** Unix ms. Before the first sample it is the machine's own clock; afterwards it never goes back. */
    nowMs(): number;
    /** Maximum error of `nowMs`, ms; infinite before the first sample. */
    readonly errorMs: number;
  };
  /** Calls the listener for each event of this type. @returns a function that removes the listener */
  on<T extends keyof (EventData & ViewerEvents)>(
    type: T,
    listener: (data: (EventData & ViewerEvents)[T]) => void,
  ): () => void;
  /**
   * For event types of the producer. An event that has the name of one of `ViewerEvents` is emitted
   * as `event` only.
   */
  on(type: `x-${string}` | (string & {}), listener: (data: unknown) => void): () => void;
  /**
   * Time left to answer the quiz on screen, ms; 0 when there is none, or it is over. It follows
   * playback, and ends slightly before the service stops taking answers.
   */
  remainingMs(): number;
  /**
   * Answers the quiz on screen. The first choice is final. The SDK resends it until the result is
   * known, or for 3 s after the quiz closes.
   * @throws FourbeatError `refused` when no quiz is open, it has no such choice, or another choice was
   * made before; `left` when the viewer leaves; or the service's rejection, after which the viewer may
   * choose again
   */
  answer(choice: string): Promise<AnswerOutcome>;
  /** Writes to the chat. @throws FourbeatError when the service does not accept the message */
  sendMessage(kind: ChatKind, text: string): Promise<void>;
  /** Sends a heart. Hearts are sent in batches, at most once a second. */
  sendHeart(): void;
  /** Delays events until their frame is on this picture; null: shows events as they happen. */
  follow(picture: Picture | null): void;
  /** Stops all timers and requests. Final. */
  leave(): void;
}
