import { ROLES, type Role } from '../../protocol/operation.ts';
import {
  MEDIA_SETTINGS,
  type MediaConfig,
  type MediaSettingValues,
  mediaConfigFrom,
} from './media-settings.ts';
import { type AddressPolicy, type Network, networks } from './network-policy.ts';
import type { RateLimit } from './rate-limit/rate-limiter.ts';
import {
  baseUrl,
  boolean,
  databaseUrl,
  directory,
  host,
  integer,
  oneOf,
  origin,
  rateLimit,
  redisUrl,
  roles,
  type Setting,
} from './setting-values.ts';

/** Levels of the log, from most to least. `silent` writes nothing. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const;

/** What a running service is told (O-7). */
export interface Config {
  /** Address to listen on; null: every address of the machine, IPv4 and IPv6. */
  readonly host: string | null;
  /** Port to listen on; 0: any that is free. */
  readonly port: number;
  /** Threads that answer viewers; 1: the one that does all the rest. */
  readonly workers: number;
  /** The data directory, absolute. */
  readonly data: string;
  /** Where the database is in PostgreSQL, with its credentials; null: in SQLite, in `data`. */
  readonly database: string | null;
  /** Where the realtime backend is in Redis or Valkey, with its credentials; null: in this process. */
  readonly redis: string | null;
  /** Replicas that must have a write to Redis before it counts. */
  readonly redisReplicas: number;
  readonly roles: ReadonlySet<Role>;
  /** Base of absolute links and issuer of tokens, without a slash at its end; null: none is set. */
  readonly publicUrl: string | null;
  /** Value of `Access-Control-Allow-Origin`. */
  readonly corsOrigin: string;
  /** Whether `X-Forwarded-For` tells the client's address. */
  readonly trustProxy: boolean;
  /** Who may ask for viewer tokens: anybody, or the stream's owner alone (T-16). */
  readonly tokenAuth: 'open' | 'producer';
  /** Whether a cache in front, which checks tokens itself, may keep sealed intervals (F-18). */
  readonly edgeCache: boolean;
  readonly rates: Rates;
  /** How many checked viewer tokens are remembered. */
  readonly tokenCacheSize: number;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly media: MediaConfig;
  /** Where webhooks may lead (H-3, H-12). */
  readonly webhooks: AddressPolicy;
}

/** Rate limits (SPEC L): by address, by viewer or by account. */
export interface Rates {
  readonly tokens: RateLimit;
  readonly failedAuth: RateLimit;
  readonly answers: RateLimit;
  readonly chat: RateLimit;
  readonly studio: RateLimit;
  readonly signIn: RateLimit;
  readonly passwords: RateLimit;
}

/** The config as a flat list: one value for each flag. */
export type SettingValues = Omit<Config, 'rates' | 'media' | 'webhooks'> & {
  readonly webhookAllowHttp: boolean;
  readonly webhookAllowPrivate: readonly Network[];
} & {
  readonly [Key in keyof Rates as `rate${Capitalize<Key>}`]: RateLimit;
} & MediaSettingValues;

