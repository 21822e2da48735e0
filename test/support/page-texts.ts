/** Finds texts for people in the components of a page; they belong in the `texts.ts` of its folder. */

/** Properties whose strings people read. */
const TEXT_KEYS = new Set(
  'children,label,title,alt,placeholder,help,action,cancel,heading,text,what,aria-label,aria-description,aria-valuetext,aria-roledescription'.split(
    ',',
  ),
);
/** Strings that are no texts wherever they are: style classes, errors for developers. */
const SKIPPED_KEYS = new Set(['className', 'placement', 'header', 'Authorization']);
const SKIPPED_CALLS = /^(?:classes|Error|TypeError|RangeError|matchMedia|has|matches|closest)$/;
/** Names of keys, headers, classes and errors; the start of a URL; commands. */
const TECHNICAL =
  /^(?:Enter|Escape|Tab|Space|Home|End|Control\+Enter|Content-Type|Accept|sr-only|(?:\p{Lu}\p{Ll}+){2,}|https:\/\/|fourbeat .*)$/u;
/** What precedes or follows a string that is only compared. */
const COMPARED_AFTER = /(?:[=!]==?|\bcase)\s*$/;
const COMPARED_BEFORE = /^\s*(?:[=!]==?|in\b)/;

const TOKEN =
  /(?<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|(?<word>[\w$]+)|(?<space>\s+)|(?<arrow>=>)|(?<mark>.)/suy;
const ESCAPE = /\\(?:u\{?[\da-f]+\}?|[a-z])/gi;
const REGEX = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y;
const TEMPLATE_PART = /(?:\\.|\$(?!\{)|[^`\\$])*/suy;

interface Frame {
  /** `group` also stands for arrays and template strings: what is in them belongs to the outer key. */
  readonly kind: 'call' | 'group' | 'object' | 'template';
  readonly callee: string;
  key: string;
}

/** @returns the texts in the source of a component or of its functions, in their order */
export function findPageTexts(source: string): string[] {
  const code = new Bun.Transpiler({
    loader: 'tsx',
    tsconfig: { compilerOptions: { jsx: 'react-jsx' } },
  }).transformSync(source);
  return new TextScanner(code.replace(/^(?:import|export)\b.*from ".*";$/gm, '')).scan();
}

/** Scans the output of the transpiler, in which JSX is calls and attributes are properties. */
class TextScanner {
  readonly #code: string;
  readonly #frames: Frame[] = [{ kind: 'object', callee: '', key: '' }];
  readonly #texts: string[] = [];
  #position = 0;
  /** The last token that is not a space; a string literal: `"`. */
  #previous = '';

  constructor(code: string) {
    this.#code = code;
  }

  scan(): string[] {
    while (this.#position < this.#code.length) this.#readToken();
    return this.#texts;
  }

  get #frame(): Frame {
    return this.#frames.at(-1) ?? { kind: 'object', callee: '', key: '' };
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#position;
    const match = pattern.exec(this.#code);
    if (match) this.#position = pattern.lastIndex;
    return match;
  }

  #readToken(): void {
    // A slash after a value divides.
    if (this.#code[this.#position] === '/' && !/[\w$)\]"`]$/.test(this.#previous)) {
      if (this.#match(REGEX)) {
        this.#previous = '"';
        return;
      }
    }
    const { string, word, arrow, mark } = this.#match(TOKEN)?.groups ?? {};
    if (string !== undefined) this.#readString(string);
    else if (word !== undefined) this.#readWord(word);
    else if (arrow !== undefined) this.#previous = arrow;
    else if (mark !== undefined) this.#readMark(mark);
  }

  #readString(literal: string): void {
    const before = this.#code.slice(0, this.#position - literal.length).slice(-10);
    const after = this.#code.slice(this.#position, this.#position + 10);
    const isCompared = COMPARED_AFTER.test(before) || COMPARED_BEFORE.test(after);
    if (!this.#readKey(literal.slice(1, -1)) && !isCompared) this.#check(literal.slice(1, -1));
    this.#previous = '"';
  }

  #readWord(word: string): void {
    this.#readKey(word);
    this.#previous = word;
  }

  /** Takes a name before a colon, after `{` or `,`, as the key of a property. */
  #readKey(name: string): boolean {
    const isKey = /^[{,]$/.test(this.#previous) && /^\s*:/.test(this.#code.slice(this.#position));
    if (isKey && this.#frame.kind === 'object') this.#frame.key = name;
    return isKey;
  }

  #readMark(mark: string): void {
    const isValueBefore = /[\w$)\]]$/.test(this.#previous);
    if (mark === '(') this.#push(isValueBefore ? 'call' : 'group', this.#previous);
    if (mark === '[') this.#push(isValueBefore ? 'call' : 'group');
    if (mark === '{') this.#push('object');
    if (/[)\]}]/.test(mark)) this.#pop();
    if (/[,;]/.test(mark) && this.#frame.kind === 'object') this.#frame.key = '';
    this.#previous = mark;
    if (mark === '`') this.#readTemplate();
  }

  #push(kind: Frame['kind'], callee = ''): void {
    this.#frames.push({ kind, callee, key: '' });
  }

  #pop(): void {
    const closed = this.#frames.pop();
    if (closed?.kind === 'template') this.#readTemplate();
  }

  /** Reads the characters of a template string up to its end or to its next expression. */
  #readTemplate(): void {
    this.#check(this.#match(TEMPLATE_PART)?.[0] ?? '');
    const isEnd = this.#code[this.#position] === '`';
    this.#position += isEnd ? 1 : 2;
    if (!isEnd) this.#push('template');
    this.#previous = isEnd ? '"' : '{';
  }

  #check(text: string): void {
    if (TECHNICAL.test(text) || !/\p{L}/u.test(text.replaceAll(ESCAPE, ''))) return;
    const owner = this.#frames.findLast(
      ({ kind, key }) => key !== '' || !/group|template/.test(kind),
    );
    if (!owner || SKIPPED_KEYS.has(owner.key) || SKIPPED_CALLS.test(owner.callee)) return;
    if (TEXT_KEYS.has(owner.key) || isProse(text)) this.#texts.push(text);
  }
}

/** Whether a string reads like a text: it begins with a capital letter, or is of plain words. */
function isProse(text: string): boolean {
  return /^\s*\p{Lu}\p{Ll}/u.test(text) || /^\s*\p{Ll}+,?( [\p{Ll}’]+,?)+[.:…]?\s*$/u.test(text);
}
