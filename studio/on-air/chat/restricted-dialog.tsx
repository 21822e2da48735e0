import { UserX } from 'lucide-react';
import { useState } from 'react';
import type { RestrictedViewer } from '../../../protocol/moderation.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { type Moderation, NAMELESS } from './use-moderation.ts';

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
/** As many as somebody reads; the newest are first. */
const SHOWN = 200;

interface RestrictedDialogProps {
  readonly viewers: readonly RestrictedViewer[];
  readonly moderation: Moderation;
}

/** Who may not write or may not be there, and how to let them. */
export function RestrictedDialog({ viewers, moderation }: RestrictedDialogProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onPress={() => setOpen(true)}>
        <UserX aria-hidden="true" />
        Muted and banned
        {viewers.length > 0 && <span className="tabular-nums">({viewers.length})</span>}
      </Button>
      <Dialog title="Muted and banned" isOpen={isOpen} onOpenChange={setOpen}>
        {(close) => (
          <>
            {viewers.length === 0 ? (
              <p className="text-quiet">Nobody is. Lines of the chat have a menu to do it.</p>
            ) : (
              <ul className="grid gap-2">
                {viewers.slice(0, SHOWN).map((each) => (
                  <Restricted
                    key={`${each.kind} ${each.viewer}`}
                    of={each}
                    moderation={moderation}
                  />
                ))}
              </ul>
            )}
            {viewers.length > SHOWN && (
              <p className="text-quiet">and {(viewers.length - SHOWN).toLocaleString()} more</p>
            )}
            <div className="flex justify-end">
              <Button onPress={close}>Close</Button>
            </div>
          </>
        )}
      </Dialog>
    </>
  );
}

interface RestrictedProps {
  readonly of: RestrictedViewer;
  readonly moderation: Moderation;
}

function Restricted({ of: { viewer, name, kind, until, by }, moderation }: RestrictedProps) {
  const called = name || NAMELESS;
  const till = until === null ? 'for the show' : `until ${TIME.format(until)}`;
  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-1 border-b border-line pb-2">
      <span className="grid min-w-0">
        <span className="truncate font-semibold">{called}</span>
        <span className="text-sm text-quiet">
          {kind === 'banned' ? 'Banned' : 'Muted'} {till}
          {by !== null && `, by ${by}`}
        </span>
      </span>
      <Button
        onPress={() => (kind === 'banned' ? moderation.unban(viewer) : moderation.unmute(viewer))}
      >
        {kind === 'banned' ? 'Let them back' : 'Let them write'}
        <span className="sr-only">– {called}</span>
      </Button>
    </li>
  );
}
