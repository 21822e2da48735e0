/** A Lua value; nil is `undefined`. Strings are bytes: each character is one of U+0000–U+00FF. */
export type LuaValue = undefined | boolean | number | string | LuaTable | LuaFunction;

/** A Lua function. Translated functions return one value at most. */
export type LuaFunction = (...values: LuaValue[]) => LuaValue;

/** An error of running Lua code, or a construct that the translation does not support. */
export class LuaError extends Error {
  override readonly name = 'LuaError';
}

/**
 * A Lua table: an array part with the values from 1 on, and a map part in the order of insertion. A table
 * whose array part would have a gap is rejected, because its length is undefined in Lua.
 */
export class LuaTable {
  private map: Map<LuaValue, LuaValue> | null = null;

  /** @param items the values from 1 on, as `ipairs` visits them; the table owns the array */
  constructor(readonly items: LuaValue[] = []) {
    for (const item of items) if (item === undefined) throw new LuaError('a list contains nil');
  }

  get length(): number {
    return this.items.length;
  }

  get(key: LuaValue): LuaValue {
    if (typeof key === 'number' && key >= 1 && key <= this.items.length && Number.isInteger(key)) {
      return this.items[key - 1];
    }
    return this.map?.get(key);
  }

  set(key: LuaValue, value: LuaValue): void {
    if (typeof key !== 'string') {
      if (key === undefined || Number.isNaN(key)) throw new LuaError('table index is nil or NaN');
      if (Number.isInteger(key) && Number(key) >= 1 && Number(key) <= this.items.length + 1) {
        this.setItem(Number(key), value);
        return;
      }
    }
    if (value === undefined) this.map?.delete(key);
    else {
      this.map ??= new Map();
      this.map.set(key, value);
    }
  }

  /** The pairs of `pairs`: the array part, then the map part. */
  *pairs(): Generator<[LuaValue, LuaValue]> {
    for (const [index, item] of this.items.entries()) yield [index + 1, item];
    if (this.map) yield* this.map;
  }

  private setItem(key: number, value: LuaValue): void {
    const { items, map } = this;
    if (value === undefined) {
      if (key < items.length) throw new LuaError('nil inside a list is not supported');
      if (key === items.length) items.pop();
      return;
    }
    items[key - 1] = value;
    if (map === null) return;
    for (let next = items.length + 1; map.has(next); next += 1) {
      items.push(map.get(next));
      map.delete(next);
    }
  }
}
