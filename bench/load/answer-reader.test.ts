import { describe, expect, test } from 'bun:test';
import { readAnswer } from './answer-reader.ts';

const NO_CONTENT = 'HTTP/1.1 204 No Content\r\nDate: now\r\n\r\n';
const FOUND = 'HTTP/1.1 200 OK\r\nContent-Length: 11\r\nETag: "7"\r\n\r\nhello there';

describe('answers in the bytes that came', () => {
  test('one with a body, and the next one behind it', () => {
    const bytes = Buffer.from(FOUND + NO_CONTENT);
    const first = readAnswer(bytes, 0);
    expect(first).toEqual({ status: 200, bodyAt: FOUND.length - 11, endAt: FOUND.length });
    expect(readAnswer(bytes, FOUND.length)).toEqual({
      status: 204,
      bodyAt: bytes.length,
      endAt: bytes.length,
    });
  });

  test('the length of the next answer is not that of one without a body', () => {
    expect(readAnswer(Buffer.from(NO_CONTENT + FOUND), 0)?.endAt).toBe(NO_CONTENT.length);
  });

  test('what is not complete is no answer yet', () => {
    for (let bytes = 0; bytes < FOUND.length; bytes++) {
      expect(readAnswer(Buffer.from(FOUND.slice(0, bytes)), 0)).toBeNull();
    }
  });
});
