import type { Logger } from 'pino';
import { Unavailable } from './errors.ts';

const RETRY_MS = 500;
/** A retry that is logged: the first, and then each after so many. */
const LOG_EVERY = 20;

/**
 * Calls `work` until its server is available, and logs a warning every 10 s (SPEC N-2).
 * @param name of the server, for the operator
 * @throws every error other than `Unavailable`, which a retry does not solve
 */
export async function retryUntilAvailable<T>(
  name: string,
  logger: Logger,
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      if (attempt % LOG_EVERY === 0) {
        logger.warn({ reason: error.message }, `${name} cannot be reached; trying again`);
      }
    }
    await Bun.sleep(RETRY_MS);
  }
}
