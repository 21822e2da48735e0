import { intervalAt, intervalStartMs } from '../protocol/interval.ts';
import { type AnswerDeps, sendAnswer } from './answers.ts';
import { ApiClient } from './api-client.ts';
import { CancellableTimers } from './cancellable-timers.ts';
import { HeartSender } from './chat.ts';
import { ServiceClock } from './clock.ts';
import { type Environment, pageStorage, realEnvironment } from './environment.ts';
import { FourbeatError, requireFourbeat, toFourbeatError } from './errors.ts';
import { Feed } from './feed/feed.ts';
import { Heartbeat } from './heartbeat.ts';
import { type JoinOptions, resolveUrls } from './join-options.ts';
import { Listeners } from './listeners.ts';
import { PersistentState } from './persistent-state.ts';
import { QuizGame } from './quiz-game.ts';
import { SnapshotStore } from './snapshot-store.ts';
import { StreamPoller } from './stream-poller.ts';
import { TokenSource } from './token-source.ts';
import type {
  ChatKind,
  EventBuffer,
  EventsInterval,
  Picture,
  Quiz,
  ViewerStream,
} from './types.ts';
import type { AnswerOutcome, Viewer, ViewerQuiz, ViewerState } from './viewer.ts';
import { reportWinner, type WinnerReportDeps } from './winner-report.ts';

/** A reload that took less time continues where the feed was; after a longer absence it starts anew. */
const RELOAD_INTERVALS = 40;
/** The position in the feed is saved every 5 s. */
const SAVE_EVERY_INTERVALS = 20;
/** The stored state of other streams is removed after about a week. */
const RETAIN_INTERVALS = 2_400_000;
/** Intervals kept for a player that attaches later, whose video is seconds behind. */
const RECENT_INTERVALS = 120;
/** For this long after the stream was not started, no quiz was missed: every quiz lasts longer. */
const NOT_STARTED_MS = 5_000;
/** The last events of a show may arrive this late. */
const TRAILING_INTERVALS = 8;
/** After this silence of the feed, the error of any other request makes the viewer offline. */
const SILENT_MS = 2_000;
/** The countdown ends this long before the close, as an answer takes time to arrive. */
const DELIVERY_MS = 100;

/** Implements `Viewer`: connects all parts of the SDK. */
export class ViewerSession implements Viewer {
  readonly streamId: string;
  readonly clock: ServiceClock;
  name: string;
  #picture: Picture | null = null;
  /** Last interval of the show; 0: not over. */
  #lastInterval = 0;
  /** Until then no quiz can have been missed, as the show had not started; on the monotonic clock. */
  #notStartedUntilMs = 0;
  #hasLeft = false;
  /** The event of the open quiz may have been missed before this interval; 0: no gap to check. */
  #gapEnd = 0;
  /** When the last interval arrived, initially the time of joining; on the monotonic clock. */
  #lastIntervalAtMs: number;
  /** Whether the last request failed, those of the feed excluded. */
  #isUnavailable = false;
  /** Results of the answers of this session. */
  readonly #answers = new Map<Quiz, Promise<AnswerOutcome>>();
  readonly #storedState: PersistentState;
  readonly #game: QuizGame;
  readonly #listeners = new Listeners();
  readonly #snapshots: SnapshotStore;
  readonly #tokens: TokenSource;
  readonly #api: ApiClient;
  readonly #heartbeat: Heartbeat;
  readonly #streamPoller: StreamPoller;
  readonly #feed: Feed;
  /** Null until there is a picture: intervals are shown as they arrive. */
  #buffer: EventBuffer | null = null;
  /** Newest intervals shown without a picture: the past of a player that attaches later. */
  readonly #recentIntervals: EventsInterval[] = [];
  /** Dependencies of answers and winner reports. */
  readonly #deps: AnswerDeps & WinnerReportDeps & { readonly env: Environment };
  readonly #hearts: HeartSender;

