import { intervalStartMs } from '../../../protocol/interval.ts';
import { AnsweringClients } from '../kill/answering-clients.ts';
import { type AnswerRow, Oracle, type ReadEvent, type WinnerRow } from '../kill/oracle.ts';
import { Producer } from '../kill/producer.ts';
import { Readers } from '../kill/readers.ts';
import type { TestedService, Target } from '../kill/retrying-client.ts';
import { playRound } from '../kill/show.ts';
import { Chatter } from './chatter.ts';
import { Judgement } from './checks.ts';
import { Heartbeats } from './heartbeats.ts';
import type { Outages } from './outages.ts';
import { ResponseChecker } from './response-checker.ts';
import { UnauthorizedClients } from './unauthorized-clients.ts';

export interface LoadOptions {
  readonly nodes: readonly Target[];
  readonly apiToken: string;
  readonly outages: Outages;
  readonly random: () => number;
  /** Streams with a show each (default 3). */
  readonly shows?: number;
  /** Viewers of each who answer, and who send heartbeats. */
  readonly clients?: number;
  readonly watchers?: number;
}

/** What the clients of a load sent and heard. */
export interface LoadFigures {
  requests: number;
  acknowledged: number;
  unknown: number;
  refused: number;
  unavailable: number;
  /** What was late while the machine was overloaded. */
  excused: number;
  /** The latest answer, of those that were 503 and of all, in ms. */
  unavailableMs: number;
  slowestMs: number;
  rounds: number;
  bodies: number;
  counts: number;
}

// Nobody waits longer for an answer: a held interval is answered within 2 s, and all else in 1.
const PATIENCE_MS = 3_000;
/** A round that takes longer, with nothing broken, never ends. */
const ROUND_LIMIT_MS = 20_000;
/** What was acknowledged by then has been read by everybody. */
const SEALED_MS = 1_000;
const IMPATIENT = 0.15;
const LIVE_READERS = 3;
const ONCE_EACH = 4;

/** One stream: quizzes with winners back to back, heartbeats, chat and readers on all nodes. */
class Stage {
  rounds = 0;
  /** Until when viewers may answer a quiz. */
  openUntilMs = 0;
  private over = false;
  private running: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly streamId: string,
    readonly oracle: Oracle,
    readonly readers: Readers,
    readonly heartbeats: Heartbeats,
    readonly chatter: Chatter,
    private readonly producer: Producer,
    private readonly crowd: AnsweringClients,
    private readonly random: () => number,
  ) {}

  static async open(
    number: number,
    service: TestedService,
    judgement: Judgement,
    options: LoadOptions,
  ): Promise<Stage> {
    const { apiToken, random, outages, clients = 16, watchers = 20 } = options;
    const onNew = (event: ReadEvent) => read(event);
    const oracle = new Oracle(judgement.violations, `stream ${number}: `, onNew);
    const expect = oracle.expect.bind(oracle);
    const producer = new Producer({ service, apiToken, oracle, sendOnceEvery: ONCE_EACH });
    const streamId = await producer.createStream();
    const crowd = new AnsweringClients({ service, streamId, oracle, random, giveUpShare: IMPATIENT });
    const heartbeats = new Heartbeats({ service, streamId, outages, random, judgement });
    const chatter = new Chatter({ service, streamId, outages, random, expect });
    const readers = await Readers.open({ service, streamId, oracle, random });
    await Promise.all([crowd.join(clients), heartbeats.gather(watchers)]);
    return new Stage(
      ...([streamId, oracle, readers, heartbeats, chatter, producer, crowd, random] as const),
    );

    function read({ interval, type, data }: ReadEvent): void {
      if (type === 'view-count') {
        heartbeats.published(interval, (data as { value: number }).value);
      } else if (type === 'chats') {
        chatter.read((data as { messages: { text: string }[] }).messages);
      }
    }
  }

  async begin(interval: number): Promise<void> {
    this.readers.start(interval, { live: LIVE_READERS, replaying: 1 });
    this.heartbeats.begin();
    await this.chatter.begin();
    this.running = Promise.all([this.play(), this.producer.sendEvents()]).catch((error: Error) => {
      this.oracle.expect(false, `the show ended: ${error.message}`);
    });
  }

  /** Plays the round to its end, and then no more. */
  async end(): Promise<void> {
    this.over = true;
    this.producer.end();
    const ended = this.finish().then(() => true);
    if (await Promise.race([ended, Bun.sleep(ROUND_LIMIT_MS).then(() => false)])) return;
    this.oracle.expect(false, 'the round does not end: an event is lost, or nobody is answered');
  }

  private async finish(): Promise<void> {
    await this.running;
    await Promise.all([this.heartbeats.end(), this.chatter.end()]);
    await Bun.sleep(SEALED_MS);
    await this.readers.end();
  }

  /** Reads everything once more, on every node. */
  async check(nodes: number): Promise<void> {
    const { oracle, readers, producer } = this;
    oracle.checkFeed(await readers.readAllAgain());
    for (let node = 0; node < nodes; node++) await readers.replayFrom(node);
    oracle.checkAnswers(await producer.export<AnswerRow>('answers'));
    oracle.checkWinners(await producer.export<WinnerRow>('winners'));
    this.chatter.check();
  }

  private async play(): Promise<void> {
    const { oracle, producer, crowd, readers, random } = this;
    while (!this.over) {
      await playRound({
        ...{ oracle, producer, crowd, readers, random },
        onQuestion: ({ closeInterval }) => {
          this.openUntilMs = intervalStartMs(closeInterval);
        },
      });
      this.rounds++;
    }
  }
}

