import type { EventsInterval, FeedEvent } from '../protocol/feed.ts';
import { type Reader, readEventStream, readHeld, readSealed } from './feed-reading.ts';
import type { Place } from './ledger/ledger.ts';
import { CHEERS, GREETINGS, MESSAGES } from './phrases.ts';
import { Player } from './player.ts';
import { type SimulationContext, ViewerClient } from './viewer-client.ts';
import { pick, silenceMs, stayMs, unavailableMs, type ViewerProfile } from './viewer-profile.ts';

const HEARTBEAT_MS = 1_000;
const READS = { held: readHeld, 'event-stream': readEventStream, sealed: readSealed } as const;

/**
 * One viewer: a client of the service over HTTP, with everything that a client does. It gets a
 * token and renews it, posts once a second, reads the feed, answers, talks, leaves and comes back.
 */
export class Viewer {
  private readonly client: ViewerClient;
  private readonly player: Player;
  private here = false;
  private visit = 0;
  private leaving: (() => void)[] = [];

  constructor(
    private readonly number: number,
    private readonly profile: ViewerProfile,
    private readonly world: SimulationContext,
  ) {
    this.client = new ViewerClient(number, world);
    const later = this.later.bind(this);
    const seat = { number, profile, later, isHere: () => this.isHere() };
    this.player = new Player(seat, this.client, world);
  }

  /** Gets its first token: from then on it can attend. */
  async arrive(): Promise<void> {
    await this.client.credential();
    this.world.stats.arrived++;
  }

  /** Attends until the show is over, with pauses. */
  async attend(): Promise<void> {
    const { random, stats, isOver } = this.world;
    while (!isOver() && !this.client.isBanned) {
      this.here = true;
      this.visit++;
      stats.present++;
      if (!this.profile.isLoyal) this.later(stayMs(random), async () => this.leave());
      this.beatOnTime();
      this.talkNowAndThen();
      await READS[this.profile.reading](this.reader());
      this.leave();
      stats.present--;
      if (!isOver()) await Bun.sleep(unavailableMs(random));
    }
  }

  private leave(): void {
    this.here = false;
    for (const leave of this.leaving.splice(0)) leave();
  }

  private isHere(): boolean {
    return this.here && !this.client.isBanned && !this.world.isOver();
  }

  // ---- Heartbeats

  private beatOnTime(): void {
    const { localMs } = this.world;
    const nowMs = localMs();
    let nextMs = nowMs - (nowMs % HEARTBEAT_MS) + this.profile.phaseMs;
    let timer: Timer | undefined;
    const beat = () => {
      void this.beat();
      // A client whose machine was busy goes on in its own rhythm, it does not make up for it.
      do nextMs += HEARTBEAT_MS;
      while (nextMs <= localMs());
      timer = setTimeout(beat, nextMs - localMs());
    };
    this.leaving.push(() => clearTimeout(timer));
    beat();
  }

  private async beat(): Promise<void> {
    const { ledger, time, localMs, streamId, random, stats } = this.world;
    const target = `/api/v1/view-counts/${streamId}`;
    const heartbeat = ledger.counts.sent(this.number, time.earliestMs(localMs()));
    const answer = await this.client.post(target);
    const latestMs = time.latestMs(localMs());
    if (answer?.status !== 204) {
      ledger.counts.lost(heartbeat, latestMs);
      if (answer) stats.troubled();
      return;
    }
    ledger.counts.acknowledged(heartbeat, latestMs);
    if (this.profile.readsCount && random() < 0.2) await this.readCount(target);
  }

  private async readCount(target: string): Promise<void> {
    const { ledger, time, localMs } = this.world;
    const fromMs = time.earliestMs(localMs());
    const answer = await this.client.get(target);
    if (answer?.status !== 200) return;
    const count = JSON.parse(Buffer.from(answer.body).toString());
    ledger.readCount(count, fromMs, time.latestMs(localMs()));
  }

  // ---- The feed

  private reader(): Reader {
    const { client } = this;
    const { time, localMs, random } = this.world;
    const path = `/api/v1/events-streams/${this.world.streamId}?interval=`;
    return {
      time,
      localMs,
      random,
      isHere: () => this.isHere(),
      onLeave: (leave) => this.leaving.push(leave),
      get: async (interval) => {
        const answer = await client.get(path + interval);
        if (answer?.status === 200) return answer;
        await client.pauseAfter(answer);
        return null;
      },
      open: async (from, lastEventId, signal) => {
        const response = await client.stream(path + from, lastEventId, signal);
        if (response.status === 200) return response;
        await client.pauseAfter({ status: response.status, retryAfterS: 1 });
        return null;
      },
      read: (place, interval, bytes, isLive) => this.read(place, interval, bytes, isLive),
    };
  }

  private read(place: Place, number: number, bytes: Uint8Array, isLive: boolean): EventsInterval {
    const { ledger, stats, time, localMs } = this.world;
    const nowMs = localMs();
    const interval = ledger.read(place, number, bytes, time.latestMs(nowMs));
    if (isLive) stats.delivered(number, time.likelyMs(nowMs));
    for (const event of interval.events) this.see(event);
    return interval;
  }

  /** What it reads it sees when its picture is there. */
  private see(event: FeedEvent): void {
    const { lagMs } = this.profile;
    if (lagMs > 0) this.later(lagMs, async () => this.react(event));
    else this.react(event);
  }

  private react(event: FeedEvent): void {
    const { random } = this.world;
    if (this.player.react(event) && random() < 0.6) {
      this.later(1_500 * random(), () => this.sendHearts());
    }
  }

  // ---- Talk

  private talkNowAndThen(): void {
    const { random } = this.world;
    if (random() < 0.2) this.later(2_000 * random(), () => this.say('greeting', GREETINGS));
    const talk = () => {
      this.later(silenceMs(random), async () => {
        talk();
        await (random() < 0.3 ? this.say('cheer', CHEERS) : this.say('message', MESSAGES));
      });
    };
    talk();
  }

  private async say(kind: 'message' | 'greeting' | 'cheer', texts: readonly string[]) {
    await this.chat({ kind, text: pick(texts, this.world.random), name: this.profile.name });
  }

  private async sendHearts(): Promise<void> {
    await this.chat({ kind: 'heart', count: 1 + Math.floor(5 * this.world.random()) });
  }

  private async chat(body: object): Promise<void> {
    const target = `/api/v1/events-streams/${this.world.streamId}/chats`;
    const answer = await this.client.post(target, JSON.stringify(body));
    if (answer && answer.status !== 204) this.world.stats.troubled();
  }

  /** Does something after a while, unless this visit is over by then. */
  private later(delayMs: number, act: () => Promise<unknown>): void {
    const { visit } = this;
    setTimeout(() => {
      if (this.visit === visit && this.isHere()) void act();
    }, delayMs);
  }
}
