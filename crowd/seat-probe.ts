import type { SimulationContext } from './viewer-client.ts';
import { type IssuedToken, parseToken } from './viewer-token.ts';

// When two token requests of one viewer race, the service may assign an unused lower seat later. A
// probe therefore takes two seats: the higher one is the newest.
const PROBE_SEATS = 2;

/** Gets seats for new identifiers, which reveal how many viewers outside of the crowd have joined. */
export async function probeSeats(context: SimulationContext): Promise<void> {
  const { ledger, stats, time, localMs } = context;
  ledger.externalViewers.probeSent(localMs());
  try {
    const tokens = await Promise.all(Array.from({ length: PROBE_SEATS }, () => newSeat(context)));
    ledger.onProbe(
      tokens.map(({ claims }) => claims),
      time.latestMs(localMs()),
    );
  } catch {
    stats.requestFailed();
    ledger.externalViewers.probeFailed();
  }
}

async function newSeat({ requestToken, streamId, stats }: SimulationContext): Promise<IssuedToken> {
  const response = await requestToken(streamId, `probe-${crypto.randomUUID()}`);
  stats.requestCompleted();
  if (response.status !== 200) throw new Error(`a seat probe got status ${response.status}`);
  return parseToken(response);
}
