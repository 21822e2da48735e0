import type { Scheduler } from '../scheduler.ts';
import type { Cluster, NodeLinks } from './cluster.ts';
import type { Link } from './link.ts';
import type { SdkViewer } from './sdk-viewer.ts';
import type { Timeline } from './timeline.ts';

/** A fault of a plan. */
export interface PlannedFault {
  readonly kind: FaultKind;
  /** Since the first moment at which faults may start. */
  readonly atMs: number;
  readonly durationMs: number;
  /** Which node or viewer: 0 to 1. */
  readonly victim: number;
  /** 0 to 1. */
  readonly strength: number;
}

interface FaultContext {
  readonly cluster: Cluster;
  readonly viewers: readonly SdkViewer[];
  readonly timeline: Timeline;
  readonly scheduler: Scheduler;
  readonly random: () => number;
}

/** Begins a fault. @returns what ends it */
type Begin = (context: FaultContext, fault: PlannedFault) => () => void;

export interface Fault {
  /** What it happens to; the disk and the backends are one for all nodes. */
  readonly victim: 'node' | 'viewer' | 'backend';
  /** Whether it can happen to a single process, which has no servers beside it. */
  readonly isForEmbedded: boolean;
  /** Faults with one group do not overlap for one victim, since the end of one ends the others. */
  readonly group?: string;
  readonly begin: Begin;
}

const NOTHING = () => {};

/** A fault of one node. @param number its place in the cluster */
type BeginOfNode = (number: number, context: FaultContext, fault: PlannedFault) => () => void;

function ofNode(begin: BeginOfNode, options: Partial<Fault> = {}): Fault {
  return {
    ...{ victim: 'node', isForEmbedded: true, ...options },
    begin: (context, fault) =>
      begin(Math.floor(fault.victim * context.cluster.slots.length), context, fault),
  };
}

/** A fault of the way between a node and a server. */
type BeginOfLink = (link: Link, context: FaultContext, fault: PlannedFault) => () => void;

const ofLink =
  (server: keyof NodeLinks) =>
  (begin: BeginOfLink, group?: string): Fault =>
    ofNode(
      (number, context, fault) => begin(context.cluster.linksOf(number)[server], context, fault),
      { isForEmbedded: false, ...(group && { group }) },
    );

const ofPostgresLink = ofLink('postgres');
const ofRedisLink = ofLink('redis');

const ofBackend = (begin: Begin, group?: string): Fault => ({
  ...{ victim: 'backend', isForEmbedded: false, begin },
  ...(group && { group }),
});

/** A fault of one viewer, if there is one yet. */
const ofViewer = (
  begin: (viewer: SdkViewer, context: FaultContext, fault: PlannedFault) => () => void,
): Fault => ({
  ...{ victim: 'viewer', isForEmbedded: true },
  begin: (context, fault) => {
    const viewer = context.viewers[Math.floor(fault.victim * context.viewers.length)];
    return viewer ? begin(viewer, context, fault) : NOTHING;
  },
});

const POSTGRES_LINK = 'the link to PostgreSQL is silent';
const REDIS_LINK = 'the link to Redis is silent';
const POSTGRES_SERVER = 'PostgreSQL does not run';
const REDIS_SERVER = 'Redis does not run';
const REDIS_CLOCK = 'the clock of Redis is wrong';

/** Acknowledged writes are lost: the oracle judges less (`isLossy`). */
export const LOST_COMMITS = 'promote a lagging standby of PostgreSQL';

