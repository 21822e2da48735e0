import { describe, expect, test } from 'bun:test';
import { readResponse } from './response-reader.ts';

const NO_CONTENT = 'HTTP/1.1 204 No Content\r\nDate: now\r\n\r\n';
const FOUND = 'HTTP/1.1 200 OK\r\nContent-Length: 11\r\nETag: "7"\r\n\r\nhello there';

describe('answers in the bytes that came', () => {
  test('one with a body, and the next one behind it', () => {
    const bytes = Buffer.from(FOUND + NO_CONTENT);
    const first = readResponse(bytes, 0);
    expect(first).toEqual({ status: 200, bodyStart: FOUND.length - 11, end: FOUND.length });
    expect(readResponse(bytes, FOUND.length)).toEqual({
      status: 204,
      bodyStart: bytes.length,
      end: bytes.length,
    });
  });

  test('the length of the next answer is not that of one without a body', () => {
    expect(readResponse(Buffer.from(NO_CONTENT + FOUND), 0)?.end).toBe(NO_CONTENT.length);
  });

  test('what is not complete is no answer yet', () => {
    for (let bytes = 0; bytes < FOUND.length; bytes++) {
      expect(readResponse(Buffer.from(FOUND.slice(0, bytes)), 0)).toBeNull();
    }
  });
});
