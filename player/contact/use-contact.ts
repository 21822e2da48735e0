import { useEffect, useMemo, useState } from 'react';
import type { OwnContact } from '../../protocol/winner-contacts.ts';
import { realEnvironment } from '../../sdk/environment.ts';
import type { Snapshot, Viewer } from '../../sdk/viewer.ts';
import { texts } from '../texts.ts';
import type { ContactApi, ContactDetails } from './contact-api.ts';
import { OwnContactReader, pollAfterEnd } from './own-contact-reader.ts';

export interface Contact extends OwnContact {
  /** The text of the notice; null: there is none, or the viewer has closed it. */
  readonly notice: string | null;
  readonly isOpen: boolean;
  /** Whether the viewer has just deleted its details. */
  readonly isErased: boolean;
  open(): void;
  /** Closes the dialog; the notice stays. */
  close(): void;
  /** Closes the notice. */
  dismiss(): void;
  /** @returns false when the viewer is no longer asked */
  save(details: ContactDetails): Promise<boolean>;
  /** Erases the details of all rounds. */
  erase(): Promise<void>;
}

const NOTHING: OwnContact = { request: null, hasDetails: false };

/**
 * What the host asks this viewer as a winner, and whether it has details of it. Only a page that knows
 * that it won asks the service, so that all others cost nothing.
 * @param hasWon whether the viewer won any round
 */
export function useContact(
  viewer: Viewer,
  snapshot: Snapshot,
  hasWon: boolean,
  api: ContactApi | null,
): Contact {
  const [own, setOwn] = useState(NOTHING);
  const [isOpen, setOpen] = useState(false);
  const [isErased, setErased] = useState(false);
  const [dismissedId, setDismissedId] = useState<string | null>(null);
  const reader = useMemo(() => {
    if (!api || !hasWon) return null;
    return new OwnContactReader(api, (read) => {
      setOwn(read);
      if (!read.request && !read.hasDetails) setOpen(false);
    });
  }, [api, hasWon]);
  const { request } = own;
  useEffect(() => {
    reader?.read();
    const unsubscribes = [
      viewer.on('winner-contact', () => {
        setDismissedId(null);
        reader?.read();
      }),
      // A request may be among the missed events.
      viewer.on('gap', () => reader?.read()),
    ];
    return () => {
      for (const unsubscribe of unsubscribes) unsubscribe();
      reader?.stop();
    };
  }, [viewer, reader]);
  // An answered request needs no further read, and a response must not change an open form.
  usePolling(snapshot.state === 'ended' && !isOpen && !request?.details ? reader : null);
  // The form must not cover a quiz. It keeps what was typed.
  useEffect(() => viewer.on('quiz', () => setOpen(false)), [viewer]);
  const notice = noticeOf(own);
  const onSent = (sent: OwnContact) => {
    setOwn(sent);
    setErased(!sent.hasDetails);
    // In place of a read that began before; and an earlier round may still ask.
    reader?.read();
  };
  return {
    ...own,
    notice: notice?.id === dismissedId ? null : (notice?.text ?? null),
    isOpen,
    isErased,
    open: () => setOpen(true),
    close: () => setOpen(false),
    dismiss: () => {
      setDismissedId(notice?.id ?? null);
      setErased(false);
    },
    save: async (details) => {
      if (!api || !request) return false;
      const isAsked = await api.save(request.roundId, details);
      if (isAsked) onSent({ request: { ...request, details }, hasDetails: true });
      return isAsked;
    },
    erase: async () => {
      await api?.erase();
      onSent({ request: request && { ...request, details: null }, hasDetails: false });
    },
  };
}

interface Notice {
  /** Closing a notice closes all with this id. */
  readonly id: string;
  readonly text: string;
}

function noticeOf({ request, hasDetails }: OwnContact): Notice | null {
  const { title, sentTitle, storedTitle } = texts.contact;
  if (request) return { id: request.roundId, text: request.details ? sentTitle : title };
  return hasDetails ? { id: 'stored', text: storedTitle } : null;
}

/** Reads again and again while the show is over; null: does not. */
function usePolling(reader: OwnContactReader | null): void {
  useEffect(
    // A failed read is not repeated: the next one comes soon.
    () => (reader ? pollAfterEnd(() => reader.read(1), realEnvironment().visibility) : undefined),
    [reader],
  );
}
