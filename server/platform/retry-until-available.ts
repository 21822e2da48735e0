import type { Logger } from 'pino';
import { Unavailable } from './errors.ts';

// What is unavailable is tried again this often, and said again every so many times.
const RETRY_MS = 500;
const SAID_EVERY = 20;

/**
 * Does something until a server that is unavailable can be reached, and says so meanwhile (SPEC N-2).
 * @param name of the server, for the operator
 * @throws what does not heal by itself
 */
export async function retryUntilAvailable<T>(
  name: string,
  logger: Logger,
  work: () => Promise<T>,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      if (tries % SAID_EVERY === 0) {
        logger.warn({ reason: error.message }, `${name} cannot be reached; trying again`);
      }
    }
    await Bun.sleep(RETRY_MS);
  }
}
