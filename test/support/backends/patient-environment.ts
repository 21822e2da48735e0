import { PROCESS_ENVIRONMENT } from '../../../server/storage/redis/process-environment.ts';

const SLOWNESS = 20;

/**
 * For connections to Redis whose calls must not fail or be repeated when the server is slow, as on a busy machine:
 * it is unavailable after 5 s of silence instead of 250 ms.
 */
export const PATIENT_ENVIRONMENT = {
  ...PROCESS_ENVIRONMENT,
  monotonicMs: () => performance.now() / SLOWNESS,
};
