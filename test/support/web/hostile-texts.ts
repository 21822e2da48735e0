/** A JSON Schema as in OpenAPI. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
}

interface OpenApiOperation {
  readonly operationId: string;
  readonly requestBody?: {
    readonly content: { readonly 'application/json': { readonly schema: Schema } };
  };
}

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

type Body = Readonly<Record<string, unknown>>;

/** Where an operation is, and the form of its body. */
interface Described {
  readonly method: string;
  readonly path: string;
  readonly body: Schema | null;
}

/** Elements and attributes that only markup in a text can create. */
export const INJECTED = 'x-injected';
/** Function that only a script in a text calls. */
export const RUN = 'runInjected';

/** Ways out of an attribute, an element, a script, a comment and a template; bidi and line controls. */
const FRAGMENTS = [
  // The first one fits into the shortest texts.
  `"'><i ${INJECTED}>`,
  `</script></title><script>${RUN}()</script>`,
  `<img ${INJECTED} src=x onerror=${RUN}()>`,
  `" ${INJECTED}=" onfocus="${RUN}()" autofocus="`,
  '--\u2028]]>\u2029',
  '&lt;i&gt;&#60;',
  `\${${RUN}()}{{${RUN}()}}`,
  '\u202eright\u2066left',
  `;}*{background:url(//127.0.0.1/)}`,
  `javascript:${RUN}()`,
  '\\"\\u003cscript>',
];
// White space is not allowed in addresses.
const IN_ADDRESS = `"'><i/${INJECTED}/onclick=${RUN}()>`;

const MARKER = /zq\d+zq/g;

/** The numbers of the hostile texts in a page. */
export const markersIn = (text: string): string[] => [...new Set(text.match(MARKER))];

/**
 * Fills every text of request bodies, as OpenAPI describes them, with attempts to become markup or script.
 * So a text that is added to the interface is one of them by itself.
 */
export class HostileTexts {
  /** Where each text was sent, such as `createStream.title`, by its marker. */
  readonly sent = new Map<string, string>();
  /** The operations whose bodies were filled. */
  readonly filled = new Set<string>();
  /** Members that had a value of the test, such as `createQuiz.answer`. */
  readonly #given = new Set<string>();
  readonly #operations = new Map<string, Described>();
  readonly #schemas: OpenApi['components']['schemas'];

