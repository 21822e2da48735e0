import type { Environment, Storage } from './environment.ts';

/** Where the parts of a service are that is split. */
export interface Urls {
  /** `{base_url}` of the interface: streams, and the time. */
  readonly base: string;
  /** `{auth_url}` */
  readonly auth: string;
  /** `{view_counts_url}` */
  readonly viewCounts: string;
  /** `{polls_url}` */
  readonly polls: string;
  /** `{events_stream_url}` */
  readonly events: string;
}

interface CommonOptions {
  readonly streamId: string;
  /** Unique for each user: an id, or a fingerprint of the client. 1 to 256 characters. */
  readonly viewerId: string;
  /** Shown beside what the viewer writes. */
  readonly name?: string | undefined;
  /** Brings a viewer token, for example from the app's own backend; without it the service is asked. */
  readonly getToken?: (() => Promise<string>) | undefined;
  /** How the feed is read: `auto` streams where the machine can. */
  readonly transport?: 'auto' | 'stream' | 'poll' | undefined;
  /** How long somebody whose page is hidden is counted, ms; for ever by default. */
  readonly hiddenMs?: number | undefined;
  /** How much that was missed is caught up with, ms; what is older is passed over. 60 s by default. */
  readonly catchUpMs?: number | undefined;
  /**
   * Where answers and the score are kept over a reload: `localStorage` where there is one. null
   * keeps nothing.
   */
  readonly storage?: Storage | null | undefined;
  /** What a test puts in place of the machine. */
  readonly environment?: Partial<Environment> | undefined;
}

export type JoinOptions = CommonOptions &
  (
    | { /** Where everything is: `https://live.example`. */ readonly baseUrl: string }
    | { readonly urls: Urls }
  );

const PARTS = ['base', 'auth', 'viewCounts', 'polls', 'events'] as const;

/** @throws TypeError that says what is missing */
export function urlsOf(options: JoinOptions): Urls {
  const urls: Partial<Record<keyof Urls, string>> = {};
  for (const part of PARTS) {
    const url: unknown = 'urls' in options ? options.urls[part] : options.baseUrl;
    if (typeof url !== 'string') throw new TypeError(`baseUrl or urls.${part} is missing`);
    urls[part] = url.replace(/\/+$/, '');
  }
  return urls as Urls;
}
