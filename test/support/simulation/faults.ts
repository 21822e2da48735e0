import type { Scheduler } from '../scheduler.ts';
import type { Cluster } from './cluster.ts';
import type { SdkViewer } from './sdk-viewer.ts';
import type { Timeline } from './timeline.ts';

/** A fault of a plan. */
export interface PlannedFault {
  readonly kind: FaultKind;
  /** Since the first moment at which faults may start. */
  readonly atMs: number;
  readonly durationMs: number;
  /** Which node, viewer or strength: 0 to 1. */
  readonly choice: number;
}

interface FaultContext {
  readonly cluster: Cluster;
  readonly viewers: readonly SdkViewer[];
  readonly timeline: Timeline;
  readonly scheduler: Scheduler;
  readonly random: () => number;
}

interface Fault {
  /** Whether it can happen to a single process. */
  readonly isForEmbedded: boolean;
  /** Begins the fault. @returns what ends it */
  readonly begin: (context: FaultContext, fault: PlannedFault) => () => void;
}

type Begin = Fault['begin'];

const anywhere = (begin: Begin): Fault => ({ isForEmbedded: true, begin });
const ofNodes = (begin: Begin): Fault => ({ isForEmbedded: false, begin });

const nodeOf = ({ cluster }: FaultContext, { choice }: PlannedFault): number =>
  Math.floor(choice * cluster.slots.length);

const NOTHING = () => {};

/** A fault of one viewer, if there is one yet. */
const ofViewer = (
  begin: (viewer: SdkViewer, context: FaultContext, fault: PlannedFault) => () => void,
): Fault =>
  anywhere((context, fault) => {
    const viewer = context.viewers[Math.floor(fault.choice * context.viewers.length)];
    return viewer ? begin(viewer, context, fault) : NOTHING;
  });

/** Acknowledged writes are lost: the oracle judges less (`isLossy`). */
export const LOST_COMMITS = 'promote a lagging standby of PostgreSQL';

