import type { MockService } from '../../../../sdk/mock/mock-service.ts';
import type { SimulatedViewer } from './simulated-viewer.ts';
import type { NetworkConditions } from './virtual-network.ts';

/** Something that goes wrong. @returns what ends it */
type Mishap = (scene: {
  readonly guest: SimulatedViewer;
  readonly service: MockService;
  readonly random: () => number;
  /** How long it will be, ms. */
  readonly forMs: number;
}) => () => void;

const NOTHING = () => {};

/** What is told in the chat has no say in what has to hold. */
const PATHS = ['/time', '/token', '/view-counts/', '/events-streams/', '/quizzes/', '/streams/'];

const weather =
  (change: (random: () => number) => Partial<NetworkConditions>): Mishap =>
  ({ guest, random }) =>
    guest.network.change(change(random));

/** The service says no with this status, to some requests or to all. */
const refusal =
  (how: number): Mishap =>
  ({ service, random }) => {
    const part = random() < 0.5 ? null : PATHS[Math.floor(random() * PATHS.length)];
    const wishS = random() < 0.5 ? undefined : Math.ceil(random() * 3);
    const when = ({ path }: { path: string }) => !part || path.includes(part);
    return service.fail({ how, when, retryAfterS: how === 401 ? undefined : wishS });
  };

export const MISHAPS: Readonly<Record<string, Mishap>> = {
  'the network is gone': weather(() => ({ link: 'refuses' })),
  'the network is silent': weather(() => ({ link: 'silent' })),
  'messages are lost': weather((random) => ({ loss: 0.05 + random() * 0.4 })),
  'the network is slow': weather((random) => ({ mostDelayMs: 200 + random() * 4_000 })),
  'a proxy keeps streams to itself': weather(() => ({ isBuffering: true })),
  'streams break': ({ guest }) => {
    guest.network.cutStreams();
    return NOTHING;
  },
  'the service is silent': ({ service }) => service.fail({ how: 'silence' }),
  'the service is unavailable': refusal(503),
  'the service has too much to do': refusal(429),
  'tokens are refused': refusal(401),
  'all tokens are refused once': ({ service }) => {
    service.refuseTokens();
    return NOTHING;
  },
  'another node takes over': ({ service, random }) => {
    service.cutStreams();
    return random() < 0.5 ? service.fail({ how: 'cut' }) : service.fail({ how: 503 });
  },
  'the machine sleeps': ({ guest, random, forMs }) => {
    // Long enough to be noticed, and sometimes for longer than is caught up with.
    if (guest.machine.wasSetMs > guest.scheduler.nowMs - 10_000) return NOTHING;
    const ms = 2_000 + (random() < 0.3 ? forMs * 3 : forMs);
    guest.machine.sleep(ms, random() < 0.5);
    if (random() < 0.7) guest.network.cutStreams();
    return NOTHING;
  },
  'the clock is set': ({ guest: { machine, scheduler }, random }) => {
    const ms = (random() - 0.5) * 10 ** (2 + random() * 6);
    // Nobody can tell the two apart when one hides the other: what was asked before a sleep may be
    // waited for until 5 s after it, and only then comes a sample that knows of it.
    const wokeMs = machine.sleeps.at(-1)?.toMs ?? Number.NEGATIVE_INFINITY;
    if (wokeMs < scheduler.nowMs - 10_000) machine.setBy(ms);
    return NOTHING;
  },
  'nobody looks': ({ guest }) => {
    guest.machine.setHidden(true);
    return () => guest.machine.setHidden(false);
  },
};

/** Those that keep nothing from coming; a sleep is told by the machine itself. */
export const HARMLESS: ReadonlySet<string> = new Set([
  'the machine sleeps',
  'the clock is set',
  'nobody looks',
]);
