import type { ContactPost, OwnContact } from '../../protocol/winner-contacts.ts';
import { realEnvironment } from '../../sdk/environment.ts';
import { TokenSource } from '../../sdk/token-source.ts';

/** What the host asks this viewer, who won. */
export type ContactRequest = NonNullable<OwnContact['request']>;
export type ContactDetails = Omit<ContactPost, 'roundId'>;

/** The requests with which a winner gives its contact details. They reject when the service fails. */
export interface ContactApi {
  read(): Promise<OwnContact>;
  /** @returns false when the viewer is no longer asked */
  save(roundId: string, details: ContactDetails): Promise<boolean>;
  /** Erases the details of all rounds of the stream. */
  erase(): Promise<void>;
}

interface ContactApiOptions {
  readonly streamId: string;
  readonly viewerId: string;
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
}

/**
 * The requests have tokens of their own, which are requested when they are needed: those of the SDK are
 * not renewed after the end of the show. Few viewers win, and a token serves for the reads of ten minutes.
 */
export function createContactApi({ streamId, viewerId, fetch }: ContactApiOptions): ContactApi {
  const send = (method: string, path: string, token: string | null, body?: object) =>
    fetch(`/api/v1/${path}`, {
      method,
      headers: {
        ...(token !== null && { Authorization: `Bearer ${token}` }),
        ...(body && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  const tokens = new TokenSource(realEnvironment(), async () => {
    const identity = { stream_id: streamId, unique_user_identifier: viewerId };
    const response = await requireOk(await send('POST', 'token', null, identity));
    return ((await response.json()) as { token: string }).token;
  });
  tokens.stopRenewal();
  const sendAsViewer = async (method: string, body?: object) => {
    const path = `quizzes/${streamId}/winner-contact`;
    const token = await tokens.get();
    const response = await send(method, path, token, body);
    if (response.status !== 401) return requireOk(response);
    // The token expired while the machine slept, when the clock of the page stands still.
    tokens.reject(token);
    return requireOk(await send(method, path, await tokens.get(), body));
  };
  return {
    read: async () => (await (await sendAsViewer('GET')).json()) as OwnContact,
    save: async (roundId, details) => (await sendAsViewer('POST', { roundId, ...details })).ok,
    erase: async () => {
      await sendAsViewer('DELETE');
    },
  };
}

/** @throws Error for a status other than success and 409 */
function requireOk(response: Response): Response {
  if (!response.ok && response.status !== 409) throw new Error(`status ${response.status}`);
  return response;
}