  /** @throws TypeError when an option is missing */
  constructor(options: JoinOptions) {
    const {
      streamId,
      viewerId,
      name = '',
      getToken = () => this.#api.newToken(viewerId),
      transport = 'auto',
      hiddenMs = Infinity,
      catchUpMs = 60_000,
      storage = pageStorage(),
    } = options;
    if (!streamId) throw new TypeError('streamId is missing');
    if (!viewerId) throw new TypeError('viewerId is missing');
    const env = { ...realEnvironment(), ...options.environment };
    this.streamId = streamId;
    this.name = name;
    this.#storedState = new PersistentState(storage, `fourbeat:1:${streamId}:${viewerId}`);
    this.#game = new QuizGame(this.#storedState.load());
    this.#snapshots = new SnapshotStore(this.#game, this.#listeners);
    this.#tokens = new TokenSource(env, getToken);
    this.#api = new ApiClient(env, resolveUrls(options), streamId, this.#tokens);
    this.clock = new ServiceClock(env, () => this.#trackAvailability(this.#api.time()));
    const sendHeartbeat = (onSend: () => void) =>
      this.#trackAvailability(this.#api.sendHeartbeat(onSend));
    this.#heartbeat = new Heartbeat(env, sendHeartbeat, hiddenMs);
    this.#lastIntervalAtMs = env.monotonicMs();
    this.#streamPoller = new StreamPoller(
      env,
      () => this.#readStream(),
      (stream) => this.#onStream(stream),
    );
    this.#feed = new Feed(env, this.clock, this.#api, transport, catchUpMs, {
      onInterval: (interval) => this.#onInterval(interval),
      onState: (state, error) => this.#snapshots.setState(state, error),
      onGap: (from, to) => this.#listeners.emit('gap', { from, to }),
    });
    const timers = new CancellableTimers(env);
    this.#deps = { env, clock: this.clock, api: this.#api, timers };
    this.#hearts = new HeartSender(this.#api, timers);
  }

  get snapshot() {
    return this.#snapshots.snapshot;
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
    const { quiz, results } = this.quiz ?? ({} as Partial<ViewerQuiz>);
    if (!quiz || results) return 0;
    const nowMs = this.clock.nowMs();
    const displayedMs = this.#picture?.wallClockMs() ?? nowMs;
    const closeMs = intervalStartMs(quiz.closeInterval) - this.clock.errorMs - DELIVERY_MS;
    return Math.max(0, Math.min(quiz.created + quiz.duration - displayedMs, closeMs - nowMs));
  }

  async answer(choice: string): Promise<AnswerOutcome> {
    if (this.#hasLeft) throw new FourbeatError('left', 'Viewer left.');
    const { quiz } = this;
    const outcome = quiz && (quiz.outcome ?? this.#answers.get(quiz.quiz));
    if (outcome && quiz.choice === choice) return outcome;
    if (quiz && quiz.choice !== null) throw new FourbeatError('refused', 'Answered.');
    if (!quiz || !this.remainingMs()) throw new FourbeatError('refused', 'No open quiz.');
    if (!quiz.quiz.order.includes(choice)) throw new FourbeatError('refused', 'No such choice.');
    return this.#sendAnswer(quiz.quiz, choice);
  }

  sendMessage(kind: ChatKind, text: string): Promise<void> {
    return this.#api.sendChat({ kind, text, name: this.name || undefined });
  }

  sendHeart(): void {
    this.#hearts.add();
  }

  follow(picture: Picture | null): void {
    if (this.#hasLeft) return;
    this.#picture = picture;
    if (picture && !this.#buffer) {
      this.#buffer = picture.createBuffer(
        this.#deps.env,
        this.#api,
        this.#snapshots,
        this.#recentIntervals,
      );
      if (this.state === 'ended') this.#buffer.replay();
    }
    this.#buffer?.follow(picture);
  }

  leave(): void {
    if (this.#hasLeft) return;
    this.#save();
    this.#hasLeft = true;
    this.#end();
    this.#streamPoller.stop();
    this.#buffer?.stop();
    this.#tokens.stop();
    this.#deps.timers.stop();
    this.#listeners.clear();
  }

  /** Starts all requests. Called once. */
  async start(): Promise<void> {
    this.clock.start();
    // Request the token in parallel with reading the stream.
    this.#tokens.get().catch(() => {});
    await this.#streamPoller.poll();
    if (this.state === 'ended') return;
    this.#heartbeat.start();
    await this.clock.synced;
    // Read the state again: the show may have ended, or the viewer left, meanwhile.
    if ((this.state as ViewerState) === 'ended') return;
    const { next } = this.#game;
    const current = intervalAt(this.clock.nowMs());
    // The feed has no gap after a reload, but the page lost the messages before it.
    this.#gapEnd = next > current - RELOAD_INTERVALS ? Math.min(next, current) : 0;
    this.#feed.start(this.#gapEnd);
    if (this.#gapEnd) void this.#streamPoller.poll();
    // Rounds from right before a reload, once more: the response may be lost. An earlier one sends nothing.
    for (const { interval } of this.#game.rounds) void this.#reportWinner(interval);
    for (const { quiz, choice } of this.#game.pendingAnswers)
      void this.#sendAnswer(quiz, choice as string);
  }

  /**
   * Derives the availability of the service from heartbeats and clock requests. A feed that hangs, or
   * has not started, does not notice that the service is unavailable, or available again.
   */
  #trackAvailability<T>(call: Promise<T>): Promise<T> {
    void call
      .then(() => null, toFourbeatError)
      .then((error) => {
        if (this.state === 'ended') return;
        if (error && this.#deps.env.monotonicMs() - this.#lastIntervalAtMs >= SILENT_MS)
          this.#feed.fail(error);
        if (!error && this.#isUnavailable) {
          this.#tokens.retry();
          this.#feed.retry();
        }
        this.#isUnavailable = error !== null;
      });
    return call;
  }

  /** Reads the stream; after a gap with the viewer's token, to learn which quiz is open. */
  async #readStream(): Promise<ViewerStream> {
    const gapEnd = this.#gapEnd;
    const { quiz_interval: quizInterval, ...stream } = await this.#api.stream(gapEnd > 0);
    requireFourbeat(stream.hls_url);
    if (quizInterval && quizInterval < gapEnd && !this.#game.hasQuizAt(quizInterval))
      this.#snapshots.addMissedQuiz(await this.#api.interval(quizInterval));
    // Another gap may have come meanwhile.
    if (this.#gapEnd === gapEnd) this.#gapEnd = 0;
    return stream;
  }

  #onStream(stream: ViewerStream): void {
    this.#snapshots.setStream(stream);
    if (stream.status === 'CREATED')
      this.#notStartedUntilMs = this.#deps.env.monotonicMs() + NOT_STARTED_MS;
    if (stream.status !== 'ENDED') return;
    // A viewer who joins after the end has no feed to wait for.
    if (!this.#feed.next) this.#end();
    else this.#lastInterval = intervalAt(this.clock.nowMs());
  }

  /** Handles an interval of the feed. With a picture it is shown later. */
  #onInterval(interval: EventsInterval): void {
    const { interval: number, events } = interval;
    this.#lastIntervalAtMs = this.#deps.env.monotonicMs();
    const isAfterGap = this.#game.receive(
      interval,
      this.#lastIntervalAtMs < this.#notStartedUntilMs,
    );
    this.#mergeOtherTabs();
    if (isAfterGap) {
      this.#gapEnd = number;
      void this.#streamPoller.poll();
    }
    let shouldSave = number % SAVE_EVERY_INTERVALS === 0;
    for (const { type } of events) {
      if (type === 'request-quiz-winners') void this.#reportWinner(number);
      shouldSave ||= type.includes('quiz');
    }
    if (shouldSave) this.#save();
    this.#display(interval);
    if (!this.#lastInterval) return;
    if (number >= Math.max(this.#lastInterval, this.#game.lastCloseInterval) + TRAILING_INTERVALS)
      this.#end();
  }

  #display(interval: EventsInterval): void {
    if (this.#buffer) {
      this.#buffer.push(interval);
      return;
    }
    if (this.#recentIntervals.push(interval) > RECENT_INTERVALS) this.#recentIntervals.shift();
    this.#snapshots.onInterval(interval);
  }

  #end(): void {
    this.#buffer?.replay();
    this.#feed.stop();
    this.#heartbeat.stop();
    this.#tokens.stopRenewal();
    this.clock.stop();
    this.#snapshots.setState('ended', null);
  }

  async #reportWinner(interval: number): Promise<void> {
    const isWinning = this.#game.isWinning(interval);
    if (isWinning === false) return;
    const report = reportWinner(this.#deps, interval, isWinning === true);
    if (!(await report.catch(() => false))) return;
    this.#game.recordWin(interval);
    this.#saveAndUpdate();
  }

  /** @returns the outcome; its rejection needs no handler */
  #sendAnswer(quiz: Quiz, choice: string): Promise<AnswerOutcome> {
    const update = (changes: Parameters<QuizGame['update']>[1]) => {
      this.#game.update(quiz, changes);
      this.#saveAndUpdate();
    };
    const result = sendAnswer(this.#deps, quiz, choice);
    this.#answers.set(quiz, result);
    update({ choice });
    void result.then(
      (outcome) => update({ outcome }),
      () => update({ choice: null }),
    );
    return result;
  }

  /** Called when the viewer's own actions changed the game. */
  #saveAndUpdate(): void {
    this.#save();
    this.#snapshots.update();
  }

  /** Takes over what another tab of this viewer has stored. */
  #mergeOtherTabs(): void {
    const stored = this.#storedState.load();
    if (stored) this.#game.merge(stored);
  }

  #save(): void {
    if (this.#hasLeft) return;
    this.#mergeOtherTabs();
    this.#storedState.save(() => this.#game.serialize(), this.#game.next - RETAIN_INTERVALS);
  }
}
