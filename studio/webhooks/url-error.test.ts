import { expect, test } from 'bun:test';
import { apiErrorOf, StudioApiError } from '../api/studio-api-error.ts';
import { urlErrorOf } from './url-error.ts';

const errorOf = (detail: string) => apiErrorOf(400, { detail });

test('[H-3] an error about the URL of a webhook belongs to its field, where the next attempt removes it', async () => {
  const error = errorOf('url: must lead to a public address.');
  expect(urlErrorOf(error)).toBe('The URL must lead to a public address.');
});

test('an error about something else has no field of the form of a webhook', async () => {
  expect(urlErrorOf(errorOf('An account has at most 20 webhooks.'))).toBeUndefined();
  expect(urlErrorOf(new StudioApiError(null, 'The service is unreachable.'))).toBeUndefined();
});
