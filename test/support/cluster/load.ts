import { intervalStartMs } from '../../../protocol/interval.ts';
import { AnsweringClients } from '../kill/answering-clients.ts';
import {
  type AnswerRow,
  ConsistencyChecker,
  type ReadEvent,
  type WinnerRow,
} from '../kill/consistency-checker.ts';
import { Producer } from '../kill/producer.ts';
import { Readers } from '../kill/readers.ts';
import type { Target, TestedService } from '../kill/retrying-client.ts';
import { playRound } from '../kill/show.ts';
import { ChatClient } from './chat-client.ts';
import { Checks } from './checks.ts';
import { HeartbeatClients } from './heartbeat-clients.ts';
import type { Outages } from './outages.ts';
import { ResponseChecker } from './response-checker.ts';
import { UnauthorizedClient } from './unauthorized-client.ts';

export interface LoadOptions {
  readonly nodes: readonly Target[];
  /** The process of each node that runs (default: unknown). */
  readonly nodePids?: () => ReadonlyMap<number, number>;
  readonly apiToken: string;
  readonly outages: Outages;
  readonly random: () => number;
  /** Streams, each with a show of its own (default 3). */
  readonly streams?: number;
  /** Viewers of each stream who answer (default 16). */
  readonly answerers?: number;
  /** Viewers of each stream who send heartbeats (default 20). */
  readonly viewers?: number;
}

/** What the clients of a load sent, received and checked. */
export interface LoadFigures {
  requests: number;
  acknowledged: number;
  unknown: number;
  refused: number;
  /** Responses with status 503. */
  unavailable: number;
  /** Time limits that were missed while the machine was overloaded. */
  overloadFailures: number;
  /** The highest latency of the 503 responses, and of all responses, in ms. */
  maxUnavailableMs: number;
  maxLatencyMs: number;
  checkedBodies: number;
  checkedCounts: number;
}

// Above every limit of the service: 2 s for a long poll, 1 s for other requests.
const REQUEST_TIMEOUT_MS = 3_000;
/** Without an outage, a round that takes longer than this never ends. */
const ROUND_LIMIT_MS = 20_000;
/** After this time the readers have read everything that was acknowledged. */
const SEAL_MS = 1_000;
const GIVE_UP_SHARE = 0.15;
const LIVE_READERS = 3;
const SEND_ONCE_EVERY = 4;

/** One stream: quizzes with winners back to back, heartbeats, chat and readers on all nodes. */
class StreamLoad {
  /** When the latest quiz closes, in Unix ms. */
  openUntilMs = 0;
  private isOver = false;
  private running: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly streamId: string,
    readonly checker: ConsistencyChecker,
    readonly readers: Readers,
    readonly heartbeats: HeartbeatClients,
    readonly chatClient: ChatClient,
    private readonly producer: Producer,
    private readonly answerers: AnsweringClients,
    private readonly random: () => number,
  ) {}

  static async open(
    number: number,
    service: TestedService,
    checks: Checks,
    options: LoadOptions,
  ): Promise<StreamLoad> {
    const { apiToken, random, outages, answerers: answererCount = 16, viewers = 20 } = options;
    const onNew = (event: ReadEvent) => receive(event);
    const fail = (violation: string) => checks.fail(violation);
    const checker = new ConsistencyChecker(fail, `stream ${number}: `, onNew);
    const expect = checker.expect.bind(checker);
    const producer = new Producer({ service, apiToken, checker, sendOnceEvery: SEND_ONCE_EVERY });
    const streamId = await producer.createStream();
    const shared = { service, streamId, random };
    const answerers = new AnsweringClients({ ...shared, checker, giveUpShare: GIVE_UP_SHARE });
    const heartbeats = new HeartbeatClients({ ...shared, outages, checks });
    const chatClient = new ChatClient({ ...shared, outages, expect });
    const readers = await Readers.open({ ...shared, checker });
    await Promise.all([answerers.join(answererCount), heartbeats.join(viewers)]);
    return new StreamLoad(
      ...([streamId, checker, readers, heartbeats, chatClient] as const),
      ...([producer, answerers, random] as const),
    );

    function receive({ interval, type, data }: ReadEvent): void {
      if (type === 'view-count') {
        heartbeats.receivePublishedCount(interval, (data as { value: number }).value);
      } else if (type === 'chats') {
        chatClient.receive((data as { messages: { text: string }[] }).messages);
      }
    }
  }

  async start(interval: number): Promise<void> {
    this.readers.start(interval, { live: LIVE_READERS, replaying: 1 });
    this.heartbeats.start();
    await this.chatClient.start();
    const work = [this.playRounds(), this.producer.sendEvents()];
    this.running = Promise.all(work).catch((error: Error) => {
      this.checker.expect(false, `the show failed: ${error.message}`);
    });
  }

  /** Plays the current round to its end and stops all clients. */
  async stop(): Promise<void> {
    this.isOver = true;
    this.producer.stop();
    const isFinished = this.finish().then(() => true);
    if (await Promise.race([isFinished, Bun.sleep(ROUND_LIMIT_MS).then(() => false)])) return;
    this.checker.expect(false, 'the round does not end: an event or a response is missing');
  }

  /** Reads the whole feed again on every node, and compares it and the exports with the clients. */
  async check(nodeCount: number): Promise<void> {
    const { checker, readers, producer } = this;
    checker.checkFeed(await readers.readAllAgain());
    for (let node = 0; node < nodeCount; node++) await readers.replayFrom(node);
    checker.checkAnswers(await producer.export<AnswerRow>('answers'));
    checker.checkWinners(await producer.export<WinnerRow>('winners'));
    this.chatClient.check();
  }

  private async playRounds(): Promise<void> {
    const { checker, producer, answerers, readers, random } = this;
    while (!this.isOver) {
      await playRound({
        ...{ checker, producer, answerers, readers, random },
        onQuestion: ({ closeInterval }) => {
          this.openUntilMs = intervalStartMs(closeInterval);
        },
      });
    }
  }

  private async finish(): Promise<void> {
    await this.running;
    await Promise.all([this.heartbeats.stop(), this.chatClient.stop()]);
    await Bun.sleep(SEAL_MS);
    await this.readers.stop();
  }
}

