import { intervalAt } from '../protocol/interval.ts';
import { type AnswerWays, sendAnswer } from './answers.ts';
import { Calls } from './calls.ts';
import { Hearts } from './chat.ts';
import { ServiceClock } from './clock.ts';
import { countdownMs } from './countdown.ts';
import { type Environment, pageStorage, realEnvironment } from './environment.ts';
import { asTrouble, FourbeatError } from './errors.ts';
import { Feed } from './feed/feed.ts';
import { Heartbeat } from './heartbeat.ts';
import { type JoinOptions, urlsOf } from './join-options.ts';
import { PersistentState } from './keeping.ts';
import { Listeners } from './listeners.ts';
import { QuizGame } from './quiz-game.ts';
import {
  BEGINNING_MS,
  CATCH_UP_MS,
  KEEP_INTERVALS,
  KEPT_INTERVALS,
  RELOAD_INTERVALS,
  REST_INTERVALS,
  SHOWN_INTERVALS,
  SILENT_MS,
} from './session-times.ts';
import { Stage } from './stage.ts';
import { StreamWatch } from './stream-watch.ts';
import { TokenKeeper } from './token.ts';
import type { ChatKind, EventsInterval, HeldEvents, Picture, Quiz, SeenStream } from './types.ts';
import type { AnswerOutcome, Viewer } from './viewer.ts';
import { CancellableTimers } from './waits.ts';
import { type ReportWays, reportWinner } from './winners.ts';

/** One viewer: puts all parts together. */
export class ViewerSession implements Viewer {
  readonly streamId: string;
  readonly clock: ServiceClock;
  name: string;
  #picture: Picture | null = null;
  /** The show is over with this interval; 0: not yet. */
  #last = 0;
  /** So long no quiz can have been missed, as the show had not begun; on the monotonic clock. */
  #beginningUntilMs = 0;
  #hasLeft = false;
  /** The quiz that is open may have been told before this interval, unheard; 0: it was not. */
  #missedBefore = 0;
  /** When the last interval came, or the viewer; on the monotonic clock. */
  #arrivedMs: number;
  /** Whether the service could not be reached the last time that was tried, but for the feed. */
  #isAway = false;
  /** Answers that are, or were, on their way, by quiz. */
  readonly #given = new Map<string, Promise<AnswerOutcome>>();
  readonly #keeping: PersistentState;
  readonly #game: QuizGame;
  readonly #listeners = new Listeners();
  readonly #stage: Stage;
  readonly #token: TokenKeeper;
  readonly #calls: Calls;
  readonly #heartbeat: Heartbeat;
  readonly #watch: StreamWatch;
  readonly #feed: Feed;
  /** null: there was no picture yet, and all is on screen as it comes. */
  #screen: HeldEvents | null = null;
  /** What was on screen without one: so much of it that a player that is late has its past. */
  readonly #shown: EventsInterval[] = [];
  /** What answers and reports take. */
  readonly #ways: AnswerWays & ReportWays & { readonly env: Environment };
  readonly #hearts: Hearts;

