import { LRUCache } from 'lru-cache';
import { atMostEntries } from '../../platform/cache-size.ts';
import { Unavailable } from '../../platform/errors.ts';
import { Batch } from '../../storage/sql/batch.ts';
import type { Calls } from '../../storage/sql/procedure.ts';
import { isLikeCode } from '../quizzes/winner-code.ts';
import type { ViewerName, viewerNameProcedures } from './viewer-names-sql.ts';

export interface ViewerNamesOptions {
  readonly store: Pick<Calls<typeof viewerNameProcedures>, 'nameViewers'>;
  /** Called when names cannot be stored for another reason than an unavailable database. */
  readonly onError: (error: unknown) => void;
}

/** Names that need not be stored again: about 10 MB. */
const KNOWN_MAX = 50_000;
const BATCH_MAX = 1_000;
/** Names are stored at most this often, so that a busy chat costs few commits. */
const PACE_MS = 100;
/** They can show a name in another order than the one that is compared with codes. */
const DIRECTION_CONTROLS = /\p{Bidi_Control}/gu;
/** Not white space, a control, default-ignorable, or the empty pattern of Braille. */
const VISIBLE = /[^\s\p{Cc}\p{DI}\u2800]/u;

/**
 * Stores what viewers call themselves in the chat, for lists of winners (SPEC W-13). A message does
 * not wait for it, and the chat does not depend on it: a name that could not be stored is stored with
 * the next message of its viewer.
 */
export class ViewerNames {
  readonly #known = new LRUCache<string, string>(atMostEntries(KNOWN_MAX));
  readonly #batch: Batch<ViewerName, null>;

  constructor(private readonly options: ViewerNamesOptions) {
    this.#batch = new Batch((names) => this.#store(names), BATCH_MAX, null, PACE_MS);
  }

  /** Notes the name of an accepted message; one that is invisible or like a code changes nothing. */
  note(named: ViewerName): void {
    const name = named.name.replace(DIRECTION_CONTROLS, '');
    const key = keyOf(named);
    if (!VISIBLE.test(name) || this.#known.get(key) === name || isLikeCode(name)) return;
    this.#known.set(key, name);
    this.#batch.enqueue(
      { ...named, name },
      {
        resolve: () => {},
        reject: (error) => {
          if (this.#known.peek(key) === name) this.#known.delete(key);
          if (!(error instanceof Unavailable)) this.options.onError(error);
        },
      },
    );
  }

  async #store(names: readonly ViewerName[]): Promise<null[]> {
    // Of several names of a viewer, the last.
    const byViewer = new Map(names.map((named) => [keyOf(named), named]));
    await this.options.store.nameViewers([...byViewer.values()]);
    return names.map(() => null);
  }
}

const keyOf = ({ streamId, seat }: ViewerName) => `${streamId}:${seat}`;
