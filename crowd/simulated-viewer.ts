import type { EventsInterval, FeedEvent } from '../protocol/feed.ts';
import { type FeedReader, readByLongPoll, readEventStream, readSealed } from './feed-reading.ts';
import type { FeedPosition } from './ledger/ledger.ts';
import { CHEERS, GREETINGS, MESSAGES } from './phrases.ts';
import { QuizParticipant } from './quiz-participant.ts';
import { type SimulationContext, ViewerClient } from './viewer-client.ts';
import { absenceMs, chatPauseMs, pick, stayMs, type ViewerProfile } from './viewer-profile.ts';

const HEARTBEAT_MS = 1_000;
const FEED_READERS = {
  'long-poll': readByLongPoll,
  'event-stream': readEventStream,
  sealed: readSealed,
} as const;

/**
 * A simulated viewer that does everything a client does over HTTP: it gets and renews a token, sends
 * heartbeats, reads the feed, answers quizzes, chats, leaves and returns.
 */
export class SimulatedViewer {
  private readonly client: ViewerClient;
  private readonly participant: QuizParticipant;
  private present = false;
  private visit = 0;
  private leaveCallbacks: (() => void)[] = [];

  constructor(
    private readonly number: number,
    private readonly profile: ViewerProfile,
    private readonly context: SimulationContext,
  ) {
    this.client = new ViewerClient(number, context);
    const schedule = this.schedule.bind(this);
    const viewer = { number, profile, schedule, isPresent: () => this.isPresent() };
    this.participant = new QuizParticipant(viewer, this.client, context);
  }

  /** Gets the first token. Call it before `attend`. */
  async arrive(): Promise<void> {
    await this.client.credential();
    this.context.stats.arrived++;
  }

  /** Attends the show with absences, until the show ends or the viewer is banned. */
  async attend(): Promise<void> {
    const { random, stats, isOver } = this.context;
    while (!isOver() && !this.client.isBanned) {
      this.present = true;
      this.visit++;
      stats.present++;
      if (!this.profile.isPermanent) this.schedule(stayMs(random), async () => this.leave());
      this.startHeartbeats();
      this.startChatting();
      await FEED_READERS[this.profile.feedMode](this.reader());
      this.leave();
      stats.present--;
      if (!isOver()) await Bun.sleep(absenceMs(random));
    }
  }

  private leave(): void {
    this.present = false;
    for (const leave of this.leaveCallbacks.splice(0)) leave();
  }

  private isPresent(): boolean {
    return this.present && !this.client.isBanned && !this.context.isOver();
  }

  // ---- Heartbeats

  private startHeartbeats(): void {
    const { localMs } = this.context;
    const nowMs = localMs();
    let nextMs = nowMs - (nowMs % HEARTBEAT_MS) + this.profile.phaseMs;
    let timer: Timer | undefined;
    const sendNext = () => {
      void this.sendHeartbeat();
      // Skip heartbeats that a busy machine delayed, as real clients do.
      do nextMs += HEARTBEAT_MS;
      while (nextMs <= localMs());
      timer = setTimeout(sendNext, nextMs - localMs());
    };
    this.leaveCallbacks.push(() => clearTimeout(timer));
    sendNext();
  }

  private async sendHeartbeat(): Promise<void> {
    const { ledger, time, localMs, streamId, random, stats } = this.context;
    const target = `/api/v1/view-counts/${streamId}`;
    const heartbeat = ledger.counts.sent(this.number, time.earliestMs(localMs()));
    const response = await this.client.post(target);
    const latestMs = time.latestMs(localMs());
    if (response?.status !== 204) {
      ledger.counts.lost(heartbeat, latestMs);
      if (response) stats.requestFailed();
      return;
    }
    ledger.counts.acknowledged(heartbeat, latestMs);
    if (this.profile.readsCount && random() < 0.2) await this.readCount(target);
  }

  private async readCount(target: string): Promise<void> {
    const { ledger, time, localMs } = this.context;
    const fromMs = time.earliestMs(localMs());
    const response = await this.client.get(target);
    if (response?.status !== 200) return;
    const count = JSON.parse(Buffer.from(response.body).toString());
    ledger.onCountRead(count, fromMs, time.latestMs(localMs()));
  }

  // ---- The feed

  private reader(): FeedReader {
    const { client } = this;
    const { time, localMs, random } = this.context;
    const path = `/api/v1/events-streams/${this.context.streamId}?interval=`;
    return {
      time,
      localMs,
      random,
      isPresent: () => this.isPresent(),
      onLeave: (leave) => this.leaveCallbacks.push(leave),
      get: async (interval) => {
        const response = await client.get(path + interval);
        if (response?.status === 200) return response;
        await client.pauseAfter(response);
        return null;
      },
      open: async (from, lastEventId, signal) => {
        const response = await client.stream(path + from, lastEventId, signal);
        if (response.status === 200) return response;
        await client.pauseAfter({ status: response.status, retryAfterS: 1 });
        return null;
      },
      onInterval: (position, interval, bytes, isLive) =>
        this.takeInterval(position, interval, bytes, isLive),
    };
  }

  private takeInterval(
    position: FeedPosition,
    number: number,
    bytes: Uint8Array,
    isLive: boolean,
  ): EventsInterval {
    const { ledger, stats, time, localMs } = this.context;
    const nowMs = localMs();
    const interval = ledger.onInterval(position, number, bytes, time.latestMs(nowMs));
    if (isLive) stats.onDelivered(number, time.estimateMs(nowMs));
    for (const event of interval.events) this.handleEvent(event);
    return interval;
  }

  /** Handles an event; what the viewer does about it comes after the lag of its video. */
  private handleEvent(event: FeedEvent): void {
    const { lagMs } = this.profile;
    const react = this.participant.receive(event);
    if (lagMs > 0) this.schedule(lagMs, async () => this.react(react));
    else this.react(react);
  }

  private react(react: () => boolean): void {
    const { random } = this.context;
    if (react() && random() < 0.6) {
      this.schedule(1_500 * random(), () => this.sendHearts());
    }
  }

  // ---- Chat

  private startChatting(): void {
    const { random } = this.context;
    if (random() < 0.2)
      this.schedule(2_000 * random(), () => this.sendMessage('greeting', GREETINGS));
    const talk = () => {
      this.schedule(chatPauseMs(random), async () => {
        talk();
        await (random() < 0.3
          ? this.sendMessage('cheer', CHEERS)
          : this.sendMessage('message', MESSAGES));
      });
    };
    talk();
  }

  private async sendMessage(kind: 'message' | 'greeting' | 'cheer', texts: readonly string[]) {
    await this.postChat({ kind, text: pick(texts, this.context.random), name: this.profile.name });
  }

  private async sendHearts(): Promise<void> {
    await this.postChat({ kind: 'heart', count: 1 + Math.floor(5 * this.context.random()) });
  }

  private async postChat(body: object): Promise<void> {
    const target = `/api/v1/events-streams/${this.context.streamId}/chats`;
    const response = await this.client.post(target, JSON.stringify(body));
    if (response && response.status !== 204) this.context.stats.requestFailed();
  }

  /** Calls `act` after a delay, unless the viewer has left since. */
  private schedule(delayMs: number, act: () => Promise<unknown>): void {
    const { visit } = this;
    setTimeout(() => {
      if (this.visit === visit && this.isPresent()) void act();
    }, delayMs);
  }
}
