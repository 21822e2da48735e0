/** The local variables that are visible, as names of JavaScript variables, and the temporary variables. */
export class LuaScope {
  private readonly names = new Map<string, string>();
  private readonly temporaries: string[];

  private constructor(
    private readonly parent: LuaScope | null,
    private readonly counter: { next: number },
    temporaries: string[],
  ) {
    this.temporaries = temporaries;
  }

  static root(): LuaScope {
    return new LuaScope(null, { next: 1 }, []);
  }

  /** A block in the same function. */
  block(): LuaScope {
    return new LuaScope(this, this.counter, this.temporaries);
  }

  /** The body of a function inside. */
  function(): LuaScope {
    return new LuaScope(this, this.counter, []);
  }

  /** Declares a local variable. A second one of the same name hides the first from here on. */
  declare(name: string): string {
    const unique = this.unique(name);
    this.names.set(name, unique);
    return unique;
  }

  /** The JavaScript name of a local variable; null for globals. */
  find(name: string): string | null {
    return this.names.get(name) ?? this.parent?.find(name) ?? null;
  }

  /** A name that Lua code cannot use. */
  reserve(purpose: string): string {
    return this.unique(purpose);
  }

  /** A variable of the function, for a value that is used twice. */
  temporary(): string {
    const name = this.unique('temporary');
    this.temporaries.push(name);
    return name;
  }

  /** The declaration of the temporary variables of the function. */
  declarations(): string {
    return this.temporaries.length === 0 ? '' : `let ${this.temporaries.join(', ')};\n`;
  }

  private unique(name: string): string {
    const unique = `${name}$${this.counter.next}`;
    this.counter.next += 1;
    return unique;
  }
}