  /** @param origin where URLs point to */
  constructor(
    document: OpenApi,
    private readonly origin: string,
  ) {
    this.#schemas = document.components.schemas;
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const [method, { operationId, requestBody }] of Object.entries(methods)) {
        const body = requestBody?.content['application/json'].schema ?? null;
        this.#operations.set(operationId, { method: method.toUpperCase(), path, body });
      }
    }
  }

  /** The operations that take texts. */
  get operations(): string[] {
    return [...this.#operations].flatMap(([name, { body }]) =>
      body && this.#texts(body, name).length > 0 ? [name] : [],
    );
  }

  /** The texts that an operation takes, such as `createStream.title`, without those given by tests. */
  fieldsOf(name: string): string[] {
    const { body } = this.#described(name);
    const isGiven = (field: string) =>
      [...this.#given].some((given) => field === given || field.startsWith(`${given}.`));
    return body ? this.#texts(body, name).filter((field) => !isGiven(field)) : [];
  }

  /**
   * A request of an operation whose texts are hostile.
   * @param ids of its path
   * @param given members that are as they are here, or that depend on the others
   */
  request(
    name: string,
    ids: Readonly<Record<string, string>>,
    given: Body = {},
  ): { readonly method: string; readonly path: string; readonly body: Body | undefined } {
    const { method, path, body } = this.#described(name);
    return {
      method,
      path: path.replace(/\{(\w+)\}/g, (_, id: string) => encodeURIComponent(ids[id] ?? id)),
      body: body ? this.bodyOf(name, given) : undefined,
    };
  }

  /** The body of `request`. */
  bodyOf(name: string, given: Body = {}): Body {
    const { body } = this.#described(name);
    if (!body) throw new Error(`${name} has no body`);
    this.filled.add(name);
    for (const key of Object.keys(given)) this.#given.add(`${name}.${key}`);
    return this.#object(body, name, given);
  }

  #described(name: string): Described {
    const described = this.#operations.get(name);
    if (!described) throw new Error(`there is no operation ${name}`);
    return described;
  }

  #object(schema: Schema, name: string, given: Body): Body {
    const { properties = {} } = this.#variant(schema, given);
    const members = Object.entries(properties).map(([key, member]) => {
      const field = `${name}.${key}`;
      if (key in given) return [key, given[key]] as const;
      return [key, this.#value(member, field)] as const;
    });
    return Object.fromEntries(members.filter(([, value]) => value !== undefined));
  }

  /** The form of an object with these members, of several. */
  #variant(schema: Schema, given: Body): Schema {
    const resolved = this.#resolved(schema);
    const variants = (resolved.oneOf ?? resolved.anyOf)?.map((one) => this.#resolved(one));
    if (!variants) return resolved;
    const accepts = (type: Schema | undefined, value: unknown) =>
      type === undefined ||
      ((type.const === undefined || type.const === value) &&
        (type.enum === undefined || type.enum.includes(value)));
    const fits = variants.find(({ properties }) =>
      Object.entries(given).every(([key, value]) => accepts(properties?.[key], value)),
    );
    if (!fits) throw new Error('no variant has the given members');
    return fits;
  }

  #resolved(schema: Schema): Schema {
    if (schema.$ref) return this.#schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {};
    const isNullable = schema.anyOf?.length === 2 && schema.anyOf[1]?.type === 'null';
    return isNullable ? this.#resolved(schema.anyOf?.[0] ?? {}) : schema;
  }

  #value(schema: Schema, field: string): unknown {
    const { type, items, minItems = 1, properties, ...text } = this.#resolved(schema);
    if (properties) return this.#object({ properties }, field, {});
    if (type === 'array' && items) {
      const values = Array.from({ length: minItems + 1 }, () => this.#value(items, field));
      return values.includes(undefined) ? undefined : values;
    }
    if (type !== 'string') return undefined;
    const number = `zq${this.sent.size}zq`;
    const hostile = hostileText(number, this.origin, text);
    if (hostile !== undefined) this.sent.set(number, field);
    return hostile;
  }

  /** The fields with texts in a schema. */
  #texts(schema: Schema, field: string): string[] {
    const { type, items, properties = {}, oneOf, anyOf, ...text } = this.#resolved(schema);
    if (items) return this.#texts(items, field);
    if (type === 'string') return hostileText('', this.origin, text) === undefined ? [] : [field];
    const variants = (oneOf ?? anyOf ?? []).flatMap((one) => this.#texts(one, field));
    const members = Object.entries(properties).flatMap(([key, member]) =>
      this.#texts(member, `${field}.${key}`),
    );
    return [...new Set([...variants, ...members])];
  }
}

/** @returns undefined: only certain values are allowed */
function hostileText(marker: string, origin: string, schema: Schema): string | undefined {
  const { enum: values, const: value, pattern, format, maxLength = 1_000 } = schema;
  if (values || value !== undefined) return undefined;
  if (format === 'uri') return endless(`${origin}/${marker}${IN_ADDRESS}`, maxLength);
  if (format) return undefined;
  const domain = '@example.org';
  const text = pattern
    ? endless(marker + IN_ADDRESS, maxLength - domain.length) + domain
    : endless(marker + FRAGMENTS.join(''), maxLength);
  return !pattern || new RegExp(pattern, 'u').test(text) ? text : undefined;
}

/** A text of this length, whose last word is as long as possible. */
const endless = (text: string, chars: number) =>
  [...text.padEnd(chars, 'ha')].slice(0, chars).join('');
