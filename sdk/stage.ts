import { withLines } from './chat.ts';
import type { FourbeatError } from './errors.ts';
import type { Listeners } from './listeners.ts';
import type { QuizGame } from './quiz-game.ts';
import { type Happening, stateAfter } from './states.ts';
import type { Chats, EventsInterval, ScreenListener, SeenStream, ViewCount } from './types.ts';
import type { Snapshot } from './viewer.ts';

/** What is told besides the events of the feed. */
const OWN = ['change', 'interval', 'event', 'jump', 'gap'];

/** What is on screen, and tells who listens. */
export class Stage implements ScreenListener {
  snapshot: Snapshot;
  /** The one on screen; 0 before there is one. */
  #interval = 0;
  /** Where the picture jumped to last. */
  #from = 0;
  /** It was told while nobody was here, and is yet to be told here. */
  #missed: EventsInterval | null = null;
  readonly #game: Pick<QuizGame, 'learn' | 'quizAt' | 'winnersAt'>;
  readonly #listeners: Pick<Listeners, 'tell'>;

  constructor(
    game: Pick<QuizGame, 'learn' | 'quizAt' | 'winnersAt'>,
    listeners: Pick<Listeners, 'tell'>,
  ) {
    this.#game = game;
    this.#listeners = listeners;
    this.snapshot = {
      state: 'joining',
      trouble: null,
      stream: null,
      count: null,
      quiz: null,
      winners: game.winnersAt(0),
      lines: [],
      hearts: 0,
      discounts: 0,
    };
  }

  /** An interval comes on screen. */
  onInterval(interval: EventsInterval): void {
    this.#interval = interval.interval;
    this.#game.learn(interval);
    let { count, lines, hearts, discounts } = this.snapshot;
    for (const { type, data } of interval.events) {
      if (type === 'view-count') count = kept(count, data as ViewCount);
      if (type !== 'chats') continue;
      const chats = data as Chats;
      lines = withLines(lines, chats);
      hearts += chats.hearts;
      discounts += chats.discounts;
    }
    const isNews = this.#take({ count, lines, hearts, discounts });
    this.#listeners.tell('interval', interval);
    const missed = this.#missed;
    if (missed && missed.interval <= this.#interval) {
      this.#missed = null;
      // A picture that is at it tells it as all the rest.
      if (missed.interval < this.#interval) this.#tellEvents(missed);
    }
    this.#tellEvents(interval);
    if (isNews) this.#tellChange();
  }

  /** An interval is here that told a quiz while nobody was: it is on screen from there on. */
  recall({ interval, events }: EventsInterval): void {
    this.#missed = { interval, events: events.filter(({ type }) => type === 'quiz') };
    this.#game.learn(this.#missed, true);
    this.change();
  }

  /** The picture is elsewhere. */
  onJump(interval: number): void {
    this.#interval = interval;
    this.#from = interval;
    const isNews = this.#take({ lines: [] });
    this.#listeners.tell('jump', { interval });
    if (isNews) this.#tellChange();
  }

  happen(happening: Happening, trouble: FourbeatError | null): void {
    this.change({ state: stateAfter(this.snapshot.state, happening), trouble });
  }

  see(stream: SeenStream): void {
    this.change({ stream: kept(this.snapshot.stream, stream) });
  }

  /** @param news what is new besides the game */
  change(news: Partial<Snapshot> = {}): void {
    if (this.#take(news)) this.#tellChange();
  }

  #tellEvents({ interval, events }: EventsInterval): void {
    for (const { type, data } of events) {
      this.#listeners.tell('event', { type, data, interval });
      // A producer's own type may have the name of another thing that is told.
      if (!OWN.includes(type)) this.#listeners.tell(type, data);
    }
  }

  #tellChange(): void {
    this.#listeners.tell('change', this.snapshot);
  }

  /** @returns whether anything is new */
  #take(news: Partial<Snapshot>): boolean {
    const before = this.snapshot;
    const quiz = this.#game.quizAt(this.#interval, this.#from);
    this.snapshot = kept(before, {
      ...before,
      ...news,
      quiz: quiz && kept(before.quiz, quiz),
      winners: kept(before.winners, this.#game.winnersAt(this.#interval)),
    });
    return this.snapshot !== before;
  }
}

/** @returns the old one when nothing in it is new */
function kept<T extends object>(old: T | null, now: T): T {
  const isSame = old && Object.entries(now).every(([key, value]) => old[key as keyof T] === value);
  return isSame ? old : now;
}