export const FAULTS = {
  'kill a node': anywhere((context, fault) => {
    const number = nodeOf(context, fault);
    context.cluster.kill(number);
    return () => context.cluster.restart(number);
  }),
  'restart a node': anywhere((context, fault) => {
    const number = nodeOf(context, fault);
    const { cluster } = context;
    if (cluster.slot(number).accepts) cluster.stop(number, () => cluster.restart(number));
    return NOTHING;
  }),
  'rolling restart': ofNodes(({ cluster }) => {
    const next = (number: number): void => {
      if (number >= cluster.slots.length) return;
      if (!cluster.slot(number).accepts) {
        next(number + 1);
        return;
      }
      cluster.stop(number, () => {
        cluster.restart(number);
        cluster.whenAccepting(number, () => next(number + 1));
      });
    };
    next(0);
    return NOTHING;
  }),
  'a busy node': anywhere((context, fault) => {
    const number = nodeOf(context, fault);
    const { machine } = context.cluster.slot(number);
    machine.eventMs = 0.05 + fault.choice * 0.5;
    // Its work may wait, as during a stall.
    context.timeline.stalled(number, fault.durationMs);
    return () => {
      machine.eventMs = 0;
    };
  }),
  'stall a node': anywhere((context, fault) => {
    const number = nodeOf(context, fault);
    context.timeline.stalled(number, fault.durationMs);
    context.cluster.slot(number).machine.stall(fault.durationMs);
    return NOTHING;
  }),
  'set the system clock of a node': anywhere((context, fault) => {
    const { machine } = context.cluster.slot(nodeOf(context, fault));
    machine.stepSystemClock((fault.choice - 0.5) * 7_200_000);
    return NOTHING;
  }),
  'slow disk': anywhere(({ cluster }, { choice }) => {
    cluster.disk.slownessMs = 5 + choice * 300;
    return () => {
      cluster.disk.slownessMs = 0;
    };
  }),
  'cut a node from PostgreSQL': ofNodes((context, fault) => {
    const { postgres } = context.cluster.linksOf(nodeOf(context, fault));
    postgres.silence('both');
    return () => postgres.repair();
  }),
  'slow way to PostgreSQL': ofNodes((context, fault) => {
    const { postgres } = context.cluster.linksOf(nodeOf(context, fault));
    postgres.slownessMs = 2 + fault.choice * 40;
    return () => {
      postgres.slownessMs = 0;
    };
  }),
  'stop PostgreSQL': ofNodes(({ cluster }) => {
    cluster.postgres.stop();
    return () => cluster.postgres.start();
  }),
  'slow PostgreSQL': ofNodes(({ cluster }, { choice }) => {
    cluster.postgres.slownessMs = 2 + choice * 60;
    return () => {
      cluster.postgres.slownessMs = 0;
    };
  }),
  'deadlocks in PostgreSQL': ofNodes(({ cluster }, { choice }) => {
    cluster.postgres.deadlocks = 0.02 + choice * 0.2;
    return () => {
      cluster.postgres.deadlocks = 0;
    };
  }),
  [LOST_COMMITS]: ofNodes(({ cluster }) => cluster.postgres.lag()),
  'cut a node from Redis': ofNodes((context, fault) => {
    const { redis } = context.cluster.linksOf(nodeOf(context, fault));
    redis.silence('both');
    return () => redis.repair();
  }),
  'lose the replies of Redis to a node': ofNodes((context, fault) => {
    const { redis } = context.cluster.linksOf(nodeOf(context, fault));
    redis.silence('replies');
    return () => redis.repair();
  }),
  // A node that sends a batch again must not believe that Redis knows it.
  'restart Redis empty while replies to a node are lost': ofNodes((context, fault) => {
    const { cluster } = context;
    const { redis } = cluster.linksOf(nodeOf(context, fault));
    redis.silence('replies');
    return () => {
      cluster.redis.restart({ keepsData: false });
      redis.repair();
    };
  }),
  'lose the replies of PostgreSQL to a node': ofNodes((context, fault) => {
    const { postgres } = context.cluster.linksOf(nodeOf(context, fault));
    postgres.silence('replies');
    return () => postgres.repair();
  }),
  'slow way to Redis': ofNodes((context, fault) => {
    const { redis } = context.cluster.linksOf(nodeOf(context, fault));
    redis.slownessMs = 5 + fault.choice * 150;
    return () => {
      redis.slownessMs = 0;
    };
  }),
  'restart Redis empty': ofNodes(({ cluster }) => {
    cluster.redis.stop();
    return () => cluster.redis.restart({ keepsData: false });
  }),
  'pause Redis': ofNodes(({ cluster }) => {
    cluster.redis.pause();
    return () => cluster.redis.resume();
  }),
  'promote a lagging replica of Redis': ofNodes(({ cluster }, { choice }) => {
    cluster.redis.attachReplica({ lagMs: choice * 700 });
    return () => {
      if (cluster.redis.replicationLagMs() < Number.POSITIVE_INFINITY) cluster.redis.failOver();
    };
  }),
  'set the clock of Redis': ofNodes(({ cluster }, { choice }) => {
    // One of five is wrong by hours: nodes doubt a clock that is so far ahead of all of them.
    cluster.redisClockErrorMs = (choice - 0.5) * (choice % 0.2 < 0.04 ? 14_400_000 : 3_000);
    return () => {
      cluster.redisClockErrorMs = 0;
    };
  }),
  'the network of a viewer is gone': ofViewer((viewer, { random }) => {
    viewer.network.link = random() < 0.5 ? 'refuses' : 'silent';
    return () => {
      viewer.network.link = 'up';
    };
  }),
  'a viewer loses messages': ofViewer((viewer, { random }) => {
    viewer.network.loss = 0.05 + random() * 0.4;
    return () => {
      viewer.network.loss = 0;
    };
  }),
  'slow network of a viewer': ofViewer((viewer, { random }) => {
    viewer.network.slownessMs = random() * 2_000;
    return () => {
      viewer.network.slownessMs = 0;
    };
  }),
  'a viewer changes its network': ofViewer((viewer) => {
    viewer.network.breakConnections();
    return NOTHING;
  }),
  'the machine of a viewer sleeps': ofViewer((viewer, { random }, { durationMs }) => {
    viewer.machine.sleep(500 + durationMs, random() < 0.5);
    if (random() < 0.7) viewer.network.breakConnections();
    return NOTHING;
  }),
} satisfies Record<string, Fault>;

export type FaultKind = keyof typeof FAULTS;

export const FAULT_KINDS = Object.keys(FAULTS) as FaultKind[];

/** During these no acknowledged post is lost (N-13): nodes that stop hand over what they have. */
export const HARMLESS_FOR_POSTS: ReadonlySet<string> = new Set<FaultKind>([
  'restart a node',
  'rolling restart',
  'slow disk',
  'set the system clock of a node',
  'the network of a viewer is gone',
  'a viewer loses messages',
  'slow network of a viewer',
  'a viewer changes its network',
  'the machine of a viewer sleeps',
]);

/** Starts a fault, and ends it after its time. */
export function startFault(fault: PlannedFault, context: FaultContext): void {
  const { timeline, scheduler } = context;
  const { kind, durationMs, choice } = fault;
  const endFault = timeline.beginFault(kind, `${kind} (${choice.toFixed(3)}) for ${durationMs} ms`);
  const repair = FAULTS[kind].begin(context, fault);
  scheduler.after(durationMs, () => {
    repair();
    endFault();
  });
}
