import { pageStorage, type Storage } from '../sdk/environment.ts';

const ID_KEY = 'fourbeat-viewer';
const NAME_KEY = 'fourbeat-name';

/** Who watches, by this browser. */
export interface Identity {
  /** The same each time, where the browser keeps things for this page. */
  readonly id: string;
  /** What the viewer calls themselves; empty: not said yet. */
  readonly name: string;
}

/** @param storage null where nothing is kept: then somebody is new each time */
export function identityIn(storage: Storage | null = pageStorage()): Identity {
  const id = storage?.getItem(ID_KEY) || newId();
  keep(storage, ID_KEY, id);
  return { id, name: storage?.getItem(NAME_KEY) ?? '' };
}

/** Keeps what the viewer calls themselves for the next time. */
export function keepName(name: string, storage: Storage | null = pageStorage()): void {
  keep(storage, NAME_KEY, name);
}

function keep(storage: Storage | null, key: string, value: string): void {
  try {
    storage?.setItem(key, value);
  } catch {
    // There is no room: nothing is kept.
  }
}

/** Not by `randomUUID`, which pages without TLS do not have. */
function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), String).join('-');
}
