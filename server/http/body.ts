import type { z } from 'zod';
import { describeIssue, summarizeIssues } from '../../protocol/issues.ts';
import { runtime } from '../platform/runtime.ts';
import { parseJsonObject } from './json.ts';
import { Problem } from './problem.ts';

/** Time limit for a body after its headers. */
const BODY_DEADLINE_MS = 5_000;
const PARAMETER = /^([\w!#$%&'*+.^`|~-]+)\s*=\s*(?:[\w!#$%&'*+.^`|~-]+|"[^"\\]*")$/;
const UTF_8 = /=\s*"?utf-8"?$/;
const LENGTH = /^\d+$/;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Checks the announced length of a body.
 * @returns whether the request announces a length
 * @throws Problem 413 for a length over `maxBytes`; 400 for several lengths, of which the runtime reads the first
 */
export function checkContentLength(request: Request, maxBytes: number): boolean {
  const length = request.headers.get('content-length');
  if (length === null) return false;
  // The runtime joins several lines: `5, 5`.
  if (!LENGTH.test(length)) {
    throw new Problem(400, 'Send one Content-Length, a number of bytes.', { Connection: 'close' });
  }
  if (Number(length) > maxBytes) throw tooLarge(maxBytes);
  return true;
}

/**
 * Reads and discards an unexpected chunked body.
 * @returns null when there is none; else a promise, which rejects with Problem 413, 408 or 400
 * @throws Problem 400 for a GET: the runtime hides its body, so that its size cannot be limited
 */
export function discardChunkedBody(request: Request, maxBytes: number): Promise<unknown> | null {
  if (!request.headers.has('transfer-encoding')) return null;
  if (request.body) return readBytes(request, maxBytes, false);
  throw new Problem(400, 'Send no body with a GET request.', { Connection: 'close' });
}

export function hasBody(request: Request): boolean {
  const length = request.headers.get('content-length');
  return length === null ? request.headers.has('transfer-encoding') : length !== '0';
}

/**
 * Reads and validates a JSON body.
 * @param beforeParse delays it once the body is complete
 * @throws Problem 415, 413, 408 or 400
 */
export async function readBody<T extends z.ZodType>(
  request: Request,
  schema: T,
  maxBytes: number,
  beforeParse?: () => Promise<void>,
): Promise<z.infer<T>> {
  const type = request.headers.get('content-type');
  if (type === null || !isJson(type) || request.headers.has('content-encoding')) {
    throw new Problem(415, 'Send the body as application/json in UTF-8, without encoding.');
  }
  const isAnnounced = checkContentLength(request, maxBytes);
  const bytes = await readBytes(request, maxBytes, isAnnounced);
  await beforeParse?.();
  return parseBody(schema, bytes);
}

/** Validates the bytes of a JSON body. @throws Problem 400 */
export function parseBody<T extends z.ZodType>(schema: T, bytes: Uint8Array): z.infer<T> {
  return validate(schema, parseJsonObject(decodeUtf8(bytes)));
}

/** Validates a value. @throws Problem 400 that names up to three wrong members, each with one issue */
export function validate<T extends z.ZodType>(schema: T, value: unknown): z.infer<T> {
  const result = schema.safeParse(value, { error: describeIssue });
  if (result.success) return result.data;
  throw new Problem(400, `${summarizeIssues(result.error.issues)}.`);
}

// Unknown parameters are harmless; only another charset is rejected.
function isJson(contentType: string): boolean {
  const [type, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase());
  if (type !== 'application/json') return false;
  return parameters.every((parameter) => {
    if (parameter === '') return true;
    const name = PARAMETER.exec(parameter)?.[1];
    return name !== undefined && (name !== 'charset' || UTF_8.test(parameter));
  });
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new Problem(400, 'The body is not valid UTF-8.');
  }
}

function tooLarge(maxBytes: number): Problem {
  return new Problem(413, `The body may have at most ${maxBytes} bytes.`, { Connection: 'close' });
}

/** @param isAnnounced its length is announced, and was checked */
async function readBytes(
  request: Request,
  maxBytes: number,
  isAnnounced: boolean,
): Promise<Uint8Array> {
  if (!request.body) return new Uint8Array();
  let timer: Timer | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = runtime.setTimeout(() => {
      const detail = `The body was not complete within ${BODY_DEADLINE_MS / 1000} s.`;
      reject(new Problem(408, detail, { Connection: 'close' }));
    }, BODY_DEADLINE_MS);
  });
  try {
    // The runtime delivers a body of announced length at once. A chunked body is counted while it
    // arrives, so that it never exceeds the limit.
    const body = isAnnounced ? request.bytes() : readChunks(request.body, maxBytes);
    return await Promise.race([body, deadline]);
  } catch (error) {
    if (error instanceof Problem) throw error;
    // The connection broke. The response rarely arrives, but this is not a defect.
    throw new Problem(400, 'The body ended before it was complete.');
  } finally {
    runtime.clearTimer(timer);
  }
}

async function readChunks(body: ReadableStream<Uint8Array>, maxBytes: number) {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.length;
    if (length > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, length);
}
