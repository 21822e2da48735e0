import type { Environment, Storage } from './environment.ts';

/** Base URLs of a service whose parts run at different addresses. */
export interface Urls {
  /** `{base_url}` of the interface: streams and time. */
  readonly base: string;
  /** `{auth_url}`: viewer tokens. */
  readonly auth: string;
  /** `{view_counts_url}`: heartbeats. */
  readonly viewCounts: string;
  /** `{polls_url}`: answers and winners. */
  readonly polls: string;
  /** `{events_stream_url}`: feed and chat. */
  readonly events: string;
}

interface CommonOptions {
  readonly streamId: string;
  /** Unique per user: an id, or a fingerprint of the client. 1 to 256 characters. */
  readonly viewerId: string;
  /** Shown beside the viewer's messages. */
  readonly name?: string | undefined;
  /** Returns a new viewer token, for example from the app's backend; by default the service issues it. */
  readonly getToken?: (() => Promise<string>) | undefined;
  /** How to read the feed; `auto` (default) streams where the platform can, and polls otherwise. */
  readonly transport?: 'auto' | 'stream' | 'poll' | undefined;
  /** How long to count a viewer whose page is hidden, ms; default: no limit. */
  readonly hiddenMs?: number | undefined;
  /** How much of a missed feed to catch up on, ms; older intervals are skipped. Default 60 s, at least 5 s. */
  readonly catchUpMs?: number | undefined;
  /**
   * Keeps answers and score across reloads; default: `localStorage` where it exists. null: nothing is
   * stored.
   */
  readonly storage?: Storage | null | undefined;
  /** Replaces parts of the platform, for tests. */
  readonly environment?: Partial<Environment> | undefined;
}

export type JoinOptions = CommonOptions &
  (
    | {
        /** Base URL of the whole service, such as `https://live.example`. */
        readonly baseUrl: string;
      }
    | { readonly urls: Urls }
  );

/** @throws TypeError when a URL is missing */
export function resolveUrls(options: JoinOptions): Urls {
  const urls: Partial<Record<keyof Urls, string>> = {};
  for (const part of ['base', 'auth', 'viewCounts', 'polls', 'events'] as const) {
    const url: unknown = 'urls' in options ? options.urls[part] : options.baseUrl;
    if (typeof url !== 'string') throw new TypeError(`baseUrl or urls.${part} is missing`);
    urls[part] = url.replace(/\/+$/, '');
  }
  return urls as Urls;
}
