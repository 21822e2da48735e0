import type { Logger } from 'pino';
import { Unavailable } from './errors.ts';
import { runtime } from './runtime.ts';

const RETRY_MS = 500;
/** The first failed attempt is logged, and then every 20th: one warning in 10 s. */
const LOG_EVERY = 20;

/**
 * Calls `work` until its server is available, and logs a warning every 10 s (SPEC N-2).
 * @param name of the server, for the operator
 * @throws every error other than `Unavailable`: a retry does not solve it
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
    await runtime.sleep(RETRY_MS);
  }
}
