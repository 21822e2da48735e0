import { accepts } from '../http/accept.ts';
import { PROBLEM_TYPE } from '../http/router.ts';
import { Unavailable } from '../platform/errors.ts';
import type { Connection } from './connection.ts';
import type { GatewayOperation } from './gateway-backend.ts';
import { FIELD, headerIn } from './request-head.ts';
import type { ResponseBytes } from './response-bytes.ts';
import type { RequestTemplate } from './viewer-request.ts';

/** The form of error responses that the headers of a template ask for. */
interface TemplatePreferences {
  /** Whether the client accepts `application/problem+json`. */
  readonly asProblem: boolean;
  readonly requestId: string | null;
}

/**
 * Sends 503 responses that are identical to those of the origin server. When a backend becomes
 * unavailable, all long polls end at once. Relaying them took 50 µs or more for each, so 20,000 clients
 * waited seconds for their responses.
 */
export class ErrorResponses {
  private readonly preferences = new WeakMap<RequestTemplate, TemplatePreferences>();

  constructor(private readonly responses: ResponseBytes) {}

  /**
   * @param startedMs when the request arrived, by `runtime.monotonicMs`; null: just now
   * @returns false, without a response, for any error other than `Unavailable`
   */
  send(
    connection: Connection,
    template: RequestTemplate,
    operation: GatewayOperation,
    error: unknown,
    startedMs: number | null = null,
  ): boolean {
    if (!(error instanceof Unavailable)) return false;
    const { asProblem, requestId } = this.preferencesOf(template);
    const id = operation.logUnavailable(requestId, error);
    if (startedMs === null) operation.counter.countImmediate(503);
    else operation.counter.count(503, startedMs);
    connection.respond(this.responses.unavailable(operation.allow, error, asProblem, id));
    return true;
  }

  private preferencesOf(template: RequestTemplate): TemplatePreferences {
    const cached = this.preferences.get(template);
    if (cached) return cached;
    const head = template.render(0, 'token');
    const preferences = {
      asProblem: accepts(headerIn(head, FIELD.accept), PROBLEM_TYPE),
      requestId: headerIn(head, FIELD['x-request-id']),
    };
    this.preferences.set(template, preferences);
    return preferences;
  }
}
