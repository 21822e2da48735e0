import type { FourbeatError } from './errors.ts';
import type {
  ChatKind,
  ChatLine,
  EventData,
  EventsInterval,
  Picture,
  Quiz,
  QuizResults,
  SeenStream,
  StreamEvent,
  ViewCount,
} from './types.ts';

/**
 * What is going on.
 *
 * - `joining`: no interval has come yet.
 * - `live`: all that has happened is here.
 * - `catching-up`: after a sleep or an outage, what was missed is on its way.
 * - `offline`: the service cannot be reached, or does not want us; it is tried again. See `trouble`.
 * - `ended`: the show is over, or the viewer has left.
 */
export type ViewerState = 'joining' | 'live' | 'catching-up' | 'offline' | 'ended';

/** What became of an answer. */
export type AnswerOutcome =
  /** It counts, once. */
  | 'counted'
  /** The service has another answer of this viewer, from elsewhere. */
  | 'other-answer'
  /** It does not count: the service had not taken it when answers stopped. */
  | 'too-late'
  /** No answer of the service came until after the close: nobody here knows whether it counts. */
  | 'unknown';

/** The quiz on screen, and what this viewer did with it. */
export interface ViewerQuiz {
  readonly quiz: Quiz;
  /** What the viewer chose; null: nothing yet. It cannot be changed. */
  readonly choice: string | null;
  /** null while it is on its way, or there is none. */
  readonly outcome: AnswerOutcome | null;
  /** Once they are on screen. */
  readonly results: QuizResults | null;
}

/** Where the winners of the show are. */
export interface Winners {
  /**
   * Whether this viewer answered everything of the game correctly, by the results so far; null: it
   * cannot be known here, as by somebody who came in the middle. A game ends with `quiz-winners`.
   */
  readonly isWinning: boolean | null;
  /** Whether the service counts this viewer among the winners of the last round. */
  readonly hasWon: boolean;
  /** How many have won the last round; null before there was one. */
  readonly count: number | null;
}

/** What is on screen now. A new object whenever something changed, and the same until then. */
export interface Snapshot {
  readonly state: ViewerState;
  /** Why it is `offline`; null when it is not. */
  readonly trouble: FourbeatError | null;
  /** null: not read yet. */
  readonly stream: SeenStream | null;
  /** null: not told yet. */
  readonly count: ViewCount | null;
  /** The newest that is open, else what was told last; results are here for 10 s. */
  readonly quiz: ViewerQuiz | null;
  readonly winners: Winners;
  /** The newest lines of all kinds, oldest first, at most 100. */
  readonly lines: readonly (ChatLine & { readonly kind: ChatKind | 'purchase' })[];
  /** Since the viewer joined. */
  readonly hearts: number;
  readonly discounts: number;
}

/** Besides the events of the feed, by type. */
export interface ViewerEvents {
  /** Something in the snapshot changed. */
  readonly change: Snapshot;
  /** An interval is on screen; its events are told one by one after this. */
  readonly interval: EventsInterval;
  /** Every event on screen, of whatever type. */
  readonly event: StreamEvent & { readonly interval: number };
  /** The picture went elsewhere: what was on screen has not happened there. */
  readonly jump: { readonly interval: number };
  /** Too much was missed: these intervals are passed over. */
  readonly gap: { readonly from: number; readonly to: number };
}

/** Somebody who watches a stream. */
export interface Viewer {
  readonly streamId: string;
  readonly state: ViewerState;
  readonly count: ViewCount | null;
  readonly quiz: ViewerQuiz | null;
  readonly snapshot: Snapshot;
  /** Shown beside what the viewer writes from now on; empty: nothing. At first the one of `join`. */
  name: string;
  /** The service's clock, as well as it is known. */
  readonly clock: {
    /** Unix ms. Before the first sample it is the machine’s own; after it, it never goes back. */
    nowMs(): number;
    /** How far off it is at most, ms; infinite before the first sample. */
    readonly errorMs: number;
  };
  /** Calls the listener for each event of this type. @returns what ends it */
  on<T extends keyof (EventData & ViewerEvents)>(
    type: T,
    listener: (data: (EventData & ViewerEvents)[T]) => void,
  ): () => void;
  /** For types of the producer's own; what has a name from above is told as `event` alone. */
  on(type: `x-${string}` | (string & {}), listener: (data: unknown) => void): () => void;
  /**
   * How long the viewer has to answer the quiz on screen, ms; 0 when there is none, or it is over.
   * It runs with the picture, and ends before answers stop.
   */
  remainingMs(): number;
  /**
   * Answers the quiz on screen. The first choice stands, and is tried until it is known what became
   * of it, or for 3 s after answers stop.
   * @throws Trouble `refused` when there is no open quiz, no such choice, or another one before;
   * `left` when the viewer leaves meanwhile; or why the service refuses it, and then one may choose
   * again
   */
  answer(choice: string): Promise<AnswerOutcome>;
  /** Writes a line. @throws Trouble when the service does not take it */
  say(kind: ChatKind, text: string): Promise<void>;
  /** Sends a heart; many at once are sent together. */
  heart(): void;
  /** What happens is held until it is on this picture; null: it is shown as it comes. */
  follow(picture: Picture | null): void;
  /** Stops everything. */
  leave(): void;
}
