import { describe, expect, test } from 'bun:test';
import { INTERVAL, NUMBER, partsOf, requestText, scriptOf } from './wrk-script.ts';

describe('what wrk sends', () => {
  test('a request has its host, its headers and the length of its body in bytes', () => {
    const headers = { Authorization: 'Bearer x', 'Content-Type': 'application/json' };
    expect(requestText({ method: 'POST', path: '/a', headers, body: '{"n":"ü"}' }, 'h:1')).toBe(
      'POST /a HTTP/1.1\r\nHost: h:1\r\nAuthorization: Bearer x\r\n' +
        'Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{"n":"ü"}',
    );
    expect(requestText({ method: 'GET', path: '/a', headers: {} }, 'h')).toBe(
      'GET /a HTTP/1.1\r\nHost: h\r\n\r\n',
    );
  });

  test('a marker is as long as what stands there in the end, so the length of a body is right', () => {
    expect([NUMBER.length, INTERVAL.length]).toEqual([10, 10]);
  });

  test('a request is taken apart at its marker, of which it has one', () => {
    expect(partsOf('GET /a')).toEqual(['GET /a', 0, '']);
    expect(partsOf(`viewer ${NUMBER}!`)).toEqual(['viewer ', 1, '!']);
    expect(partsOf(`?interval=${INTERVAL} HTTP`)).toEqual(['?interval=', 2, ' HTTP']);
    expect(() => partsOf(`${NUMBER}${NUMBER}`)).toThrow('once');
  });

  test('the script has a list for those that come often, and one for each that comes sometimes', () => {
    const get = (path: string) => ({ method: 'GET', path, headers: {} });
    const some = { every: 97, requests: [get('/c')], once: true };
    const script = scriptOf('h', [get('/a'), get('/b')], [some], 7);
    const lists = script.match(/local l=\{[^}]*/g) ?? [];
    expect(lists.map((list) => list.slice(9, 28))).toEqual([
      'every=1,once=false,',
      'every=97,once=true,',
    ]);
    expect(script).toContain('local number = 7');
    expect(script.match(/GET \/\w/g)).toEqual(['GET /a', 'GET /b', 'GET /c']);
  });
});
