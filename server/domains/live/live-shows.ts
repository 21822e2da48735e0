import { ConcurrencyLimiter } from '../../platform/concurrency-limiter.ts';
import { DomainError, Unavailable } from '../../platform/errors.ts';
import { Pace } from '../../platform/pace.ts';
import { AnswerCount } from './answer-count.ts';
import type { AnswerPage, AnswerPageRef, LiveShow } from './live-sql.ts';

/** The state of a show at one time, for studio and presenter pages. */
export interface LiveSnapshot {
  readonly nowMs: number;
  readonly show: LiveShow;
  /** Viewers; null while presence is unavailable. */
  readonly count: number | null;
  /** The number of answers to the quiz of `show` by choice, some seconds old if there are many; null unless it is open. */
  readonly answerCounts: readonly number[] | null;
}

export interface LiveShowsOptions {
  readonly nowMs: () => number;
  /** @throws Unavailable while the database is unavailable */
  readonly read: (id: string, producer: string, nowMs: number) => Promise<LiveShow>;
  /** @throws Unavailable while the database is unavailable */
  readonly countAnswers: (page: AnswerPageRef) => Promise<AnswerPage>;
  /** @throws Unavailable while the realtime backend is unavailable */
  readonly count: (id: string) => number | Promise<number>;
  /** Calls `tick` periodically. @returns a function that stops it */
  readonly startPolling: (tick: () => void) => () => void;
  /** Called when reading a show fails for another reason than an unavailable backend. */
  readonly onError: (error: unknown) => void;
}

/** Most shows that are read at once: a show whose round has 1,000 winners takes 0.6 ms of SQLite, twice a second. */
const READS_MAX = 4;
const READS_QUEUED_MAX = 10_000;
/** Counting answers leaves three quarters of the time of SQLite's only reader to others. */
const COUNT_PAUSES = 3;

interface Listener {
  readonly onSnapshot: (snapshot: LiveSnapshot) => void;
  readonly onRemoved: () => void;
}

interface WatchedShow {
  readonly listeners: Set<Listener>;
  readonly end: () => void;
  readonly answerCount: AnswerCount;
  isReading: boolean;
  /** The result of the last read; null before it, and when it failed. */
  last: LiveSnapshot | null;
}

/**
 * Polls the shows that are open on this node, each once for all its listeners. While a show cannot be
 * read, listeners get nothing: a page takes silence as a lost connection.
 */
export class LiveShows {
  readonly #watched = new Map<string, WatchedShow>();
  /** Accounts take turns. */
  readonly #reads = new ConcurrencyLimiter(
    READS_MAX,
    READS_QUEUED_MAX,
    'Too many shows are open on this node.',
  );
  /** Pages of answers, one at a time. Accounts take turns. */
  readonly #answerPages = new ConcurrencyLimiter(
    1,
    READS_QUEUED_MAX,
    'Too many quizzes are open on this node.',
  );
  readonly #answerPace = new Pace(COUNT_PAUSES);

  constructor(private readonly options: LiveShowsOptions) {}

  get size(): number {
    return this.#watched.size;
  }

  /**
   * Sends the state of a show at once, then periodically. The first one is that of the last read, if there
   * is one: else each new listener would make states for all others.
   * @param onRemoved called when the show no longer exists, as after the removal of a rehearsal
   * @returns a function that removes these listeners
   */
  watch(
    id: string,
    producer: string,
    onSnapshot: Listener['onSnapshot'],
    onRemoved: Listener['onRemoved'] = () => {},
  ): () => void {
    const listener = { onSnapshot, onRemoved };
    const watched = this.#watched.get(id) ?? this.#startPolling(id, producer);
    watched.listeners.add(listener);
    if (watched.last === null) void this.#refresh(id, producer, watched);
    else sendLast(watched, listener).catch(this.options.onError);
    return () => {
      watched.listeners.delete(listener);
      if (watched.listeners.size > 0 || this.#watched.get(id) !== watched) return;
      watched.end();
      watched.answerCount.stop();
      this.#watched.delete(id);
    };
  }

  #startPolling(id: string, producer: string): WatchedShow {
    const watched: WatchedShow = {
      listeners: new Set(),
      end: this.options.startPolling(() => void this.#refresh(id, producer, watched)),
      answerCount: new AnswerCount((page) => this.#countAnswers(producer, page)),
      isReading: false,
      last: null,
    };
    this.#watched.set(id, watched);
    return watched;
  }

  async #refresh(id: string, producer: string, watched: WatchedShow): Promise<void> {
    // Skip this tick while the previous read is still running.
    if (watched.isReading) return;
    watched.isReading = true;
    try {
      const snapshot = await this.#read(id, producer, watched.answerCount);
      watched.last = snapshot;
      for (const { onSnapshot } of watched.listeners) onSnapshot(snapshot);
    } catch (error) {
      watched.last = null;
      if (error instanceof DomainError) for (const { onRemoved } of watched.listeners) onRemoved();
      else if (!(error instanceof Unavailable)) this.options.onError(error);
    } finally {
      watched.isReading = false;
    }
  }

  async #read(id: string, producer: string, answerCount: AnswerCount): Promise<LiveSnapshot> {
    const readShow = async () => {
      const nowMs = this.options.nowMs();
      return { nowMs, show: await this.options.read(id, producer, nowMs) };
    };
    const [read, count] = await Promise.all([this.#reads.run(producer, readShow), this.#count(id)]);
    const { quiz, firstAnswers } = read.show;
    const answerCounts =
      quiz && firstAnswers
        ? await answerCount.count(
            { number: quiz.number, choices: quiz.choices.length },
            firstAnswers,
          )
        : null;
    return { ...read, count, answerCounts };
  }

  #countAnswers(producer: string, page: AnswerPageRef): Promise<AnswerPage> {
    const count = () => this.#answerPace.step(() => this.options.countAnswers(page));
    return this.#answerPages.run(producer, count);
  }

  async #count(id: string): Promise<number | null> {
    try {
      return await this.options.count(id);
    } catch (error) {
      if (error instanceof Unavailable) return null;
      throw error;
    }
  }
}

/** Sends the last snapshot to a new listener, whose caller first gets the function that removes it. */
async function sendLast(watched: WatchedShow, listener: Listener): Promise<void> {
  await Promise.resolve();
  if (watched.last && watched.listeners.has(listener)) listener.onSnapshot(watched.last);
}
