import { flagNameOf, SETTING_KEYS, SETTINGS } from '../server/platform/config.ts';

// `npm run limits` writes docs/limits.md: the limits, from the constants and comments that set them.

const PAGE = new URL('../docs/limits.md', import.meta.url);
const ROOT = new URL('../', import.meta.url);

/** The files with limits that matter outside of them, by the title of their table. */
const TABLES: Readonly<Record<string, string>> = {
  'Requests, streams and shows': 'protocol/limits.ts',
  'Clients and viewers that rates count one by one, for each rate on each node':
    'server/platform/rate-limiter.ts',
  'Members and sessions': 'server/auth/members/member-rules.ts',
  'Password attempts': 'server/auth/members/password-limit.ts',
  'Studio responses that clients have not read, for each thread': 'server/auth/large-responses.ts',
  'Responses that clients have not read, all gateway threads of a node together':
    'server/gateway/unsent-responses.ts',
  'Open event streams with the state of shows, on each node':
    'server/domains/live/open-stream-limit.ts',
  'Bytes of studio writes, on each node': 'server/auth/write-bytes.ts',
  'Large studio requests, on each node': 'server/auth/caller-limiter.ts',
  'Exports, on each node': 'server/auth/export-slices.ts',
  'Webhooks of a node': 'server/domains/webhooks/schedule.ts',
  'Event streams of viewers, for each thread': 'server/realtime/feed/open-streams.ts',
  'Unsent bytes of event streams, for each thread': 'server/realtime/feed/unsent-budget.ts',
  'Reads of old intervals, on each node': 'server/realtime/feed/page-read-limit.ts',
  'One interval': 'server/realtime/feed/sealing-limits.ts',
  'Requests that wait for video, on each node': 'server/media/origin/pending-requests.ts',
  'Video by RTMP': 'server/media/rtmp/rtmp-limits.ts',
  'Video by WebSocket': 'server/media/websocket/websocket-source.ts',
  'Sockets for video by WebSocket, on each node': 'server/media/websocket/websocket-ingest.ts',
  'Video by SRT, on each node': 'server/media/srt/handshake-proxy.ts',
};

const INTRODUCTION = `# Limits

For operators and app developers: what the service refuses, and from which value on. [SPEC.md](../SPEC.md) has the rules (L, G-31, F-25), [configuration.md](configuration.md) the settings. \`npm run limits\` writes this page from the code.`;

/** A constant, or a member of an object of constants, and the comment before it. */
const CONSTANT =
  /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n(?:export const (\w+)|( {2}\w+)(?:: number)?)( = |: )/g;

/** The page as Markdown. */
export async function limitsPage(): Promise<string> {
  const tables = await Promise.all(
    Object.entries(TABLES).map(async ([title, path]) => tableOf(title, await rowsOf(path))),
  );
  return `${[INTRODUCTION, rateTable(), ...tables].join('\n\n')}\n`;
}

function rateTable(): string {
  const rows = SETTING_KEYS.filter((key) => key.startsWith('rate')).map((key) => {
    const { help, default: fallback } = SETTINGS[key];
    const [points = '', seconds = ''] = fallback.split('/');
    return [firstUpper(help), `${grouped(Number(points))} in ${seconds} s`, `--${flagNameOf(key)}`];
  });
  return tableOf('Rates (settings)', rows, 'Setting');
}

function tableOf(title: string, rows: readonly string[][], source = 'Constant'): string {
  const lines = rows.map(([what, limit, name]) => `| ${what} | ${limit} | \`${name}\` |`);
  return [`## ${title}`, '', `| What | Limit | ${source} |`, '|---|---|---|', ...lines].join('\n');
}

async function rowsOf(path: string): Promise<string[][]> {
  const text = await Bun.file(new URL(path, ROOT)).text();
  const module = (await import(new URL(path, ROOT).href)) as Record<string, unknown>;
  const values = new Map<string, unknown>(Object.entries(module));
  for (const value of Object.values(module)) {
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [name, member] of Object.entries(value)) values.set(name, member);
    }
  }
  return [...text.matchAll(CONSTANT)].flatMap(([, comment = '', constant, member]) => {
    const name = constant ?? member?.trim() ?? '';
    const value = values.get(name);
    return typeof value === 'number' ? [[sentenceOf(comment), shown(name, value), name]] : [];
  });
}

/** The first sentence of a comment. */
function sentenceOf(comment: string): string {
  const text = comment
    .replace(/\n\s*\*/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
  const [sentence = text] = text.split(/(?<=[^.])\.(?:\s|$)/, 1);
  // The value has its unit, and the page is not for readers of the interface.
  const plain = sentence
    .replace(/ \(interface[^)]*\)$/, '')
    .replace(/,? (?:in )?(?:ms|bytes|seconds)$/, '');
  return plain.replaceAll('|', '\\|');
}

/** A value with the unit that its name has. */
function shown(name: string, value: number): string {
  if (/BYTES|Bytes/.test(name)) return bytes(value);
  if (/(_MS|Ms)$/.test(name)) return duration(value / 1_000);
  if (/_S$/.test(name)) return duration(value);
  if (/_CHARS$/.test(name)) return `${grouped(value)} characters`;
  return grouped(value);
}

function bytes(value: number): string {
  if (value % (1 << 20) === 0) return `${value >> 20} MB`;
  return value % 1024 === 0 ? `${value >> 10} KB` : `${grouped(value)} bytes`;
}

function duration(seconds: number): string {
  const units = [
    [86_400, 'd'],
    [3_600, 'h'],
    [60, 'min'],
  ] as const;
  const unit = units.find(([length]) => seconds >= 2 * length && seconds % length === 0);
  return unit ? `${seconds / unit[0]} ${unit[1]}` : `${seconds} s`;
}

const grouped = (value: number) => value.toLocaleString('en-US');
const firstUpper = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

if (import.meta.main) await Bun.write(PAGE, await limitsPage());
