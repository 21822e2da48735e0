import type { SimulationContext } from './viewer-client.ts';
import { type GivenToken, tokenIn } from './viewer-token.ts';

// A seat that two requests for one viewer left over is given late, below seats that are taken: so a
// probe is two, and the higher one tells.
const SEATS = 2;

/** Asks for the seats of identifiers that nobody has, to tell who else is here. */
export async function probeSeats(world: SimulationContext): Promise<void> {
  const { ledger, stats, time, localMs } = world;
  ledger.others.probing(localMs());
  try {
    const given = await Promise.all(Array.from({ length: SEATS }, () => newSeat(world)));
    ledger.probed(
      given.map(({ claims }) => claims),
      time.latestMs(localMs()),
    );
  } catch {
    stats.troubled();
    ledger.others.failed();
  }
}

async function newSeat({ askForToken, streamId, stats }: SimulationContext): Promise<GivenToken> {
  const answer = await askForToken(streamId, `probe-${crypto.randomUUID()}`);
  stats.answered();
  if (answer.status !== 200) throw new Error(`a probe was met with ${answer.status}`);
  return tokenIn(answer);
}
