import { describe, expect, test } from 'bun:test';
import { rateLimitKey } from '../../http/address.ts';
import { type AdmittedConnection, RtmpAdmission } from './rtmp-admission.ts';
import { RTMP_LIMITS } from './rtmp-limits.ts';

type Phase = 'silent' | 'opening' | 'live' | 'closed';

/** Connections without sockets. */
class Admissions {
  nowMs = 0;
  private readonly admission = new RtmpAdmission<FakeConnection>(RTMP_LIMITS, () => this.nowMs);

  /** @returns the connection; null when it is refused */
  connect(address: string): FakeConnection | null {
    const rateLimitGroup = rateLimitKey(address);
    if (!this.admission.makeRoom(rateLimitGroup)) return null;
    const connection = new FakeConnection((each) => this.admission.onPhaseChange(each));
    this.admission.add(connection, rateLimitGroup);
    return connection;
  }

  /** Connects once from each of many /64 networks of one /48, 256 a second. */
  fill(network: string, count: number): FakeConnection[] {
    return Array.from({ length: count }, (_, n) => {
      if (n % 256 === 0) this.nowMs += 1_000;
      return this.connect(`${network}:${n.toString(16)}::1`) as FakeConnection;
    });
  }

  release(connection: FakeConnection | null): void {
    if (connection) this.admission.release(connection);
  }
}

class FakeConnection implements AdmittedConnection {
  phase: Phase = 'silent';

  constructor(private readonly onPhaseChange: (connection: FakeConnection) => void) {}

  enter(phase: Phase): void {
    this.phase = phase;
    this.onPhaseChange(this);
  }

  isLive(): boolean {
    return this.phase === 'live';
  }

  isReplaceable(): boolean {
    return this.phase === 'silent' || this.phase === 'closed';
  }

  closeAtOnce(): void {
    this.enter('closed');
  }
}

const NETWORK = '2001:db8:1';

describe('[M-16] RTMP admission', () => {
  test('refuses more than 300 connections a second of one IPv6 /48', () => {
    const admissions = new Admissions();
    admissions.fill(NETWORK, 512);
    admissions.nowMs += 1_000;
    const addresses = Array.from({ length: 1_000 }, (_, n) => `${NETWORK}:${n.toString(16)}::2`);
    const accepted = addresses.filter((address) => admissions.connect(address) !== null);
    expect(accepted).toHaveLength(300);
    expect(admissions.connect('2001:db8:2::1')).not.toBeNull();
    admissions.nowMs += 1_000;
    expect(admissions.connect(`${NETWORK}:f000::1`)).not.toBeNull();
  });

  test('a further connection replaces the one that waits longest in the network with the most', () => {
    const admissions = new Admissions();
    const slow = admissions.connect('2001:db8:2::1');
    const [opening, live, first, second] = admissions.fill(NETWORK, 511);
    opening?.enter('opening');
    live?.enter('live');
    const phases = () => [slow, opening, live, first, second].map((each) => each?.phase);
    admissions.nowMs += 1_000;
    admissions.connect('2001:db8:3::1');
    expect(phases()).toEqual(['silent', 'opening', 'live', 'closed', 'silent']);
    // Its socket has not closed yet.
    admissions.connect('2001:db8:3::1');
    expect(phases()).toEqual(['silent', 'opening', 'live', 'closed', 'closed']);
  });

  test('refuses a further connection while all 512 are live or opening', () => {
    const admissions = new Admissions();
    const connections = admissions.fill(NETWORK, 512);
    for (const [index, each] of connections.entries()) each.enter(index % 2 ? 'live' : 'opening');
    expect(admissions.connect('2001:db8:2::1')).toBeNull();
    // One that is refused and stays connected is replaced.
    connections[0]?.enter('closed');
    expect(admissions.connect('2001:db8:2::1')).not.toBeNull();
    expect(admissions.connect('2001:db8:3::1')).not.toBeNull();
    expect(connections[2]?.phase).toBe('opening');
  });

  test('counts 16 connections of an address that are not live, and closed ones for a second', () => {
    const admissions = new Admissions();
    const connect = () => admissions.connect('192.0.2.1');
    const [first = null, second = null] = Array.from({ length: 16 }, connect);
    expect(connect()).toBeNull();
    first?.enter('live');
    expect(connect()).not.toBeNull();
    expect(connect()).toBeNull();
    second?.enter('closed');
    admissions.release(second);
    admissions.nowMs += RTMP_LIMITS.closedHoldMs - 1;
    expect(connect()).toBeNull();
    admissions.nowMs++;
    expect(connect()).not.toBeNull();
    // A source that has ended counts again.
    first?.enter('closed');
    admissions.release(first);
    expect(connect()).toBeNull();
    expect(admissions.connect('192.0.2.2')).not.toBeNull();
  });
});
