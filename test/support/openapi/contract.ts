import Ajv2020, { type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { OpenApiDocument } from '../../../server/web/openapi.ts';

type Json = Record<string, unknown>;

interface DocumentedResponse {
  readonly headers?: Record<string, Json>;
  readonly content?: Record<string, Json>;
}

export interface DocumentedOperation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly hasBody: boolean;
  readonly security: readonly Json[];
  readonly statuses: readonly string[];
}

/** A request of an operation; method and path come from the document. */
export interface OperationRequest {
  readonly params?: Record<string, string>;
  readonly query?: string;
  readonly body?: unknown;
  /** The raw body, instead of `body`. */
  readonly text?: string;
  readonly authorization?: string | undefined;
  readonly headers?: Record<string, string>;
}

const ID = 'openapi';
const METHODS = ['get', 'post', 'patch', 'delete', 'put'];
const escapePointer = (part: string) =>
  encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));
const pointer = (...parts: string[]) => `${ID}#/${parts.map(escapePointer).join('/')}`;

/**
 * Checks real responses against the document: status, content type, headers and body. A body must not
 * have undocumented members, although clients have to accept them.
 */
export class Contract {
  /** Statuses of responses that matched the document, by operation. */
  readonly checkedStatuses = new Map<string, Set<number>>();
  readonly operations: readonly DocumentedOperation[];
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true });

  constructor(private readonly document: OpenApiDocument) {
    addFormats(this.ajv);
    this.ajv.addSchema(closeObjects(document) as Json, ID);
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

  /** Sends a request of an operation and checks the response against the document. */
  async send(url: string, operationId: string, request: OperationRequest = {}): Promise<Response> {
    const { method, path } = this.operation(operationId);
    const { params = {}, query = '', body, authorization, headers = {} } = request;
    const text = request.text ?? (body === undefined ? undefined : JSON.stringify(body));
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

  /** @throws Error for a request body that does not match the document */
  checkRequest(operationId: string, body: unknown): void {
    const { path, method } = this.operation(operationId);
    const at = [path, method, 'requestBody', 'content', 'application/json', 'schema'];
    this.validate(`${operationId} request`, pointer('paths', ...at), body);
  }

  /** @throws Error for a webhook delivery that does not match the document */
  checkDelivery(headers: Readonly<Record<string, string>>, body: string): void {
    const message = JSON.parse(body);
    const item = this.document.webhooks[message.type]?.post;
    if (!item) throw new Error(`${message.type} is not documented`);
    const at = ['webhooks', message.type, 'post'];
    const content = ['requestBody', 'content', 'application/json', 'schema'];
    this.validate(message.type, pointer(...at, ...content), message);
    for (const [index, { name }] of (item.parameters as { name: string }[]).entries()) {
      const schema = pointer(...at, 'parameters', String(index), 'schema');
      this.validate(`${message.type} ${name}`, schema, headers[name]);
    }
  }

  /** @throws Error for a response that does not match the document */
  async check(operationId: string, response: Response): Promise<Response> {
    const { path, method, statuses } = this.operation(operationId);
    const status = String(response.status);
    const name = `${operationId} ${status}`;
    if (!statuses.includes(status)) {
      throw new Error(`${name} is not documented: ${await response.text()}`);
    }
    const location = ['paths', path, method, 'responses', status];
    const documented = this.document.paths[path]?.[method]?.responses as Record<string, Json>;
    const { at, value } = this.resolve(location, documented[status] as Json);
    this.checkHeaders(name, at, value, response.headers);
    const seen = this.checkedStatuses.get(operationId) ?? new Set();
    this.checkedStatuses.set(operationId, seen.add(response.status));
    return this.checkBody(name, at, value, response);
  }

  private checkHeaders(
    name: string,
    at: string[],
    { headers = {} }: DocumentedResponse,
    actual: Headers,
  ) {
    for (const [header, entry] of Object.entries(headers)) {
      const { at: location, value } = this.resolve([...at, 'headers', header], entry);
      const text = actual.get(header);
      if (text === null) {
        if (value.required) throw new Error(`${name} lacks the header ${header}`);
        continue;
      }
      const isNumber = (value.schema as Json).type === 'integer';
      const parsed = isNumber ? Number(text) : text;
      this.validate(`${name} ${header}`, pointer(...location, 'schema'), parsed);
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
      throw new Error(`${name} has status ${body.status} in its body`);
    }
    return response;
  }

  /** Resolves a reference inside the document. */
  private resolve(at: string[], value: Json): { at: string[]; value: Json } {
    if (typeof value.$ref !== 'string') return { at, value };
    const parts = value.$ref.replace('#/', '').split('/');
    let target: unknown = this.document;
    for (const part of parts) target = (target as Json)[part];
    if (target === undefined) throw new Error(`the reference ${value.$ref} has no target`);
    return { at: parts, value: target as Json };
  }

  /** @throws Error for a value that does not match the schema at this pointer of the document */
  validate(name: string, schema: string, value: unknown): void {
    const check = this.ajv.getSchema(schema);
    if (!check) throw new Error(`${name}: there is no schema ${schema}`);
    if (check(value)) return;
    const text = JSON.stringify(value).slice(0, 500);
    throw new Error(`${name} does not fit: ${formatErrors(check.errors ?? [])} in ${text}`);
  }
}

const formatErrors = (errors: readonly ErrorObject[]) =>
  errors.map(({ instancePath, message }) => `${instancePath} ${message}`).join(', ');

function closeObjects(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(closeObjects);
  if (part === null || typeof part !== 'object') return part;
  const copy = Object.fromEntries(
    Object.entries(part).map(([name, value]) => [name, closeObjects(value)]),
  );
  const isOpen = copy.type === 'object' && copy.properties && !('additionalProperties' in copy);
  return isOpen ? { ...copy, additionalProperties: false } : copy;
}
