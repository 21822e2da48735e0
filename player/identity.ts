const ID_KEY = 'fourbeat-viewer';
const NAME_KEY = 'fourbeat-name';

/** Who watches, by this browser. */
export interface Identity {
  /** The same each time, where the browser keeps things for this page. */
  readonly id: string;
  /** What the viewer calls themselves; null: not said yet. */
  readonly name: string | null;
  /** Keeps a name for the next time. */
  keepName(name: string): void;
}

/** What of `localStorage` is needed. */
export type Keeping = Pick<Storage, 'getItem' | 'setItem'>;

/** @param keeping null where the browser keeps nothing: then somebody is new each time */
export function identityIn(keeping: Keeping | null): Identity {
  const id = keeping?.getItem(ID_KEY) ?? newId();
  // What has no room for it is a browser in which somebody is new each time.
  const keep = (key: string, value: string) => {
    try {
      keeping?.setItem(key, value);
    } catch {}
  };
  keep(ID_KEY, id);
  return {
    id,
    name: keeping?.getItem(NAME_KEY) || null,
    keepName: (name) => keep(NAME_KEY, name),
  };
}

/** The browser's own; null in a frame of another site's page that may keep nothing. */
export function ownKeeping(): Keeping | null {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

/** Not by `randomUUID`, which pages without TLS do not have. */
function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), String).join('-');
}