/** Everybody who uses a service at once, and the oracle that sees what they sent and heard. */
export class Load {
  private constructor(
    readonly judgement: Judgement,
    private readonly stages: readonly Stage[],
    private readonly manners: ResponseChecker,
    private readonly strangers: UnauthorizedClients,
    private readonly nodes: readonly Target[],
  ) {}

  /** Makes the streams and gathers everybody. */
  static async open(options: LoadOptions): Promise<Load> {
    const { nodes, outages, shows = 3 } = options;
    const judgement = new Judgement();
    const manners = new ResponseChecker(outages, judgement);
    const service = { nodes, patienceMs: PATIENCE_MS, onAnswer: manners.told };
    const stages: Stage[] = [];
    for (let show = 0; show < shows; show++) {
      stages.push(await Stage.open(show, service, judgement, options));
    }
    const strangers = new UnauthorizedClients(service, judgement.violations);
    return new Load(judgement, stages, manners, strangers, nodes);
  }

  async begin(): Promise<void> {
    const { hostname, port } = this.nodes[0] as Target;
    const response = await fetch(`http://${hostname}:${port}/api/v1/time`);
    const { interval } = (await response.json()) as { interval: number };
    for (const stage of this.stages) await stage.begin(interval);
    const [own, other = own] = this.stages as [Stage, Stage?];
    if (own !== other) await this.strangers.begin(own.streamId, (other as Stage).streamId);
  }

  /** Resolves while a quiz is open for so long still, or when none is after all. */
  async quizOpen(leftMs: number, waitMs = 2_500): Promise<void> {
    const giveUpMs = Date.now() + waitMs;
    const isOpen = () => this.stages.some(({ openUntilMs }) => openUntilMs > Date.now() + leftMs);
    while (!isOpen() && Date.now() < giveUpMs) await Bun.sleep(5);
  }

  /** A node was just killed or cut off: what it heard in its last moment may be lost. */
  nodeLost(node: number): void {
    for (const { heartbeats } of this.stages) heartbeats.nodeLost(node);
  }

  /** A node has ended, and starts anew. */
  nodeEnded(node: number): void {
    this.manners.nodeEnded(node);
  }

  /** Ends when everybody has been answered. */
  async end(): Promise<void> {
    await Promise.all([...this.stages.map((stage) => stage.end()), this.strangers.end()]);
    this.judgement.machine.end();
  }

  /** Reads everything that was ever served or acknowledged, on every node. */
  async check(): Promise<void> {
    for (const stage of this.stages) await stage.check(this.nodes.length);
  }

  figures(): LoadFigures {
    const sum = (of: (stage: Stage) => number) => {
      return this.stages.reduce((total, stage) => total + of(stage), 0);
    };
    const { requests, unavailable, unavailableMs, slowestMs } = this.manners.figures;
    return {
      excused: this.judgement.excused.length,
      ...{ requests, unavailable, unavailableMs, slowestMs },
      acknowledged: sum(({ oracle: { figures } }) => figures.acknowledged + figures.events),
      unknown: sum(({ oracle }) => oracle.figures.unknown),
      refused: sum(({ oracle }) => oracle.figures.refused),
      rounds: sum(({ rounds }) => rounds),
      bodies: sum(({ oracle }) => oracle.figures.bodies),
      counts: sum(({ heartbeats: { figures } }) => figures.published + figures.read),
    };
  }
}
