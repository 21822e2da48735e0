import { afterEach, describe, expect, test } from 'bun:test';
import { flagNameOf, SETTING_KEYS, variableNameOf } from '../platform/config.ts';
import { runCommandLine } from './program.ts';
import { settingsAsMarkdown } from './settings.ts';

/** Runs a command line in this process; the environment is the process's own. */
async function run(...args: string[]) {
  const printed: string[] = [];
  const complaints: string[] = [];
  const status = await runCommandLine(args, {
    print: (text) => printed.push(text),
    complain: (text) => complaints.push(text),
    env: process.env,
  });
  return { status, printed, complaints };
}

const PLAY = ['media', 'play', '--stream', '0f8fad5b-d9cb-469f-a165-70867728950e'];

afterEach(() => {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('FOURBEAT_')) delete process.env[name];
  }
});

describe('[O-6] help is printed, and the status is 0', () => {
  test.each([
    [['--help'], 'Usage: fourbeat '],
    [['-h'], 'Usage: fourbeat '],
    [['serve', '--help'], 'Usage: fourbeat serve '],
    [['demo', '--help'], 'Usage: fourbeat demo '],
    [['account', '--help'], 'Usage: fourbeat account '],
    [['account', 'create', '--help'], 'Usage: fourbeat account create '],
    [['token', '--help'], 'Usage: fourbeat token '],
    [['token', 'create', '--help'], 'Usage: fourbeat token create '],
    [['token', 'list', '--help'], 'Usage: fourbeat token list '],
    [['token', 'revoke', '--help'], 'Usage: fourbeat token revoke '],
    [['member', '--help'], 'Usage: fourbeat member '],
    [['member', 'link', '--help'], 'Usage: fourbeat member link '],
    [['key', '--help'], 'Usage: fourbeat key '],
    [['key', 'rotate', '--help'], 'Usage: fourbeat key rotate '],
    [['media', '--help'], 'Usage: fourbeat media '],
    [['media', 'play', '--help'], 'Usage: fourbeat media play '],
    [['settings', '--help'], 'Usage: fourbeat settings '],
  ])('%p', async (args, usage) => {
    const { status, printed, complaints } = await run(...args);
    expect(printed.join('\n')).toStartWith(usage);
    expect([status, complaints]).toEqual([0, []]);
  });

  test('the help of serve names every setting, its variable and its default', async () => {
    const help = (await run('serve', '--help')).printed.join('\n');
    for (const key of SETTING_KEYS) {
      expect(help).toContain(`--${flagNameOf(key)} `);
      expect(help).toContain(variableNameOf(key));
    }
    expect(help).toContain('default 4250');
  });
});

describe('[O-6] what is unknown is one line, and the status is 2', () => {
  test.each([
    [['srve'], "unknown command 'srve'"],
    [['--prot'], "unknown option '--prot'"],
    [['serve', '--prot', '1'], "unknown option '--prot'"],
    [['serve', 'now'], 'too many arguments'],
    [['demo', '20'], 'npm start -- --viewers 20'],
    [['account', 'destroy'], "unknown command 'destroy'"],
    [['token', 'list', '--email', 'a@b', '--jsn'], "unknown option '--jsn'"],
    [['account', 'create', '--name', 'Ann'], "required option '--email <address>' not specified"],
    [['account', 'create', '--email', 'a@b'], "required option '--name <name>' not specified"],
    [['member', 'link'], "required option '--email <address>' not specified"],
    [['token', 'revoke'], "required option '--id <id>' not specified"],
    [['serve', '--port'], "option '--port <number>' argument missing"],
    [['demo', '--viewers', 'many'], "option '--viewers <number>' argument 'many' is invalid"],
    [['media', 'play'], "required option '--stream <id>' not specified"],
    [[...PLAY, 'show.mp4'], 'give --token, FOURBEAT_TOKEN or --data'],
    [[...PLAY, '--token', 'x', '--loop'], '--loop is for a FILE'],
    [[...PLAY, 'show.mp4', '--once', '--loop'], "cannot be used with option '--once'"],
    [[...PLAY, '--size', '641x360'], 'It must be two even numbers'],
    [[...PLAY, '--url', 'http://localhost/studio'], 'It must be like http://localhost:4250'],
    [['serve', '--port', 'a\nb'], "argument 'a b' is invalid"],
  ])('%p', async (args, why) => {
    const { status, printed, complaints } = await run(...args);
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toMatch(/^fourbeat: [^\n]*$/);
    expect(complaints[0]).toContain(why);
    expect([status, printed]).toEqual([2, []]);
  });

  test('no command at all prints the help for the person, and the status is 2', async () => {
    const { status, printed, complaints } = await run();
    expect(complaints.join('\n')).toContain('Usage: fourbeat');
    expect([status, printed]).toEqual([2, []]);
  });
});

