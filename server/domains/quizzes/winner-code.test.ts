import { describe, expect, test } from 'bun:test';
import { SEATS_MAX } from '../../../protocol/limits.ts';
import { cachedWinnerCode, isLikeCode, winnerCode } from './winner-code.ts';

const SECRET = 'a secret';
const SEATS = Array.from({ length: 20_000 }, (_, seat) => seat);

describe('winnerCode', () => {
  test('[W-13] a code has two syllables and four digits that do not look alike', () => {
    for (const seat of [...SEATS.slice(0, 500), SEATS_MAX - 1]) {
      expect(winnerCode(SECRET, 'stream', seat)).toMatch(
        /^([BDFGHJKLMNRSTVWZ][AEOU]){2}-[2-9]{4}$/,
      );
    }
  });

  test('[W-13] a code is that of its viewer alone, in a stream', () => {
    const codes = SEATS.map((seat) => winnerCode(SECRET, 'stream', seat));
    expect(new Set(codes).size).toBe(SEATS.length);
    expect(winnerCode(SECRET, 'stream', 7)).toBe(codes[7] as string);
  });

  test('[W-13] a code cannot be computed without the secret, and differs between streams', () => {
    const same = (other: (seat: number) => string) =>
      SEATS.slice(0, 1_000).filter((seat) => other(seat) === winnerCode(SECRET, 'stream', seat));
    expect(same((seat) => winnerCode('another secret', 'stream', seat))).toEqual([]);
    expect(same((seat) => winnerCode(SECRET, 'another stream', seat))).toEqual([]);
  });
});

test('[W-13] cachedWinnerCode computes the code of a seat of a stream once', () => {
  const computed: string[] = [];
  const code = cachedWinnerCode((streamId, seat) => {
    computed.push(`${streamId} ${seat}`);
    return winnerCode(SECRET, streamId, seat);
  });
  const seats = [
    ['a', 1],
    ['a', 2],
    ['b', 1],
  ] as const;
  for (const [streamId, seat] of [...seats, ...seats]) {
    expect(code(streamId, seat)).toBe(winnerCode(SECRET, streamId, seat));
  }
  expect(computed).toEqual(['a 1', 'a 2', 'b 1']);
});

describe('isLikeCode', () => {
  test.each([
    'KOTA-4729',
    'kota 4729',
    'ＫＯＴＡ４７２９',
    'K\u200bO\u200bTA4729',
    'КОТА-4729',
    'ΚΟΤΑ-4729',
    'KОTA-4729',
    'Ꮶ\u13beTA-4729',
    'K0TA-4729',
    'KÓTA-4729',
    'KO\u0301TA-4729',
    'KOTA-47२9',
    'KØTA-4729',
    'I am KOTA-4729',
    '4729 КОТА-4729 won',
    'K.O.T.A 4 7 2 9',
    'Ada (KOTA-4729)',
    '\u3164KOTA-4729',
    'K\u3164OTA-4729',
    '🄺🄾🄣🄰-4729',
    '🅚🅞🅣🅐-4729',
    '🅺🅾🆃🅰-4729',
    '🇰🇴🇹🇦-4729',
    '🇩🇪KOTA-4729',
    'KOTA-4729™',
    '™KOTA-4729',
    '№KOTA-4729',
    'KOTA-4729²',
    '①KOTA-4729',
    'KOTA-4729ᵀᴹ',
    'ⓀOTA-4729™',
    '㏊KO-4729',
    'ʼKOTA-4729ʼ',
    'ˈKOTA-4729',
    'ーKOTA-4729ー',
    'ـKOTA-4729',
    'KOTA-4729ʹ',
    'KOTA-4729ᵸ',
    '〇KOTA-4729',
    '一KOTA-4729',
    'KOTAー4729',
    'ʼKʼOTA-4729',
    'マーKOTA-4729',
    'ʼКОТА-4729ʼ',
    'ーKОTA-4729ー',
    '〇KОTA-4729',
    'ʼ🅚🅞🅣🅐-4729',
    'ʼᴷОTA-4729',
  ])('[W-13] a name is like a code when its letters may look like those of one: %s', (name) => {
    expect(isLikeCode(name)).toBe(true);
  });

  test.each([
    'Ada',
    'Ada1234',
    'Mike-2345',
    'Анна',
    'Анатолий',
    'Анна-2019',
    '田中さん',
    'KOTA-47299',
    'XKOTA-4729',
    'Иван Петров 22',
    'ANNA-4729',
    '🇩🇪🇫🇷 2345',
    '🎉🎉🎉🎉 2345',
    '🇫🇷🇧🇪🇩🇪 2345',
    'マーリオン2345',
    'モンスター2345',
    '佐々木健太2345',
    'Марʼяна2345',
    'ʼXKOTA-4729',
    'ʼKOTA-47299',
    'Ada™',
    'Ada №2345',
  ])('[W-13] a name is unlike a code when no code has its letters or digits: %s', (name) => {
    expect(isLikeCode(name)).toBe(false);
  });
});
