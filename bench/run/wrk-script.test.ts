import { describe, expect, test } from 'bun:test';
import { INTERVAL, NUMBER, partsOf, requestText, scriptOf } from './wrk-script.ts';

describe('the script of wrk', () => {
  test('has requests with host, headers and the length of the body in bytes', () => {
    const headers = { Authorization: 'Bearer x', 'Content-Type': 'application/json' };
    expect(requestText({ method: 'POST', path: '/a', headers, body: '{"n":"ü"}' }, 'h:1')).toBe(
      'POST /a HTTP/1.1\r\nHost: h:1\r\nAuthorization: Bearer x\r\n' +
        'Content-Type: application/json\r\nContent-Length: 10\r\n\r\n{"n":"ü"}',
    );
    expect(requestText({ method: 'GET', path: '/a', headers: {} }, 'h')).toBe(
      'GET /a HTTP/1.1\r\nHost: h\r\n\r\n',
    );
  });

  test('has markers as long as their values, so that Content-Length is right', () => {
    expect([NUMBER.length, INTERVAL.length]).toEqual([10, 10]);
  });

  test('splits a request at its only marker', () => {
    expect(partsOf('GET /a')).toEqual(['GET /a', 0, '']);
    expect(partsOf(`viewer ${NUMBER}!`)).toEqual(['viewer ', 1, '!']);
    expect(partsOf(`?interval=${INTERVAL} HTTP`)).toEqual(['?interval=', 2, ' HTTP']);
    expect(() => partsOf(`${NUMBER}${NUMBER}`)).toThrow('once');
  });

  test('has a list for the frequent requests, and one for each kind of occasional requests', () => {
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
