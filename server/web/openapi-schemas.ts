import { z } from 'zod';

/** A JSON Schema (draft 2020-12), or any part of an OpenAPI document. */
export type JsonObject = { [member: string]: unknown };

const DEFINITION = '#/$defs/';
const COMPONENT = '#/components/schemas/';

/** The JSON Schemas of the document. Schemas with an id are defined once, under `components`. */
export class OpenApiSchemas {
  readonly components: JsonObject = {};

  /**
   * The JSON Schema of a request (`input`) or response (`output`) for the document.
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
    const existing = this.components[id];
    if (existing !== undefined && !Bun.deepEquals(existing, definition)) {
      throw new Error(`two schemas have the id ${id}`);
    }
    this.components[id] = definition;
  }
}

// Whether a member of a generated schema is part of the document: the generator adds more than the
// rules say. Response schemas stay open, so that clients accept new members (SPEC G-1).
function isIncluded(member: string, value: unknown, part: object, direction: 'input' | 'output') {
  if (direction === 'output') {
    if (member === 'additionalProperties') return value !== false;
    // No value comes near this maximum, and the page would show it as the example.
    if (value === Number.MAX_SAFE_INTEGER) return false;
  }
  // The pattern of a format adds nothing to the format.
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