export const FAULTS = {
  'kill a node': ofNode((number, { cluster }) => {
    cluster.kill(number);
    return () => cluster.restart(number);
  }),
  'restart a node': ofNode((number, { cluster }) => {
    if (cluster.slot(number).accepts) cluster.stop(number, () => cluster.restart(number));
    return NOTHING;
  }),
  'rolling restart': ofBackend(({ cluster }) => {
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
  'a busy node': ofNode((number, { cluster, timeline }, { strength, durationMs }) => {
    const { machine } = cluster.slot(number);
    machine.eventMs = 0.05 + strength * 0.5;
    // Its work may wait, as during a stall.
    timeline.stalled(number, durationMs);
    return () => {
      machine.eventMs = 0;
    };
  }),
  'stall a node': ofNode((number, { cluster, timeline }, { durationMs }) => {
    timeline.stalled(number, durationMs);
    cluster.slot(number).machine.stall(durationMs);
    return NOTHING;
  }),
  'set the system clock of a node': ofNode((number, { cluster }, { strength }) => {
    cluster.slot(number).machine.stepSystemClock((strength - 0.5) * 7_200_000);
    return NOTHING;
  }),
  'slow disk': {
    ...{ victim: 'backend', isForEmbedded: true },
    begin: ({ cluster }, { strength }) => {
      cluster.disk.slownessMs = 5 + strength * 300;
      return () => {
        cluster.disk.slownessMs = 0;
      };
    },
  },
  'cut a node from PostgreSQL': ofPostgresLink((link) => {
    link.silence('both');
    return () => link.repair();
  }, POSTGRES_LINK),
  'lose the replies of PostgreSQL to a node': ofPostgresLink((link) => {
    link.silence('replies');
    return () => link.repair();
  }, POSTGRES_LINK),
  'slow way to PostgreSQL': ofPostgresLink((link, _, { strength }) => {
    // From about 80 on, an answer is stored after the interval in which its quiz closed was sealed.
    link.slownessMs = 2 + strength * 150;
    return () => {
      link.slownessMs = 0;
    };
  }),
  'stop PostgreSQL': ofBackend(({ cluster }) => {
    cluster.postgres.stop();
    return () => cluster.postgres.start();
  }, POSTGRES_SERVER),
  'pause PostgreSQL': ofBackend(({ cluster }) => {
    cluster.postgres.pause();
    return () => cluster.postgres.resume();
  }, POSTGRES_SERVER),
  'slow PostgreSQL': ofBackend(({ cluster }, { strength }) => {
    cluster.postgres.slownessMs = 2 + strength * 60;
    return () => {
      cluster.postgres.slownessMs = 0;
    };
  }),
  'deadlocks in PostgreSQL': ofBackend(({ cluster }, { strength }) => {
    cluster.postgres.deadlocks = 0.02 + strength * 0.2;
    return () => {
      cluster.postgres.deadlocks = 0;
    };
  }),
  'PostgreSQL loses connections after commits': ofBackend(({ cluster }, { strength }) => {
    cluster.postgres.lostResponses = 0.02 + strength * 0.3;
    return () => {
      cluster.postgres.lostResponses = 0;
    };
  }),
  [LOST_COMMITS]: ofBackend(({ cluster }) => cluster.postgres.lag(), POSTGRES_SERVER),
  'cut a node from Redis': ofRedisLink((link) => {
    link.silence('both');
    return () => link.repair();
  }, REDIS_LINK),
  'lose the replies of Redis to a node': ofRedisLink((link) => {
    link.silence('replies');
    return () => link.repair();
  }, REDIS_LINK),
  // A node that sends a batch again must not believe that Redis knows it.
  'restart Redis empty while replies to a node are lost': ofRedisLink((link, { cluster }) => {
    link.silence('replies');
    return () => {
      cluster.redis.restart({ keepsData: false });
      link.repair();
    };
  }, REDIS_LINK),
  'slow way to Redis': ofRedisLink((link, _, { strength }) => {
    link.slownessMs = 5 + strength * 150;
    return () => {
      link.slownessMs = 0;
    };
  }),
  'restart Redis empty': ofBackend(({ cluster }) => {
    cluster.redis.stop();
    return () => cluster.redis.restart({ keepsData: false });
  }, REDIS_SERVER),
  'pause Redis': ofBackend(({ cluster }) => {
    cluster.redis.pause();
    return () => cluster.redis.resume();
  }, REDIS_SERVER),
  'promote a lagging replica of Redis': ofBackend(({ cluster }, { strength }) => {
    cluster.redis.attachReplica({ lagMs: strength * 700 });
    return () => {
      if (cluster.redis.replicationLagMs() < Number.POSITIVE_INFINITY) cluster.redis.failOver();
    };
  }),
  'set the clock of Redis': ofBackend(({ cluster, random }, { strength }) => {
    // One of five is wrong by hours: nodes doubt a clock that is so far ahead of all of them.
    cluster.redisClockErrorMs = (strength - 0.5) * (random() < 0.2 ? 14_400_000 : 3_000);
    return () => {
      cluster.redisClockErrorMs = 0;
    };
  }, REDIS_CLOCK),
  // It starts with a service time that the other nodes lag behind.
  'restart a node while the clock of Redis is ahead': ofBackend(
    ({ cluster }, { victim, strength }) => {
      cluster.redisClockErrorMs = 500 + strength * 2_000;
      const number = Math.floor(victim * cluster.slots.length);
      if (cluster.slot(number).accepts) cluster.stop(number, () => cluster.restart(number));
      return () => {
        cluster.redisClockErrorMs = 0;
      };
    },
    REDIS_CLOCK,
  ),
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
  const { kind, durationMs, victim, strength } = fault;
  const values = `${victim.toFixed(3)}, ${strength.toFixed(3)}`;
  const endFault = timeline.beginFault(kind, `${kind} (${values}) for ${durationMs} ms`);
  const repair = FAULTS[kind].begin(context, fault);
  scheduler.after(durationMs, () => {
    repair();
    endFault();
  });
}
