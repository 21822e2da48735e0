import { StudioApiError } from '../api/studio-api-error.ts';

/** The message of an error about the URL of a webhook; undefined: another error. */
export function urlErrorOf(error: unknown): string | undefined {
  return error instanceof StudioApiError && error.field === 'url' ? error.detail : undefined;
}
