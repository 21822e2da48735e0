import { pageStorage, type Storage } from '../sdk/environment.ts';
import { storeItem } from './storage.ts';

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
  storeItem(storage, ID_KEY, id);
  return { id, name: storage?.getItem(NAME_KEY) ?? '' };
}

export function storeName(name: string, storage: Storage | null = pageStorage()): void {
  storeItem(storage, NAME_KEY, name);
}

/** Pages without TLS have no `randomUUID`. */
function newId(): string {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), String).join('-');
}