/**
 * All clients of a service: several streams and an unauthorized viewer, with the checks of what they
 * sent and received. The checks use nothing else of the service. They report violations in `checks`;
 * `check` throws only when the service cannot be read at all.
 */
export class Load {
  private constructor(
    readonly checks: Checks,
    private readonly streamLoads: readonly StreamLoad[],
    private readonly responseChecker: ResponseChecker,
    private readonly unauthorizedClient: UnauthorizedClient,
    private readonly nodes: readonly Target[],
  ) {}

  /** Creates the streams and gets the tokens of all viewers. */
  static async open(options: LoadOptions): Promise<Load> {
    const { nodes, nodePids = () => new Map(), outages, streams = 3 } = options;
    const checks = new Checks(nodePids);
    const responseChecker = new ResponseChecker(outages, checks);
    const service: TestedService = {
      nodes,
      timeoutMs: REQUEST_TIMEOUT_MS,
      onResult: responseChecker.check,
    };
    const streamLoads: StreamLoad[] = [];
    for (let stream = 0; stream < streams; stream++) {
      streamLoads.push(await StreamLoad.open(stream, service, checks, options));
    }
    const unauthorizedClient = new UnauthorizedClient(service, checks.violations);
    return new Load(checks, streamLoads, responseChecker, unauthorizedClient, nodes);
  }

  async start(): Promise<void> {
    const { hostname, port } = this.nodes[0] as Target;
    const response = await fetch(`http://${hostname}:${port}/api/v1/time`);
    const { interval } = (await response.json()) as { interval: number };
    for (const streamLoad of this.streamLoads) await streamLoad.start(interval);
    const [first, second] = this.streamLoads;
    if (first && second) await this.unauthorizedClient.start(first.streamId, second.streamId);
  }

  /** Resolves when a quiz is open for this much longer, or after `waitMs` without one. */
  async waitForOpenQuiz(remainingMs: number, waitMs = 2_500): Promise<void> {
    const giveUpMs = Date.now() + waitMs;
    const isOpen = () =>
      this.streamLoads.some(({ openUntilMs }) => openUntilMs > Date.now() + remainingMs);
    while (!isOpen() && Date.now() < giveUpMs) await Bun.sleep(5);
  }

  /** A node was just killed or cut off: the heartbeats of its last interval may be lost. */
  nodeLost(node: number): void {
    for (const { heartbeats } of this.streamLoads) heartbeats.nodeLost(node);
  }

  /** A node was restarted: its cache is empty. */
  forgetNode(node: number): void {
    this.responseChecker.forgetNode(node);
  }

  /** Resolves when all clients have ended. */
  async stop(): Promise<void> {
    const streams = this.streamLoads.map((streamLoad) => streamLoad.stop());
    await Promise.all([...streams, this.unauthorizedClient.stop()]);
    this.checks.machineLoad.stop();
  }

  /** Checks everything that was ever served or acknowledged, on every node. */
  async check(): Promise<void> {
    for (const streamLoad of this.streamLoads) await streamLoad.check(this.nodes.length);
  }

  figures(): LoadFigures {
    const sum = (of: (streamLoad: StreamLoad) => number) => {
      return this.streamLoads.reduce((total, streamLoad) => total + of(streamLoad), 0);
    };
    return {
      ...this.responseChecker.figures,
      overloadFailures: this.checks.overloadFailures.length,
      acknowledged: sum(({ checker: { figures } }) => figures.acknowledged + figures.events),
      unknown: sum(({ checker }) => checker.figures.unknown),
      refused: sum(({ checker }) => checker.figures.refused),
      checkedBodies: sum(({ checker }) => checker.figures.bodies),
      checkedCounts: sum(({ heartbeats: { figures } }) => figures.published + figures.read),
    };
  }
}