describe('[O-8] a wrong value is one line with the setting and the reason, and the status is 2', () => {
  const wrong = {
    host: 'localhost:4250',
    port: '70000',
    workers: '0',
    data: ' ',
    database: 'mysql://ann:secret@localhost/fourbeat',
    redis: 'valkey://:secret@localhost:6379',
    redisReplicas: '-1',
    roles: 'api,nothing',
    publicUrl: 'live.example.org',
    corsOrigin: 'app',
    trustProxy: 'maybe',
    tokenAuth: 'closed',
    edgeCache: 'maybe',
    rateTokens: '10',
    rateFailedAuth: '0/1',
    rateAnswers: 'x/y',
    rateChat: '1/0',
    rateStudio: '-1/1',
    rateSignIn: '1/-1',
    ratePasswords: 'ten',
    tokenCacheSize: '0',
    webhookAllowHttp: 'maybe',
    webhookAllowPrivate: '10.0.0.0/33',
    logLevel: 'loud',
    media: ' ',
    mediaDvr: '1',
    mediaSpace: '0',
    mediaLatency: 'none',
    mediaSegment: '100',
    mediaEncoder: '-f',
    mediaPreset: 'very fast',
    mediaLadder: '1',
    ffmpeg: ' ',
    rtmpPort: 'on',
    srtPort: '65536',
    sourceGrace: '0',
  };

  test.each(SETTING_KEYS)('%s, as a flag and as a variable', async (key) => {
    const flag = await run('serve', `--${flagNameOf(key)}=${wrong[key]}`);
    process.env[variableNameOf(key)] = wrong[key];
    const variable = await run('serve');
    for (const { status, printed, complaints } of [flag, variable]) {
      expect(complaints).toHaveLength(1);
      expect(complaints[0]).toMatch(/^fourbeat: [^\n]* is invalid\. It must [^\n]*\.$/);
      expect(complaints[0]).toContain(`--${flagNameOf(key)}`);
      expect(complaints[0]).not.toContain('secret');
      expect([status, printed]).toEqual([2, []]);
    }
    expect(variable.complaints[0]).toContain(variableNameOf(key));
  });
});

describe('[A-9] what is no email or name of an account is refused', () => {
  test.each([
    ['--email', 'ann'],
    ['--email', '@b'],
    ['--email', 'a@'],
    ['--email', 'a@b@c'],
    ['--email', 'a b@c'],
    ['--email', 'a@b\u0007'],
    ['--email', `${'a'.repeat(253)}@b`],
    ['--name', ''],
    ['--name', ' '],
    ['--name', 'a'.repeat(81)],
    ['--name', 'a\u0000'],
  ])('%s %p', async (flag, value) => {
    const rest = flag === '--email' ? ['--name', 'Ann'] : ['--email', 'ann@example.org'];
    const { status, complaints } = await run('account', 'create', flag, value, ...rest);
    expect(complaints).toHaveLength(1);
    expect(complaints[0]).toContain(`option '${flag}`);
    expect(status).toBe(2);
  });
});

test('a variable that is no setting is told in one line, and stops nothing', async () => {
  process.env.FOURBEAT_PROT = '1';
  const { status, complaints } = await run('settings');
  expect(complaints).toEqual(['fourbeat: FOURBEAT_PROT is no setting']);
  expect(status).toBe(0);
});

test.each([
  [['--database', 'postgres://h/d'], 'Set both --database and --redis, or neither'],
  [['--redis', 'redis://h'], 'Set both --database and --redis, or neither'],
  [
    ['--database', 'postgres://h/d', '--redis', 'redis://h'],
    'Set --public-url together with --database',
  ],
])('[N-1] settings that contradict each other are rejected: %p', async (args, why) => {
  const { status, printed, complaints } = await run('serve', ...args);
  expect(complaints).toHaveLength(1);
  expect(complaints[0]).toContain(why);
  expect([status, printed]).toEqual([2, []]);
});

test('[O-7] docs/configuration.md has the table of settings that the program prints', async () => {
  const readme = await Bun.file(new URL('../../docs/configuration.md', import.meta.url)).text();
  const table = /<!-- settings:begin -->\n([\s\S]*?)\n<!-- settings:end -->/.exec(readme)?.[1];
  expect(table).toBe(settingsAsMarkdown());
  expect((await run('settings')).printed).toEqual([settingsAsMarkdown()]);
});
