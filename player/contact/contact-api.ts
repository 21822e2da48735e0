import type { ContactPost, OwnContact } from '../../protocol/winner-contacts.ts';

/** What the host asks this viewer, who won. */
export type ContactRequest = NonNullable<OwnContact['request']>;
export type ContactDetails = Omit<ContactPost, 'roundId'>;

/** The requests with which a winner gives its contact details. They reject when the service fails. */
export interface ContactApi {
  /** Null: the viewer is not asked. */
  read(): Promise<ContactRequest | null>;
  /** @returns false when the viewer is no longer asked */
  save(roundId: string, details: ContactDetails): Promise<boolean>;
  erase(): Promise<void>;
}

interface ContactApiOptions {
  readonly streamId: string;
  readonly viewerId: string;
  readonly fetch: (url: string, init?: RequestInit) => Promise<Response>;
}

/**
 * The requests have tokens of their own: those of the SDK are not renewed after the end of the show.
 * Few viewers win, and each of them sends few of these requests.
 */
export function createContactApi({ streamId, viewerId, fetch }: ContactApiOptions): ContactApi {
  const send = async (method: string, path: string, token: string | null, body?: object) => {
    const response = await fetch(`/api/v1/${path}`, {
      method,
      headers: {
        ...(token !== null && { Authorization: `Bearer ${token}` }),
        ...(body && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!response.ok && response.status !== 409) throw new Error(`status ${response.status}`);
    return response;
  };
  const sendAsViewer = async (method: string, body?: object) => {
    const identity = { stream_id: streamId, unique_user_identifier: viewerId };
    const response = await send('POST', 'token', null, identity);
    const { token } = (await response.json()) as { token: string };
    return send(method, `quizzes/${streamId}/winner-contact`, token, body);
  };
  return {
    read: async () => {
      const response = await sendAsViewer('GET');
      return ((await response.json()) as OwnContact).request;
    },
    save: async (roundId, details) => (await sendAsViewer('POST', { roundId, ...details })).ok,
    erase: async () => {
      await sendAsViewer('DELETE');
    },
  };
}