  /** @throws TypeError when an option is missing */
  constructor(options: JoinOptions) {
    const {
      streamId,
      viewerId,
      name = '',
      getToken = () => this.#calls.newToken(viewerId),
      transport = 'auto',
      hiddenMs = Infinity,
      catchUpMs = CATCH_UP_MS,
      storage = pageStorage(),
    } = options;
    if (!streamId) throw new TypeError('streamId is missing');
    if (!viewerId) throw new TypeError('viewerId is missing');
    const env = { ...realEnvironment(), ...options.environment };
    this.streamId = streamId;
    this.name = name;
    this.#keeping = new PersistentState(storage, `fourbeat:1:${streamId}:${viewerId}`);
    this.#game = new QuizGame(this.#keeping.load());
    this.#stage = new Stage(this.#game, this.#listeners);
    this.#token = new TokenKeeper(env, getToken);
    this.#calls = new Calls(env, urlsOf(options), streamId, this.#token);
    this.clock = new ServiceClock(env, () => this.#heed(this.#calls.time()));
    const beat = (onSend: () => void) => this.#heed(this.#calls.beat(onSend));
    this.#heartbeat = new Heartbeat(env, beat, hiddenMs);
    this.#arrivedMs = env.monotonicMs();
    this.#watch = new StreamWatch(
      env,
      () => this.#look(),
      (stream) => this.#see(stream),
    );
    this.#feed = new Feed(env, this.clock, this.#calls, transport, catchUpMs, {
      onInterval: (interval) => this.#arrive(interval),
      onState: (state, trouble) => this.#stage.happen(state, trouble),
      onGap: (from, to) => this.#listeners.tell('gap', { from, to }),
    });
    const waits = new CancellableTimers(env);
    this.#ways = { env, clock: this.clock, calls: this.#calls, waits };
    this.#hearts = new Hearts(this.#calls, waits);
  }

  get snapshot() {
    return this.#stage.snapshot;
  }

  get state() {
    return this.snapshot.state;
  }

  get count() {
    return this.snapshot.count;
  }

  get quiz() {
    return this.snapshot.quiz;
  }

  on(type: string, listener: (data: never) => void): () => void {
    return this.#listeners.on(type, listener);
  }

  remainingMs(): number {
    if (!this.quiz || this.quiz.results) return 0;
    return countdownMs(this.quiz.quiz, this.clock, this.#picture);
  }

  async answer(choice: string): Promise<AnswerOutcome> {
    if (this.#hasLeft) throw new FourbeatError('left', 'the viewer has left');
    const { quiz } = this;
    const given = quiz && (quiz.outcome ?? this.#given.get(quiz.quiz.id));
    if (given && quiz.choice === choice) return given;
    if (quiz && quiz.choice !== null) throw new FourbeatError('refused', 'the first choice stands');
    if (!quiz || !this.remainingMs()) throw new FourbeatError('refused', 'there is no open quiz');
    if (!quiz.quiz.order.includes(choice))
      throw new FourbeatError('refused', 'there is no such choice');
    return this.#give(quiz.quiz, choice);
  }

  say(kind: ChatKind, text: string): Promise<void> {
    return this.#calls.sendChat({ kind, text, name: this.name || undefined });
  }

  heart(): void {
    this.#hearts.add();
  }

  follow(picture: Picture | null): void {
    if (this.#hasLeft) return;
    this.#picture = picture;
    if (picture && !this.#screen) {
      this.#screen = picture.hold(this.#ways.env, this.#calls, this.#stage, this.#shown);
      if (this.state === 'ended') this.#screen.replay();
    }
    this.#screen?.follow(picture);
  }

  leave(): void {
    if (this.#hasLeft) return;
    this.#keep();
    this.#hasLeft = true;
    this.#end();
    this.#watch.stop();
    this.#screen?.stop();
    this.#token.stop();
    this.#ways.waits.stop();
    this.#listeners.clear();
  }

  /** Begins with all of it. Once. */
  async start(): Promise<void> {
    this.clock.start();
    // It comes while the stream is looked at.
    this.#token.get().catch(() => {});
    await this.#watch.look();
    if (this.state === 'ended') return;
    this.#heartbeat.start();
    await this.clock.synced;
    // That of now: it may have ended, or the viewer left, meanwhile.
    if (this.snapshot.state === 'ended') return;
    const { next } = this.#game;
    const current = intervalAt(this.clock.nowMs());
    this.#feed.start(next > current - RELOAD_INTERVALS ? Math.min(next, current) : 0);
    // Those that came right before a reload; those that are over are asked for nothing.
    for (const { interval } of this.#game.rounds) void this.#report(interval);
    for (const { quiz, choice } of this.#game.unsettled)
      this.#give(quiz, choice ?? '').catch(() => {});
  }

  /**
   * How heartbeats and the clock fare tells of the service what a feed that hangs does not, or one that
   * has not begun: that it is away, and when it is back.
   */
  #heed<T>(call: Promise<T>): Promise<T> {
    void call
      .then(() => null, asTrouble)
      .then((trouble) => {
        if (this.state === 'ended') return;
        if (trouble && this.#ways.env.monotonicMs() - this.#arrivedMs >= SILENT_MS)
          this.#feed.fail(trouble);
        if (!trouble && this.#isAway) {
          this.#token.retry();
          this.#feed.retry();
        }
        this.#isAway = trouble !== null;
      });
    return call;
  }

  /** After a hole it is a viewer who looks, and is told of the quiz that is open as well. */
  async #look(): Promise<SeenStream> {
    const before = this.#missedBefore;
    const { quiz_interval: told, ...stream } = await this.#calls.stream(before > 0);
    if (told && told < before && !this.#game.hasQuizOf(told))
      this.#stage.recall(await this.#calls.interval(told));
    this.#missedBefore = 0;
    return stream;
  }

  #see(stream: SeenStream): void {
    this.#stage.see(stream);
    if (stream.status === 'CREATED')
      this.#beginningUntilMs = this.#ways.env.monotonicMs() + BEGINNING_MS;
    if (stream.status !== 'ENDED') return;
    // Who comes when it is over has no feed to wait for.
    if (!this.#feed.next) this.#end();
    else this.#last = intervalAt(this.clock.nowMs());
  }

  /** An interval of the feed is here. It is on screen later, when there is a picture. */
  #arrive(interval: EventsInterval): void {
    const { interval: number, events } = interval;
    this.#arrivedMs = this.#ways.env.monotonicMs();
    const isAfterHole = this.#game.arrived(interval, this.#arrivedMs < this.#beginningUntilMs);
    this.#meet();
    if (isAfterHole) {
      this.#missedBefore = number;
      void this.#watch.look();
    }
    let isKept = number % KEEP_INTERVALS === 0;
    for (const { type } of events) {
      if (type === 'request-quiz-winners') void this.#report(number);
      isKept ||= type.includes('quiz');
    }
    if (isKept) this.#keep();
    this.#show(interval);
    if (!this.#last) return;
    if (number >= Math.max(this.#last, this.#game.openUntil) + REST_INTERVALS) this.#end();
  }

  #show(interval: EventsInterval): void {
    if (this.#screen) {
      this.#screen.push(interval);
      return;
    }
    if (this.#shown.push(interval) > SHOWN_INTERVALS) this.#shown.shift();
    this.#stage.onInterval(interval);
  }

  #end(): void {
    this.#screen?.replay();
    this.#feed.stop();
    this.#heartbeat.stop();
    this.#token.rest();
    this.clock.stop();
    this.#stage.happen('ended', null);
  }

  async #report(interval: number): Promise<void> {
    const isWinning = this.#game.isWinning(interval);
    if (isWinning === false) return;
    const report = reportWinner(this.#ways, interval, isWinning === true);
    if (!(await report.catch(() => false))) return;
    this.#game.won(interval);
    this.#settle();
  }

  #give(quiz: Quiz, choice: string): Promise<AnswerOutcome> {
    this.#game.note(quiz.id, { choice });
    const given = sendAnswer(this.#ways, quiz, choice).then(
      (outcome) => {
        this.#game.note(quiz.id, { outcome });
        this.#settle();
        return outcome;
      },
      (trouble: FourbeatError) => {
        this.#game.note(quiz.id, { choice: null });
        this.#settle();
        throw trouble;
      },
    );
    this.#given.set(quiz.id, given);
    this.#settle();
    return given;
  }

  /** The game has changed by what the viewer did. */
  #settle(): void {
    this.#keep();
    this.#stage.change();
  }

  /** Another tab of this viewer may have done something. */
  #meet(): void {
    const kept = this.#keeping.load();
    if (kept) this.#game.merge(kept);
  }

  #keep(): void {
    if (this.#hasLeft) return;
    this.#meet();
    this.#keeping.save(() => this.#game.saved(), this.#game.next - KEPT_INTERVALS);
  }
}
