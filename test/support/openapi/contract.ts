import Ajv2020, { type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { OpenApiDocument } from '../../../server/web/openapi.ts';

type Json = Record<string, unknown>;

interface DocumentedResponse {
  readonly headers?: Record<string, Json>;
  readonly content?: Record<string, Json>;
}

/** An operation, as the document has it. */
export interface DocumentedOperation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly hasBody: boolean;
  readonly security: readonly Json[];
  readonly statuses: readonly string[];
}

/** A request that is made from what the document says about its operation. */
export interface Ask {
  readonly params?: Record<string, string>;
  readonly query?: string;
  readonly body?: unknown;
  /** Instead of `body`: these very bytes. */
  readonly text?: string;
  readonly authorization?: string | undefined;
  readonly headers?: Record<string, string>;
}

const ID = 'openapi';
const METHODS = ['get', 'post', 'patch', 'delete', 'put'];
const escaped = (part: string) =>
  encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
const pointer = (...parts: string[]) => `${ID}#/${parts.map(escaped).join('/')}`;

/**
 * Holds real responses against the document: status, content type, headers, body. A body may not
 * have a member that the document does not know, although clients are told to expect more.
 */
export class Contract {
  /** Statuses that were seen and agreed, by operation. */
  readonly seen = new Map<string, Set<number>>();
  readonly operations: readonly DocumentedOperation[];
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });

  constructor(private readonly document: OpenApiDocument) {
    addFormats(this.ajv);
    this.ajv.addSchema(closed(document) as Json, ID);
    this.operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item)
        .filter(([method]) => METHODS.includes(method))
        .map(([method, operation]) => ({
          operationId: String(operation.operationId),
          method,
          path,
          hasBody: operation.requestBody !== undefined,
          security: operation.security as Json[],
          statuses: Object.keys(operation.responses as Json),
        })),
    );
  }

  operation(operationId: string): DocumentedOperation {
    const found = this.operations.find((operation) => operation.operationId === operationId);
    if (!found) throw new Error(`the document has no operation ${operationId}`);
    return found;
  }

  /** Sends a request of the operation and holds the response against the document. */
  async ask(url: string, operationId: string, ask: Ask = {}): Promise<Response> {
    const { method, path } = this.operation(operationId);
    const { params = {}, query = '', body, authorization, headers = {} } = ask;
    const text = ask.text ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await fetch(
      url + path.replace(/\{(\w+)\}/g, (_, name) => params[name] ?? name) + query,
      {
        method: method.toUpperCase(),
        headers: {
          ...(authorization !== undefined && { Authorization: authorization }),
          ...(text !== undefined && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(text !== undefined && { body: text }),
      },
    );
    if (response.ok && body !== undefined) this.checkRequest(operationId, body);
    return this.check(operationId, response);
  }

  /** @throws Error when the document does not allow this request body. */
  checkRequest(operationId: string, body: unknown): void {
    const { path, method } = this.operation(operationId);
    const at = [path, method, 'requestBody', 'content', 'application/json', 'schema'];
    this.validate(`${operationId} request`, pointer('paths', ...at), body);
  }

  /** @throws Error when what the service sent to a webhook is not as the document says. */
  checkDelivery(headers: Readonly<Record<string, string>>, body: string): void {
    const message = JSON.parse(body);
    const item = this.document.webhooks[message.type]?.post;
    if (!item) throw new Error(`${message.type} is not documented`);
    const at = ['webhooks', message.type, 'post'];
    const content = ['requestBody', 'content', 'application/json', 'schema'];
    this.validate(message.type, pointer(...at, ...content), message);
    for (const [place, { name }] of (item.parameters as { name: string }[]).entries()) {
      const schema = pointer(...at, 'parameters', String(place), 'schema');
      this.validate(`${message.type} ${name}`, schema, headers[name]);
    }
  }

  /** @throws Error when the response is not as the document says. */
  async check(operationId: string, response: Response): Promise<Response> {
    const { path, method, statuses } = this.operation(operationId);
    const status = String(response.status);
    const name = `${operationId} ${status}`;
    if (!statuses.includes(status)) {
      throw new Error(`${name} is not documented: ${await response.text()}`);
    }
    const place = ['paths', path, method, 'responses', status];
    const documented = this.document.paths[path]?.[method]?.responses as Record<string, Json>;
    const { at, value } = this.resolved(place, documented[status] as Json);
    this.checkHeaders(name, at, value, response.headers);
    const seen = this.seen.get(operationId) ?? new Set();
    this.seen.set(operationId, seen.add(response.status));
    return this.checkBody(name, at, value, response);
  }

  private checkHeaders(
    name: string,
    at: string[],
    { headers = {} }: DocumentedResponse,
    sent: Headers,
  ) {
    for (const [header, entry] of Object.entries(headers)) {
      const { at: place, value } = this.resolved([...at, 'headers', header], entry);
      const text = sent.get(header);
      if (text === null) {
        if (value.required) throw new Error(`${name} lacks the header ${header}`);
        continue;
      }
      const isNumber = (value.schema as Json).type === 'integer';
      const found = isNumber ? Number(text) : text;
      this.validate(`${name} ${header}`, pointer(...place, 'schema'), found);
    }
  }

  private async checkBody(
    name: string,
    at: string[],
    { content }: DocumentedResponse,
    response: Response,
  ): Promise<Response> {
    const type = response.headers.get('content-type');
    if (!content) {
      const text = await response.text();
      if (type !== null || text !== '') throw new Error(`${name} has a body: ${type} ${text}`);
      return response;
    }
    const media = type?.split(';')[0] ?? '';
    if (!Object.hasOwn(content, media)) throw new Error(`${name} is ${type}, not documented`);
    if (media === 'text/event-stream') return response;
    const text = await response.clone().text();
    const isJson = media === 'application/json' || media === 'application/problem+json';
    const body = isJson ? JSON.parse(text) : text;
    this.validate(`${name} body`, pointer(...at, 'content', media, 'schema'), body);
    if (!response.ok && body.status !== response.status) {
      throw new Error(`${name} says ${body.status} in its body`);
    }
    return response;
  }

  /** Follows a reference inside the document. */
  private resolved(at: string[], value: Json): { at: string[]; value: Json } {
    if (typeof value.$ref !== 'string') return { at, value };
    const parts = value.$ref.replace('#/', '').split('/');
    let target: unknown = this.document;
    for (const part of parts) target = (target as Json)[part];
    if (target === undefined) throw new Error(`${value.$ref} leads nowhere`);
    return { at: parts, value: target as Json };
  }

  /** @throws Error that says what does not fit the schema at this place of the document. */
  validate(name: string, schema: string, value: unknown): void {
    const check = this.ajv.getSchema(schema);
    if (!check) throw new Error(`${name}: there is no schema ${schema}`);
    if (check(value)) return;
    const text = JSON.stringify(value).slice(0, 500);
    throw new Error(`${name} does not fit: ${explained(check.errors ?? [])} in ${text}`);
  }
}

const explained = (errors: readonly ErrorObject[]) =>
  errors.map(({ instancePath, message }) => `${instancePath} ${message}`).join(', ');

function closed(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closed);
  if (part === null || typeof part !== 'object') return part;
  const copy = Object.fromEntries(
    Object.entries(part).map(([name, value]) => [name, closed(value)]),
  );
  const isOpen = copy.type === 'object' && copy.properties && !('additionalProperties' in copy);
  return isOpen ? { ...copy, additionalProperties: false } : copy;
}
