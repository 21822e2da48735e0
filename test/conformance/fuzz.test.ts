import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { expectNoDefects } from '../support/conformance/expectations.ts';
import {
  HIGH_RATES,
  OPERATION_NAMES,
  OPERATIONS,
  send,
  type ValidRequest,
  validRequest,
} from '../support/conformance/operations.ts';
import { rounds } from '../support/full-run.ts';
import { type Harness, startService } from '../support/harness/harness.ts';

// SQLite accepts some texts that PostgreSQL rejects, so run on both.
describe.each(['embedded', 'shared'] as const)('on %s backends', (backends) => {
  let harness: Harness;
  const requests = new Map<string, ValidRequest>();
  beforeAll(async () => {
    harness = await startService({ backends, config: { rates: HIGH_RATES } });
    for (const name of OPERATION_NAMES) requests.set(name, await validRequest(harness, name));
  }, 30_000);
  afterAll(async () => {
    expectNoDefects(harness);
    await harness.close();
  });

  const RUNS = rounds(100, 600);
  const WITH_BODY = OPERATION_NAMES.filter((name) => OPERATIONS[name].body);

  /** Expects a timely response below 500, and a well-formed body if it is an error. */
  async function expectNoDefect(response: Response): Promise<void> {
    expect(response.status).toBeWithin(200, 500);
    expect(response.status).not.toBe(403);
    expect(response.headers.get('vary')).toBe('Accept');
    // An event stream does not end, so do not read its body.
    if (response.headers.get('content-type') === 'text/event-stream') {
      return response.body?.cancel();
    }
    const text = await response.text();
    if (response.status < 400) return;
    const { status, detail } = JSON.parse(text);
    expect(status).toBe(response.status);
    expect(detail.length).toBeGreaterThan(10);
  }

  const bytes = fc.uint8Array({ maxLength: 300 });
  const strangeText = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('__proto__', 'constructor', '\0', '\ud800', '9'.repeat(400), ''),
  );
  const strangeValue = fc.oneof(
    fc.jsonValue({ maxDepth: 5, stringUnit: 'binary' }),
    strangeText,
    fc.double(),
    fc.maxSafeInteger(),
  );

  test('[G-28] [I-7] no random body causes a 5xx or a hang', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...WITH_BODY),
        fc.oneof(
          fc.record({ strange: bytes }),
          fc.record({
            changes: fc.dictionary(fc.integer({ min: 0, max: 5 }).map(String), strangeValue),
          }),
          fc.record({
            cut: fc.nat({ max: 400 }),
            filler: fc.constantFrom('', '"', '}', '{', '\\'),
          }),
        ),
        async (name, variant) => {
          const request = requests.get(name) as ValidRequest;
          let body: string | Uint8Array;
          if ('strange' in variant) body = variant.strange;
          else if ('changes' in variant) {
            // Assign values to existing members by position.
            const members = Object.entries(request.body ?? {});
            const changed = members.map(([key, value], i) => [key, variant.changes[i] ?? value]);
            body = JSON.stringify(Object.fromEntries(changed));
          } else body = JSON.stringify(request.body).slice(0, variant.cut) + variant.filler;
          await expectNoDefect(await send(harness, request, { body: body as string }));
        },
      ),
      { numRuns: RUNS },
    );
  }, 60_000);

  test('[G-28] [I-7] no random path or query causes a 5xx or a hang', async () => {
    const piece = fc.oneof(
      strangeText.filter((text) => text.isWellFormed()).map(encodeURIComponent),
      fc.constantFrom('%', '%ff', '%00', '%2e%2e', '%2f', '//', ';', '?', '&', '=', '+', '@', '..'),
      fc.uuid(),
      fc.string().map((text) => text.replace(/[^\x21-\x7e]|#/g, 'x')),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...OPERATION_NAMES),
        fc.array(piece, { maxLength: 4 }),
        fc.boolean(),
        async (name, pieces, isQuery) => {
          const request = requests.get(name) as ValidRequest;
          const { path: pattern } = OPERATIONS[name];
          const strange = pieces.join('');
          const path = isQuery
            ? `${request.path.split('?')[0]}?${strange}`
            : pattern.includes('{')
              ? pattern.replace(/\{\w+\}/, () => strange)
              : `${pattern}/${strange}`;
          await expectNoDefect(await send(harness, { ...request, path }));
        },
      ),
      { numRuns: RUNS },
    );
  }, 60_000);

  test('[G-28] [I-6] no random credential is accepted', async () => {
    const guarded = OPERATION_NAMES.filter(
      (name) => !['public', 'optional', 'configured'].includes(OPERATIONS[name].access),
    );
    const header = fc.oneof(
      fc.string().map((text) => text.replace(/[^\x20-\x7e]/g, '')),
      fc.base64String().map((text) => `Bearer ${text}`),
      fc
        .array(fc.base64String({ maxLength: 60 }), { maxLength: 4 })
        .map((p) => `Bearer ${p.join('.')}`),
      fc.stringMatching(/^[0-9A-Za-z]{0,44}$/).map((text) => `Token fb_${text}`),
      fc.stringMatching(/^[0-9A-Za-z]{0,44}$/).map((text) => `Presenter pk_${text}`),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...guarded), header, async (name, authorization) => {
        const request = requests.get(name) as ValidRequest;
        const headers = { ...request.headers, Authorization: authorization };
        const response = await send(harness, { ...request, headers });
        await expectNoDefect(response);
        expect(response.status).toBe(401);
      }),
      { numRuns: RUNS },
    );
  }, 60_000);
});
