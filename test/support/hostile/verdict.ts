import type { ExchangeResult, RawResponse } from './raw-exchange.ts';
import type { HostileRequest } from './requests.ts';
import type { World } from './world.ts';

/** What the service did wrong in response to one request; empty when nothing. */
export function violationsOf(
  request: HostileRequest,
  result: ExchangeResult,
  world: World,
): readonly string[] {
  return [
    ...(result.isHang ? ['no end within 16 s'] : []),
    ...result.responses.flatMap((response) => statusViolations(response)),
    ...leaks(request, result.text, world),
    ...orderViolations(request, result.responses),
    ...(isOutOfStep(request, result) ? ['bytes between two responses'] : []),
  ];
}

function statusViolations({ status, head, body }: RawResponse): string[] {
  // 505 is the response to a version that is not supported (SPEC G-31).
  if (status >= 500 && status !== 505) return [`status ${status}: ${body.slice(0, 200)}`];
  if (status === 403) return ['status 403, which the interface does not have'];
  if (status < 400 || body === '' || !/content-type: [^\r]*json/.test(head)) return [];
  return isErrorBody(body, status)
    ? []
    : [`an error body that is not valid: ${body.slice(0, 200)}`];
}

function isErrorBody(body: string, status: number): boolean {
  try {
    const parsed = JSON.parse(body);
    return parsed.status === status && typeof parsed.detail === 'string';
  } catch {
    return false;
  }
}

function leaks({ owner }: HostileRequest, text: string, world: World): string[] {
  const leaked = world.secrets.filter((secret) => secret.owner !== owner);
  return [
    ...leaked
      .filter((secret) => text.includes(secret.text))
      .map((s) => `a draft of ${s.owner} leaked`),
    ...(owner !== 'main' && text.includes(`"answer":"${world.rightChoice}"`)
      ? ['the right answer leaked']
      : []),
  ];
}

function orderViolations(
  { requestIds }: HostileRequest,
  responses: readonly RawResponse[],
): string[] {
  if (requestIds === undefined) return [];
  const received = responses.map(({ head }) => /\r\nx-request-id: (\S+)/.exec(head)?.[1] ?? '');
  const isInOrder = requestIds.every((id, index) => id === '' || id === received[index]);
  return isInOrder ? [] : [`responses to ${requestIds.join(' ')} are ${received.join(' ')}`];
}

/** Whether something follows a response that is no response. */
function isOutOfStep({ kind }: HostileRequest, { text, responses }: ExchangeResult): boolean {
  const upgraded = responses.some(({ status }) => status === 101);
  if (upgraded || kind === 'rtmp' || kind === 'srt') return false;
  return text !== '' && !text.startsWith('HTTP/1.1 ');
}

/** How the responses of a request and of its twin differ; empty when they are the same. */
export function differenceOf(one: ExchangeResult, two: ExchangeResult): readonly string[] {
  const [first, second] = [normalized(one), normalized(two)];
  return first === second ? [] : [`gateway: ${first}\norigin server: ${second}`];
}

function normalized({ responses }: ExchangeResult): string {
  return responses
    .map(({ status, head, body }) => {
      const lines = head.split('\r\n').filter((line) => !/^(?:date|x-request-id):/.test(line));
      // The first intervals of an event stream come in pieces that differ.
      if (head.includes('event-stream')) return lines.sort().join('\n');
      // Errors name the current interval.
      const text = status < 400 ? body : body.replace(/\d{10}/g, 'N');
      return [...lines.sort(), text].join('\n');
    })
    .join('\n\n');
}
