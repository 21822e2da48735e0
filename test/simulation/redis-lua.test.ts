import { afterAll, describe, expect, test } from 'bun:test';
import { startRedis } from '../support/backends/redis.ts';
import { translateLua } from '../support/simulation/redis/lua/lua-program.ts';
import { LuaError } from '../support/simulation/redis/lua/lua-table.ts';
import { createRedisModel } from '../support/simulation/redis/redis-model.ts';

const server = await startRedis({ persistence: false });
afterAll(() => server.stop());

const timers = { monotonicMs: () => 0, setTimer: () => () => {}, random: () => 0.5 };

/** Runs the body of a function in the model. @returns its reply, or `error` */
function runInModel(body: string): unknown {
  const model = createRedisModel({ nowMs: () => 0, environment: timers });
  const code = `#!lua name=test\nredis.register_function('f', function(keys, args) ${body} end)`;
  model.command('FUNCTION', 'LOAD', code);
  try {
    return model.command('FCALL', 'f', 2, 'key', '{key}', '12', 'text');
  } catch {
    return 'error';
  }
}

async function runInRedis(body: string): Promise<unknown> {
  const script = `local function f(keys, args) ${body} end return f(KEYS, ARGV)`;
  return server.command('EVAL', script, 2, 'key', '{key}', '12', 'text').catch(() => 'error');
}

const BODIES = [
  // Numbers as text: %.14g, and %.17g as an argument of a command.
  ...[
    '0',
    '-0',
    '1.5',
    '1/3',
    '1e14',
    '99999999999999',
    '123456789012345',
    '-1e-5',
    '1e300',
    '2.5e-7',
  ].flatMap((number) => [
    `return (${number}) .. ''`,
    `redis.call('SET', keys[1], ${number}) return redis.call('GET', keys[1])`,
  ]),
  ...['0', '-0', '1.5', '-1.5', '99999999999999'].map((number) => `return ${number}`),
  'return 1750000000000.25 .. ":" .. 1750000000000.75 .. ":" .. -0.5 .. ":" .. ":" .. 0.1 .. 100 .. 1e15 .. 0.0001',
  'return tostring(0.1 + 0.2) .. tostring(true) .. tostring(nil)',
  // Texts as numbers.
  ...[
    '12',
    ' 12 ',
    '1e3',
    '0x10',
    '-0x1F',
    '',
    ' ',
    '1 2',
    'x',
    '.5',
    '5.',
    '-',
    '1e',
    '+7',
    '007',
  ].flatMap((text) => [`return tonumber('${text}')`, `return ('${text}' + 1) .. ''`]),
  'return tonumber(nil)',
  'return tonumber(false)',
  "return args[1] - 2.5 .. ''",
  'return 10 .. 20',
  'return 7 % 3 .. ":" .. -7 % 3 .. ":" .. 7 % -3',
  // Truth.
  'return 0 and 1',
  "return '' and 1",
  'return nil or 5',
  'return false and nil',
  'return not 0',
  'return not nil and 8 or 9',
  'return nil and 8 or 9',
  'return (1 == 1) and (2 < 3)',
  'if 0 then return 1 else return 2 end',
  "if not (keys[1] == 'key' and args[1]) then return 1 elseif args[3] then return 2 else return 3 end",
  // Comparisons.
  "return '10' < '9'",
  'return 10 < 9',
  "return 10 < '9'",
  "return 1 == '1'",
  "return 'a' <= 'a'",
  'return nil < 1',
  'return 2 >= 2 and 3 > 2 and 1 ~= 2',
  // Tables.
  "local t = { 1, 2, x = 3, ['y'] = 4, [5] = 5 } return { #t, t.x, t['y'], t[5], t[3] or 0 }",
  'local t = {} t[1] = 1 t[3] = 3 t[2] = 2 return { #t, t[3] }',
  'local t = { 1, 2, 3 } t[#t] = nil return { #t, t[1], t[2] }',
  'local t = {} for i = 1, 5 do t[#t + 1] = i * i end return t',
  'local t = {} for i = 5, 1, -2 do t[#t + 1] = i end return t',
  "local t = {} for i = '2', args[1] / 3 do t[#t + 1] = i end return t",
  'local t = {} for i = 3, 1 do t[1] = i end return t',
  'local t = {} for i = 1, 3 do local j = i i = i + 10 t[#t + 1] = i + j end return t',
  'local n = 0 for _, v in ipairs({ 4, 5, 6 }) do n = n + v end return n',
  'local n = 0 for k, v in pairs({ 4, 5, a = 6 }) do n = n + v end return n',
  'for i = 1, 10 do if i == 4 then return i end end',
  'local n = 0 while true do n = n + 1 if n > 6 then break end end return n',
  'local t = { n = 1 } t.n, t.m = t.n + 1, t.n + 5 return { t.n, t.m }',
  'local a, b = 1, 2 a, b = b, a return { a, b }',
  'local a, b = 1 return { a, b and 1 or 2 }',
  'local x = 1 do local x = 2 end return x',
  'local x = 1 local x = x + 1 return x',
  'return ({})[1]',
  'local t = nil return t.x',
  'return #args + #keys + #args[2]',
  'local function f(n) if n == 0 then return 0 end return n + f(n - 1) end return f(10)',
  'local function f(a, b) return b end return f(1) or 3',
  'return { 1, false, 2, true, "x", { 3 } }',
  'return { 1.9, -1.9 }',
  "return { err = 'OOPS it failed' }",
  "return { ok = 'GOOD' }",
  // Standard functions.
  'return { math.floor(-1.5), math.ceil(-1.5), math.abs(-3), math.max(1, 5, 3), math.min(4, 2) }',
  "return math.floor('7.9')",
  "return math.max('x', 1)",
  "return string.sub('hello', 2, 3) .. string.sub('hello', -3) .. string.sub('hello', 2, -2) .. string.sub('hello', 4, 99) .. string.sub('hello', 0) .. string.sub('hi', 3)",
  "local a, b, c = string.match('12:34', '^(%d+):(%d+)$') return { a, b, c and 1 or 0 }",
  "local a, b = string.match('x', '^(%d+):(%d+)$') return { a and 1 or 0, b and 1 or 0 }",
  "return (string.match('run_id:abc1 x', 'run_id:(%w+)'))",
  "return string.match('aXb.c', '%u%a%.') or 'none'",
  "return (string.match('  x1-y ', '%s*(%a%d%-%a)%s'))",
  "return string.match('a\\nb', 'a.b') .. string.match('aaa', 'a-') .. string.match('aab', 'a-b')",
  'return (string.match(1234, "%d%d"))',
  "return { string.match('1-2', '(%d)%-(%d)') }",
  "local t = {} for n in string.gmatch('1 22  x333', '%d+') do t[#t + 1] = n end return t",
  "return string.format('%d:%d:%s%%', 1.9, '-7', 'x')",
  "return string.format('%d', 'x')",
  "return string.format('%d', 1750000000000.75)",
  'return { type(1), type("x"), type(nil), type({}), type(true) }',
  'return { unpack({ 1, 2, 3 }) }',
  'return { 0, unpack({ 1, 2, 3 }, 2) }',
  'return { unpack({ 1, 2, 3 }, 4) }',
  // A call in parentheses has one value.
  "return { (string.match('1-2', '(%d)%-(%d)')) }",
  "return { 0, ( string.match('1-2', '(%d)%-(%d)') ) }",
  "local function f(a, b) return b or 'none' end return f((string.match('1-2', '(%d)%-(%d)')))",
  "local function f(a, b) return b or 'none' end return f(string.match('1-2', '(%d)%-(%d)'))",
  // Replies of commands.
  "return type(redis.call('GET', 'none'))",
  "return redis.call('GET', 'none') == false and 1 or 0",
  "return type(redis.call('SET', 'a', 1)) .. redis.call('SET', 'a', 1).ok",
  "return redis.pcall('HGET', 'a') and 1",
  "redis.call('SET', keys[1], 1) return redis.pcall('HGET', keys[1], 'b').err ~= nil and 1 or 0",
  "redis.call('SET', keys[1], 1) return redis.call('HGET', keys[1], 'b')",
  "return redis.call('SET', keys[1], {})",
  "return redis.call('SET', keys[1], nil)",
  "return redis.call('NO SUCH COMMAND')",
  "redis.call('SET', keys[1], '\\0\\255\\\\') return #redis.call('GET', keys[1])",
];

