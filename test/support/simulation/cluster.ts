import { procedures, type Store } from '../../../server/app/procedures.ts';
import { createLibrary } from '../../../server/storage/redis/library.ts';
import type { Scheduler } from '../scheduler.ts';
import { Balancer, type Slot } from './balancer.ts';
import { Coverage } from './coverage.ts';
import { Link } from './link.ts';
import { Machine, type MachineClocks } from './machine.ts';
import { SimulatedNode } from './node.ts';
import type { Engine } from './postgres/engine.ts';
import { PostgresModel } from './postgres/server.ts';
import { createModelEnvironment, type ModelEnvironment } from './redis/model-environment.ts';
import { createRedisModel, type RedisModel } from './redis/redis-model.ts';
import { createSqliteStore, type SimulatedDisk } from './sqlite/store.ts';
import type { Timeline } from './timeline.ts';

export interface ClusterOptions {
  readonly scheduler: Scheduler;
  readonly random: () => number;
  readonly engine: Engine;
  readonly timeline: Timeline;
  readonly nodes: number;
  /** One process with SQLite and memory, instead of nodes on PostgreSQL and Redis. */
  readonly isEmbedded: boolean;
  readonly onViolation: (violation: string) => void;
}

/** The links of a node to the backends. */
export interface NodeLinks {
  readonly postgres: Link;
  readonly redis: Link;
}

const LIBRARY = createLibrary();
const LINK = { minDelayMs: 0.1, maxDelayMs: 1.5 };
/** Monotonic clocks of machines differ by up to 100 parts in a million. */
const CLOCK_RATE_SPREAD = 100e-6;
const SYSTEM_ERROR_SPREAD_MS = 200;
const RESTART_MS = 300;
const ACCEPT_CHECK_MS = 20;

/** The nodes of a service, their backends and the network between them. */
export class Cluster {
  readonly postgres: PostgresModel;
  readonly redis: RedisModel;
  /** How far the clock of Redis is ahead of true time, ms. */
  redisClockErrorMs = 0;
  readonly balancer: Balancer;
  readonly slots: Slot[] = [];
  readonly disk: SimulatedDisk = { slownessMs: 0 };
  readonly coverage = new Coverage();
  private readonly links: NodeLinks[] = [];
  private readonly clocks: MachineClocks[] = [];
  /** The differences of service time when a node last stopped accepting requests. */
  private lastOffsets = { minMs: 0, maxMs: 0 };

  constructor(private readonly options: ClusterOptions) {
    const { scheduler, random, engine, nodes } = options;
    this.postgres = new PostgresModel({ scheduler, random, engine });
    this.redis = createRedisModel({
      nowMs: () => scheduler.nowMs + this.redisClockErrorMs,
      environment: {
        monotonicMs: () => scheduler.nowMs,
        setTimer: (run, ms) => scheduler.after(ms, run),
        random,
      },
      library: LIBRARY,
    });
    for (let number = 0; number < nodes; number++) {
      const link = () => new Link({ scheduler, random, ...LINK });
      this.links.push({ postgres: link(), redis: link() });
      this.clocks.push({
        bootMs: scheduler.nowMs - 1_000 - Math.floor(random() * 1_000_000),
        rate: 1 + (random() - 0.5) * CLOCK_RATE_SPREAD,
        systemErrorMs: (random() - 0.5) * SYSTEM_ERROR_SPREAD_MS,
      });
      this.slots.push(this.createSlot(number));
    }
    this.balancer = new Balancer(this.slots, random);
  }

  linksOf(slot: number): NodeLinks {
    return this.links[slot] as NodeLinks;
  }

  slot(number: number): Slot {
    return this.slots[number] as Slot;
  }

