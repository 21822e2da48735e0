import { useEffect, useState } from 'react';
import { pageStorage, type Storage } from '../../sdk/environment.ts';
import type { Snapshot, Viewer } from '../../sdk/viewer.ts';
import type { ContactApi, ContactDetails, ContactRequest } from './contact-api.ts';

export interface Contact {
  /** What the host asks; null: nothing, or the viewer has closed the notice. */
  readonly request: ContactRequest | null;
  readonly isOpen: boolean;
  open(): void;
  /** Closes the form; the notice stays. */
  close(): void;
  /** Closes the notice. */
  dismiss(): void;
  /** @returns false when the viewer is no longer asked */
  save(details: ContactDetails): Promise<boolean>;
  erase(): Promise<void>;
}

/** Winners read what they are asked within this time, so that they do not all come at once. */
const SPREAD_MS = 2_000;
const ATTEMPTS = 4;
const RETRY_MS = 5_000;

const keyOf = (streamId: string) => `fourbeat-won-${streamId}`;

/**
 * What the host asks this viewer as a winner. Only a page that knows that it won asks the service, so
 * that all others cost nothing.
 */
export function useContact(viewer: Viewer, snapshot: Snapshot, api: ContactApi | null): Contact {
  const { streamId } = viewer;
  const [request, setRequest] = useState<ContactRequest | null>(null);
  const [isOpen, setOpen] = useState(false);
  const [dismissedId, setDismissedId] = useState<string | null>(null);
  const hasWon = useHasWon(streamId, snapshot.winners.hasWon);
  useEffect(() => {
    if (!api || !hasWon) return;
    const reader = new RequestReader(api, (read) => {
      setRequest(read);
      if (!read) setOpen(false);
    });
    reader.read();
    const unsubscribe = viewer.on('winner-contact', () => {
      setDismissedId(null);
      reader.read();
    });
    return () => {
      unsubscribe();
      reader.stop();
    };
  }, [viewer, api, hasWon]);
  // The form must not cover a quiz. It keeps what was typed.
  useEffect(() => viewer.on('quiz', () => setOpen(false)), [viewer]);
  return {
    request: request?.roundId === dismissedId ? null : request,
    isOpen,
    open: () => setOpen(true),
    close: () => setOpen(false),
    dismiss: () => setDismissedId(request?.roundId ?? null),
    save: async (details) => {
      if (!api || !request) return false;
      const isAsked = await api.save(request.roundId, details);
      if (isAsked) setRequest({ ...request, details });
      return isAsked;
    },
    erase: async () => {
      await api?.erase();
      setRequest(request && { ...request, details: null });
    },
  };
}

/** Reads what the viewer is asked, after a random time and with retries. */
class RequestReader {
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly api: ContactApi,
    private readonly onRead: (request: ContactRequest | null) => void,
  ) {}

  read(attempts = ATTEMPTS, delayMs = SPREAD_MS): void {
    this.stop();
    this.#timer = setTimeout(() => {
      this.api.read().then(this.onRead, () => {
        if (attempts > 1) this.read(attempts - 1, RETRY_MS);
      });
    }, delayMs * Math.random());
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** Whether this viewer ever won in this stream, also before a reload. */
function useHasWon(streamId: string, hasWonNow: boolean, storage = pageStorage()): boolean {
  const [hadWon] = useState(() => storage?.getItem(keyOf(streamId)) === '1');
  useEffect(() => {
    if (hasWonNow) store(storage, keyOf(streamId));
  }, [storage, streamId, hasWonNow]);
  return hadWon || hasWonNow;
}

function store(storage: Storage | null, key: string): void {
  try {
    storage?.setItem(key, '1');
  } catch {
    // The storage is full: after a reload the page does not know that it won.
  }
}
