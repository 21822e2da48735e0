import { afterEach, describe, expect, test } from 'bun:test';
import { flagNameOf, SETTING_KEYS, variableNameOf } from '../platform/config.ts';
import { runCommandLine } from './program.ts';
import { settingsAsMarkdown } from './settings.ts';

/** Runs a command line in this process, with the environment of the process. */
async function run(...args: string[]) {
  const printed: string[] = [];
  const errors: string[] = [];
  const status = await runCommandLine(args, {
    print: (text) => printed.push(text),
    printError: (text) => errors.push(text),
    env: process.env,
  });
  return { status, printed, errors };
}

const PLAY = ['media', 'play', '--stream', '0f8fad5b-d9cb-469f-a165-70867728950e'];

afterEach(() => {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('FOURBEAT_')) delete process.env[name];
  }
});

describe('[O-6] --help prints the help, with status 0', () => {
  const ACCOUNTS = ['account', 'account create', 'key', 'key rotate'];
  const MEMBERS = ['member', 'member link', 'member remove'];
  const TOKENS = ['token', 'token create', 'token list', 'token revoke'];
  const OTHERS = ['', 'serve', 'demo', 'media', 'media play', 'settings'];

  test.each([...OTHERS, ...ACCOUNTS, ...MEMBERS, ...TOKENS])('fourbeat %s', async (command) => {
    const words = command.split(' ').filter((word) => word !== '');
    for (const flag of ['--help', '-h']) {
      const { status, printed, errors } = await run(...words, flag);
      expect(printed.join('\n')).toStartWith(['Usage: fourbeat', ...words, ''].join(' '));
      expect([status, errors]).toEqual([0, []]);
    }
  });

  test('the help of serve lists every setting with its variable and its default', async () => {
    const help = (await run('serve', '--help')).printed.join('\n');
    for (const key of SETTING_KEYS) {
      expect(help).toContain(`--${flagNameOf(key)} `);
      expect(help).toContain(variableNameOf(key));
    }
    expect(help).toContain('default 4250');
  });
});

describe('[O-6] an invalid command line prints one line, with status 2', () => {
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
    [['member', 'link', '--email', 'a@b', '--account', 'corp'], 'It must be a uuid'],
    [['member', 'remove'], "required option '--email <address>' not specified"],
    [['token', 'revoke'], "required option '--id <id>' not specified"],
    [['serve', '--port'], "option '--port <number>' argument missing"],
    [['demo', '--viewers', 'many'], "option '--viewers <number>' argument 'many' is invalid"],
    [['media', 'play'], "required option '--stream <id>' not specified"],
    [[...PLAY, 'show.mp4'], 'set --token, FOURBEAT_TOKEN or --data'],
    [[...PLAY, '--token', 'x', '--loop'], '--loop needs a FILE'],
    [[...PLAY, 'show.mp4', '--once', '--loop'], "cannot be used with option '--once'"],
    [[...PLAY, '--size', '641x360'], 'It must be two even numbers'],
    [
      [...PLAY, '--url', 'http://localhost/studio'],
      'It must be an origin, such as http://localhost:4250',
    ],
    [['serve', '--port', 'a\nb'], "argument 'a b' is invalid"],
  ])('%p', async (args, reason) => {
    const { status, printed, errors } = await run(...args);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(/^fourbeat: [^\n]*$/);
    expect(errors[0]).toContain(reason);
    expect([status, printed]).toEqual([2, []]);
  });

  test('a command line without a command prints the help to standard error, with status 2', async () => {
    const { status, printed, errors } = await run();
    expect(errors.join('\n')).toContain('Usage: fourbeat');
    expect([status, printed]).toEqual([2, []]);
  });
});

describe('[O-8] an invalid value prints one line with the setting and the reason, with status 2', () => {
  const invalid = {
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
    metricsToken: 'a secret',
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
    accountSources: '0',
  };

  test.each(SETTING_KEYS)('%s as a flag and as a variable', async (key) => {
    const flag = await run('serve', `--${flagNameOf(key)}=${invalid[key]}`);
    process.env[variableNameOf(key)] = invalid[key];
    const variable = await run('serve');
    for (const { status, printed, errors } of [flag, variable]) {
      expect(errors).toHaveLength(1);
      expect(errors[0]).toMatch(/^fourbeat: [^\n]* is invalid\. It must [^\n]*\.$/);
      expect(errors[0]).toContain(`--${flagNameOf(key)}`);
      expect(errors[0]).not.toContain('secret');
      expect([status, printed]).toEqual([2, []]);
    }
    expect(variable.errors[0]).toContain(variableNameOf(key));
  });
});

describe('[A-9] an invalid email or name of an account is rejected', () => {
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
    const other = flag === '--email' ? ['--name', 'Ann'] : ['--email', 'ann@example.org'];
    const { status, errors } = await run('account', 'create', flag, value, ...other);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain(`option '${flag}`);
    expect(status).toBe(2);
  });
});

test('an unknown variable prints one line, and the command continues', async () => {
  process.env.FOURBEAT_PROT = '1';
  const { status, errors } = await run('settings');
  expect(errors).toEqual(['fourbeat: FOURBEAT_PROT is not a setting; check its spelling']);
  expect(status).toBe(0);
});

test.each([
  [['--database', 'postgres://h/d'], 'Set both --database and --redis, or neither'],
  [['--redis', 'redis://h'], 'Set both --database and --redis, or neither'],
  [
    ['--database', 'postgres://h/d', '--redis', 'redis://h'],
    'Set --public-url together with --database',
  ],
])('[N-1] settings that contradict each other are rejected: %p', async (args, reason) => {
  const { status, printed, errors } = await run('serve', ...args);
  expect(errors).toHaveLength(1);
  expect(errors[0]).toContain(reason);
  expect([status, printed]).toEqual([2, []]);
});

test('[O-7] docs/configuration.md contains the table of settings that the program prints', async () => {
  const page = await Bun.file(new URL('../../docs/configuration.md', import.meta.url)).text();
  const table = /<!-- settings:begin -->\n([\s\S]*?)\n<!-- settings:end -->/.exec(page)?.[1];
  expect(table).toBe(settingsAsMarkdown());
  expect((await run('settings')).printed).toEqual([settingsAsMarkdown()]);
});
