import { seededRandom } from '../seeded-random.ts';
import { FAULTS, type Fault, type FaultKind, LOST_COMMITS, type PlannedFault } from './faults.ts';

/** Everything that decides a simulation: the same plan runs the same way. */
export interface Plan {
  readonly seed: number;
  /** One process with SQLite and memory, instead of nodes on PostgreSQL and Redis. */
  readonly isEmbedded: boolean;
  readonly nodes: number;
  readonly viewers: number;
  readonly faults: readonly PlannedFault[];
}

/** Faults start within this time. */
const WINDOW_MS = 6_000;
const DURATION_MIN_MS = 10;
const DURATION_SPREAD_MS = 6_000;
const FAULTS_MAX = 5;
const EMBEDDED_SHARE = 0.15;
/** The run has random numbers of its own: shrinking a plan changes nothing before the first fault that it removes. */
const PLAN_SEED = 0x5bd1e995;

/** The plan of a seed. @param kinds the kinds of faults to choose from */
export function planOf(seed: number, kinds: readonly FaultKind[]): Plan {
  const random = seededRandom(seed ^ PLAN_SEED);
  const isEmbedded = random() < EMBEDDED_SHARE;
  const nodes = isEmbedded ? 1 : 1 + Math.floor(5 * random() ** 1.3);
  const viewers = 2 + Math.floor(random() * 4);
  const possible = kinds.filter((kind) => !isEmbedded || FAULTS[kind].isForEmbedded);
  const count = possible.length === 0 ? 0 : 1 + Math.floor(random() * FAULTS_MAX);
  const faults = Array.from({ length: count }, () => ({
    kind: possible[Math.floor(random() * possible.length)] as FaultKind,
    atMs: Math.floor(random() * WINDOW_MS),
    durationMs: DURATION_MIN_MS + Math.floor(DURATION_SPREAD_MS * random() ** 3),
    victim: random(),
    strength: random(),
  }));
  const plan = { seed, isEmbedded, nodes, viewers };
  faults.sort((one, two) => one.atMs - two.atMs);
  const apart = withoutOverlaps(faults, { node: nodes, viewer: viewers, backend: 1 });
  return {
    ...plan,
    faults: losesCommits({ faults: apart }) ? apart.filter(allowsTailRepair) : apart,
  };
}

/** Leaves out faults that another of their group would end, since it is open for the same victim. */
function withoutOverlaps(
  faults: readonly PlannedFault[],
  victims: Readonly<Record<'node' | 'viewer' | 'backend', number>>,
): PlannedFault[] {
  const openUntilMs = new Map<string, number>();
  return faults.filter(({ kind, atMs, durationMs, victim }) => {
    const { group = kind, victim: kindOfVictim }: Fault = FAULTS[kind];
    const key = `${group} ${Math.floor(victim * victims[kindOfVictim])}`;
    if (atMs <= (openUntilMs.get(key) ?? -1)) return false;
    openUntilMs.set(key, atMs + durationMs);
    return true;
  });
}

/** Whether acknowledged writes are lost. */
export function losesCommits({ faults }: Pick<Plan, 'faults'>): boolean {
  return faults.some(({ kind }) => kind === LOST_COMMITS);
}

// N-22: nodes write back what they served, unless they ended meanwhile or Redis lost its data, too.
const PREVENT_TAIL_REPAIR: ReadonlySet<FaultKind> = new Set<FaultKind>([
  'kill a node',
  'restart a node',
  'rolling restart',
  'restart a node while the clock of Redis is ahead',
  'restart Redis empty',
  'restart Redis empty while replies to a node are lost',
  'promote a lagging replica of Redis',
]);
const allowsTailRepair = ({ kind }: PlannedFault) => !PREVENT_TAIL_REPAIR.has(kind);