  /**
   * Smallest and largest difference of service time to true time on any node that accepts requests, ms.
   * While none does, those from before and 0: the last node may have counted requests that it did not answer, and the
   * next one may start with another time.
   */
  serviceOffsets(): { minMs: number; maxMs: number } {
    let minMs = Number.POSITIVE_INFINITY;
    let maxMs = Number.NEGATIVE_INFINITY;
    for (const { machine, node, accepts } of this.slots) {
      if (!accepts) continue;
      const offsetMs = machine.read(() => node.nowMs()) - this.options.scheduler.nowMs;
      minMs = Math.min(minMs, offsetMs);
      maxMs = Math.max(maxMs, offsetMs);
    }
    if (minMs <= maxMs) return { minMs, maxMs };
    const { lastOffsets } = this;
    return { minMs: Math.min(0, lastOffsets.minMs), maxMs: Math.max(0, lastOffsets.maxMs) };
  }

  start(number: number): void {
    const slot = this.slot(number);
    const { machine, node } = slot;
    machine.run(() => {
      const opened = () => {
        if (slot.machine === machine) slot.accepts = true;
      };
      node.start().then(opened, (error: Error) => {
        if (machine.isDead()) return;
        this.options.timeline.add(`node ${number} could not start: ${error.message}`);
        machine.runtime.setTimeout(() => this.restart(number), RESTART_MS);
      });
    });
  }

  /** Ends a node's process at once; its connections are closed. */
  kill(number: number): void {
    const slot = this.slot(number);
    this.stopAccepting(slot);
    slot.machine.kill();
    slot.node.closeConnections();
    for (const exchange of [...slot.exchanges]) exchange.onReset();
    slot.exchanges.clear();
  }

  /** Starts a new process in a slot. */
  restart(number: number): void {
    const slot = this.slot(number);
    if (!slot.machine.isDead()) this.kill(number);
    this.coverage.add('a node started again');
    const { machine, node } = this.createParts(number);
    Object.assign(slot, { machine, node });
    this.start(number);
  }

  /** Stops a node as SIGTERM does, then ends its process. */
  stop(number: number, onStopped: () => void): void {
    const slot = this.slot(number);
    const { machine, node } = slot;
    const closePort = () => this.stopAccepting(slot);
    machine.run(() => {
      void node.stop(closePort).finally(() => {
        if (slot.machine !== machine || machine.isDead()) return;
        this.kill(number);
        onStopped();
      });
    });
  }

  /** Calls back once the node in a slot accepts requests. */
  whenAccepting(number: number, then: () => void): void {
    const check = (): void => {
      if (this.slot(number).accepts) then();
      else this.options.scheduler.after(ACCEPT_CHECK_MS, check);
    };
    check();
  }

  private stopAccepting(slot: Slot): void {
    this.lastOffsets = this.serviceOffsets();
    slot.accepts = false;
  }

  private createSlot(number: number): Slot {
    return { number, ...this.createParts(number), accepts: false, exchanges: new Set() };
  }

  private createParts(number: number): { machine: Machine; node: SimulatedNode } {
    const { scheduler, random, onViolation, isEmbedded } = this.options;
    const clocks = this.clocks[number] as MachineClocks;
    const machine = new Machine({ scheduler, random, clocks });
    const node = new SimulatedNode({
      machine,
      postgres: this.postgres,
      coverage: this.coverage,
      embedded: isEmbedded ? () => this.openEmbedded(machine) : null,
      postgresLink: this.linksOf(number).postgres,
      connectRedis: () => this.connectRedis(machine, this.linksOf(number).redis),
      onDefect: (message) => onViolation(`node ${number}: ${message}`),
    });
    return { machine, node };
  }

  private connectRedis(machine: Machine, link: Link): ModelEnvironment {
    const { runtime } = machine;
    const toServer = link.channel('requests');
    const toClient = link.channel('replies');
    return createModelEnvironment({
      server: this.redis,
      link: {
        toServer,
        toClient: (arrive) => toClient(() => machine.run(arrive)),
      },
      timers: {
        monotonicMs: runtime.monotonicMs,
        setTimer: (run, ms) => {
          const timer = runtime.setTimeout(run, ms);
          return () => runtime.clearTimer(timer);
        },
        random: runtime.random,
      },
    });
  }

  private openEmbedded(machine: Machine): Store {
    const { scheduler, random, engine } = this.options;
    return createSqliteStore({ scheduler, random, machine, engine, procedures, disk: this.disk });
  }
}