describe('translated Lua', () => {
  test.each(BODIES)('has the result that it has in Redis: %s', async (body) => {
    await server.command('FLUSHALL');
    const expected = await runInRedis(body);
    expect(runInModel(body)).toEqual(expected as object);
  });

  test.each([
    'x = 1',
    'return y',
    'return 2 ^ 3',
    'return 1, 2',
    'local function f(...) return 1 end',
    'function f() end',
    'local t = {} t:f()',
    'goto x',
    'repeat local a = 1 until true',
    'local a, b = f()',
    'local a = 1, 2',
    "return string.match('x', '[a-z]')",
    "return string.match('x', '%b()')",
    "return string.match('x', '()')",
    "return string.match('x', '(a)+')",
    "local p = 'x' return string.match('x', p)",
    "return string.match('x', 'x', 2)",
    "for x in string.gmatch('x', 'x*') do end",
    "return string.format('%5d', 1)",
    "return string.format('%d')",
    "return string.rep('x', 3)",
    'return tonumber("ff", 16)',
    'return math.random()',
    'return os.time()',
    'return next({})',
    "return redis.sha1hex('x')",
    'local call = redis.call',
    'for a, b, c in pairs({}) do end',
    'local f = function() end for x in f do end',
    'f"x"',
  ])('is rejected at load when it needs more than the library: %s', (source) => {
    expect(() => translateLua(source)).toThrow();
  });

  test('is rejected with the line', () => {
    const source = 'local a = 1\nlocal b = 2\nreturn a ^ b';
    expect(() => translateLua(source)).toThrow(
      new LuaError('line 3: the operator ^ is not supported'),
    );
  });
});
