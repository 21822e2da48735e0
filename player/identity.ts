import { pageStorage, type Storage } from '../sdk/environment.ts';

const ID_KEY = 'fourbeat-viewer';
const NAME_KEY = 'fourbeat-name';

/** The viewer of this browser. */
export interface Identity {
  /** Stable if the browser has storage for this page. */
  readonly id: string;
  /** Shown in the chat; empty: none yet. */
  readonly name: string;
}

/** @param storage null: not available, so each call returns a new id */
export function loadIdentity(storage: Storage | null = pageStorage()): Identity {
  const id = storage?.getItem(ID_KEY) || newId();
  store(storage, ID_KEY, id);
  return { id, name: storage?.getItem(NAME_KEY) ?? '' };
}

export function storeName(name: string, storage: Storage | null = pageStorage()): void {
  store(storage, NAME_KEY, name);
}

function store(storage: Storage | null, key: string, value: string): void {
  try {
    storage?.setItem(key, value);
  } catch {
    // The storage is full: the value is lost with the page.
  }
}

/** Pages without TLS have no `randomUUID`. */
function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), String).join('-');
}
