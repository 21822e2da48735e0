import { z } from 'zod';

/** A JSON Schema (draft 2020-12), or any part of an OpenAPI document. */
export type JsonObject = { [member: string]: unknown };

const DEFINITION = '#/$defs/';
const COMPONENT = '#/components/schemas/';

/** JSON Schemas of the document: those with an id stand once, under `components`. */
export class OpenApiSchemas {
  readonly components: JsonObject = {};

  /**
   * The schema of what is sent to the service or answered by it, as it goes into the document.
   * @throws Error when two different schemas have the same id
   */
  of(schema: z.ZodType, direction: 'input' | 'output'): JsonObject {
    const { $schema: _dialect, $defs, ...root } = z.toJSONSchema(schema, { io: direction });
    for (const [id, definition] of Object.entries($defs ?? {})) {
      this.add(id, rewriteSchema(definition, direction) as JsonObject);
    }
    return rewriteSchema(root, direction) as JsonObject;
  }

  private add(id: string, definition: JsonObject): void {
    const known = this.components[id];
    if (known !== undefined && !Bun.deepEquals(known, definition)) {
      throw new Error(`two schemas have the id ${id}`);
    }
    this.components[id] = definition;
  }
}

// What the generator says beyond the rules is left out. Answers stay open: a client made from this
// document must not break when a member is added (SPEC G-1).
function isIncluded(member: string, value: unknown, part: object, direction: 'input' | 'output') {
  if (direction === 'output') {
    if (member === 'additionalProperties') return value !== false;
    // No number of ours comes near; the page would show it as the example.
    if (value === Number.MAX_SAFE_INTEGER) return false;
  }
  // The expression of a format says nothing that the format does not.
  return member !== 'pattern' || !('format' in part);
}

function rewriteSchema(part: unknown, direction: 'input' | 'output'): unknown {
  if (Array.isArray(part)) return part.map((element) => rewriteSchema(element, direction));
  if (part === null || typeof part !== 'object') return part;
  const result: JsonObject = {};
  for (const [member, value] of Object.entries(part)) {
    if (!isIncluded(member, value, part, direction)) continue;
    result[member] =
      member === '$ref' && typeof value === 'string'
        ? value.replace(DEFINITION, COMPONENT)
        : rewriteSchema(value, direction);
  }
  return result;
}
