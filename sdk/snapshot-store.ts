import { intervalStartMs } from '../protocol/interval.ts';
import { mergeMessages, messagesOf } from './chat.ts';
import type { FourbeatError } from './errors.ts';
import type { Listeners } from './listeners.ts';
import type { QuizGame } from './quiz-game.ts';
import type { Chats, EventsInterval, PlaybackListener, ViewCount, ViewerStream } from './types.ts';
import type { Snapshot, ViewerState } from './viewer.ts';

/** Event types of the SDK, see `ViewerEvents`. */
const RESERVED_TYPES = ['change', 'interval', 'event', 'jump', 'gap'];

/** Holds the snapshot of what is on screen, and notifies the listeners. */
export class SnapshotStore implements PlaybackListener {
  snapshot: Snapshot;
  /** Interval on screen; 0: none yet. */
  #interval = 0;
  /** Target of the last jump; 0: no jump. */
  #jumpedTo = 0;
  /** A quiz that was published in a gap, until its event is emitted. */
  #missedQuiz: EventsInterval | null = null;
  readonly #game: QuizGame;
  readonly #listeners: Listeners;

  constructor(game: QuizGame, listeners: Listeners) {
    this.#game = game;
    this.#listeners = listeners;
    this.snapshot = {
      state: 'joining',
      error: null,
      stream: null,
      count: null,
      quiz: null,
      winners: game.winnersAt(0),
      messages: [],
      hearts: 0,
      discounts: 0,
    };
  }

  /** Shows an interval: updates the snapshot and emits its events. */
  onInterval(interval: EventsInterval): void {
    this.#interval = interval.interval;
    this.#game.apply(interval);
    let { count, messages, hearts, discounts } = this.snapshot;
    for (const { type, data } of interval.events) {
      if (type === 'view-count') count = reuseIfEqual(count, data as ViewCount);
      if (type !== 'chats') continue;
      const chats = data as Chats;
      messages = mergeMessages(messages, messagesOf(chats));
      hearts += chats.hearts;
      discounts += chats.discounts;
    }
    this.update({ count, messages, hearts, discounts });
    this.#listeners.emit('interval', interval);
    const missed = this.#missedQuiz;
    if (missed && missed.interval <= this.#interval) {
      this.#missedQuiz = null;
      // When playback is at the interval itself, its events follow anyway.
      if (missed.interval < this.#interval) this.#emitEvents(missed);
    }
    this.#emitEvents(interval);
  }

  /** Adds the quiz of an interval that was missed: it is on screen from that interval on. */
  addMissedQuiz({ interval, events }: EventsInterval): void {
    this.#missedQuiz = { interval, events: events.filter(({ type }) => type === 'quiz') };
    this.#game.apply(this.#missedQuiz, true);
    this.update();
  }

  /** Playback jumped to this interval. */
  onJump(interval: number): void {
    this.#interval = interval;
    this.#jumpedTo = interval;
    // Later messages have not been written there; playback brings them again.
    const messages = this.snapshot.messages.filter(({ at }) => at < intervalStartMs(interval));
    this.update({ messages });
    this.#listeners.emit('jump', { interval });
  }

  /** Sets the state, unless the show has ended: `ended` is final. */
  setState(state: ViewerState, error: FourbeatError | null): void {
    if (this.snapshot.state !== 'ended') this.update({ state, error });
  }

  setStream(stream: ViewerStream): void {
    const { stream: before, messages } = this.snapshot;
    this.update({
      stream: reuseIfEqual(before, stream),
      messages: mergeMessages(messages, stream.chat?.recent),
    });
  }

  /** Updates the snapshot with the game's state. @param changes other fields that change */
  update(changes: Partial<Snapshot> = {}): void {
    const before = this.snapshot;
    this.snapshot = reuseIfEqual(before, {
      ...before,
      ...changes,
      quiz: reuseIfEqual(before.quiz, this.#game.quizAt(this.#interval, this.#jumpedTo)),
      winners: reuseIfEqual(before.winners, this.#game.winnersAt(this.#interval)),
    });
    if (this.snapshot !== before) this.#listeners.emit('change', this.snapshot);
  }

  #emitEvents({ interval, events }: EventsInterval): void {
    for (const { type, data } of events) {
      this.#listeners.emit('event', { type, data, interval });
      // A producer's event may have the name of an event of the SDK.
      if (!RESERVED_TYPES.includes(type)) this.#listeners.emit(type, data);
    }
  }
}

/** @returns the old object when all fields are equal */
function reuseIfEqual<T extends object | null>(old: T | null, now: T): T {
  const isSame =
    old && now && Object.entries(now).every(([key, value]) => old[key as keyof object] === value);
  return isSame ? old : now;
}