/** Every setting of the service, described once. */
export const SETTINGS: { readonly [Key in keyof SettingValues]: Setting<SettingValues[Key]> } = {
  host: {
    value: 'address',
    help: 'address to listen on',
    default: '*',
    defaultMeans: 'every address, IPv4 and IPv6',
    parse: (text) => (text === '*' ? null : host(text)),
  },
  port: {
    value: 'number',
    help: 'port to listen on; 0 takes any that is free',
    default: '4250',
    parse: integer(0, 65_535),
  },
  workers: {
    value: 'number',
    help: 'threads that answer heartbeats and reads of the feed, one for each core that viewers may use; 1: all is done by one thread',
    default: '1',
    parse: integer(1, 64),
  },
  data: {
    value: 'directory',
    help: 'where the database is kept; made when it is missing',
    default: './fourbeat-data',
    parse: directory,
  },
  database: {
    value: 'url',
    help: 'PostgreSQL that holds the database, for several nodes: postgres://user:password@host/name',
    default: '',
    defaultMeans: 'the database is in the data directory',
    isSecret: true,
    parse: (text) => (text === '' ? null : databaseUrl(text)),
  },
  redis: {
    value: 'url',
    help: 'Redis or Valkey that the nodes share: redis://, rediss://, redis+cluster:// or redis+sentinel://host:port,…/name',
    default: '',
    defaultMeans: 'none: one process is the whole service',
    isSecret: true,
    parse: (text) => (text === '' ? null : redisUrl(text)),
  },
  redisReplicas: {
    value: 'number',
    help: 'replicas of Redis that must have what nodes hand over before it counts (WAIT)',
    default: '0',
    parse: integer(0, 10),
  },
  roles: {
    value: 'list',
    help: `parts of the service that run here: ${ROLES.join(', ')}`,
    default: 'all',
    parse: roles,
  },
  publicUrl: {
    value: 'url',
    help: 'address by which clients reach the service, for links and tokens',
    default: '',
    defaultMeans: 'that of each request in links, localhost and the port in tokens',
    parse: (text) => (text === '' ? null : baseUrl(text)),
  },
  corsOrigin: {
    value: 'origin',
    help: 'origin whose pages may call the service; * for every one',
    default: '*',
    parse: (text) => (text === '*' ? text : origin(text)),
  },
  trustProxy: {
    value: null,
    help: "take a client's address from the last entry of X-Forwarded-For",
    default: 'false',
    parse: boolean,
  },
  tokenAuth: {
    value: 'who',
    help: 'who gets viewer tokens: open (anybody) or producer (with the service token of the stream)',
    default: 'open',
    parse: oneOf(['open', 'producer']),
  },
  edgeCache: {
    value: null,
    help: 'let a shared cache keep sealed intervals; it must check tokens itself',
    default: 'false',
    parse: boolean,
  },
  rateTokens: rateSetting(
    'viewer tokens for each address, or account with --token-auth=producer',
    '6000/60',
  ),
  rateFailedAuth: rateSetting('failed authentications for each address', '1200/60'),
  rateAnswers: rateSetting('answers and winner reports of each viewer', '30/10'),
  rateChat: rateSetting('chat posts of each viewer', '20/10'),
  rateStudio: rateSetting('studio requests of each account', '1200/60'),
  rateSignIn: rateSetting('tries to sign in, and uses of links, from each address', '30/60'),
  ratePasswords: rateSetting('passwords tried for each e-mail', '10/60'),
  tokenCacheSize: {
    value: 'number',
    help: 'how many checked viewer tokens are remembered, about 0.25 KB each',
    default: '200000',
    parse: integer(1, 10_000_000),
  },
  webhookAllowHttp: {
    value: null,
    help: 'let webhooks be plain http, which anybody on the way can read',
    default: 'false',
    parse: boolean,
  },
  webhookAllowPrivate: {
    value: 'networks',
    help: 'networks that webhooks may reach although they are not public, such as 10.0.0.0/8,fd00::/8',
    default: '',
    defaultMeans: 'none',
    parse: networks,
  },
  logLevel: {
    value: 'level',
    help: `least serious entry of the log: ${LOG_LEVELS.join(', ')}`,
    default: 'info',
    parse: oneOf(LOG_LEVELS),
  },
  ...MEDIA_SETTINGS,
};

/** Keys of all settings, in the order of the table. */
export const SETTING_KEYS = Object.keys(SETTINGS) as (keyof SettingValues)[];

/** `--some-name` of `someName`, without the dashes in front. */
export function flagOf(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `FOURBEAT_SOME_NAME` of `someName`. */
export function variableOf(key: string): string {
  return `FOURBEAT_${flagOf(key).replaceAll('-', '_').toUpperCase()}`;
}

/** The value that a setting has when nobody says anything. */
export function defaultOf<Key extends keyof SettingValues>(key: Key): SettingValues[Key] {
  return SETTINGS[key].parse(SETTINGS[key].default);
}

/**
 * The config of these values.
 * @throws Error when settings do not go together
 */
export function configFrom(values: SettingValues): Config {
  const { database, redis, publicUrl } = values;
  if ((database === null) !== (redis === null)) {
    throw new Error(
      '--database and --redis go together: nodes that share a record share their beat.',
    );
  }
  if (database !== null && publicUrl === null) {
    throw new Error(
      '--public-url is needed with --database: a token of one node must be good on all of them.',
    );
  }
  const { rateTokens, rateFailedAuth, rateAnswers, rateChat, rateStudio, ...rest } = values;
  const { rateSignIn, ratePasswords, webhookAllowHttp, webhookAllowPrivate, ...others } = rest;
  const { config, media } = mediaConfigFrom(others, values.data);
  return {
    ...config,
    media,
    webhooks: { allowHttp: webhookAllowHttp, allowPrivate: webhookAllowPrivate },
    rates: {
      tokens: rateTokens,
      failedAuth: rateFailedAuth,
      answers: rateAnswers,
      chat: rateChat,
      studio: rateStudio,
      signIn: rateSignIn,
      passwords: ratePasswords,
    },
  };
}

/** The defaults with some members of the config replaced. */
export function configOf(replaced: Partial<Config> = {}): Config {
  const defaults = Object.fromEntries(SETTING_KEYS.map((key) => [key, defaultOf(key)]));
  return { ...configFrom(defaults as unknown as SettingValues), ...replaced };
}

function rateSetting(of: string, fallback: string): Setting<RateLimit> {
  return { value: 'n/seconds', help: `most ${of}`, default: fallback, parse: rateLimit };
}
