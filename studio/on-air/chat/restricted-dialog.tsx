import { UserX } from 'lucide-react';
import { useState } from 'react';
import type { RestrictedViewer } from '../../../protocol/moderation.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Failure } from '../../ui/states.tsx';
import type { KeptList } from './use-chat-keeping.ts';
import { type Moderation, NAMELESS } from './use-moderation.ts';

const TIME = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' });
/** As many as somebody reads; the newest are first. */
const SHOWN = 200;

interface RestrictedDialogProps {
  readonly viewers: KeptList<RestrictedViewer>;
  readonly moderation: Moderation;
}

/** Who may not write or may not be there, and how to let them. */
export function RestrictedDialog({ viewers, moderation }: RestrictedDialogProps) {
  const { all, failure } = viewers;
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onPress={() => setOpen(true)}>
        <UserX aria-hidden="true" />
        Muted and banned
        {all.length > 0 && <span className="tabular-nums">({all.length})</span>}
      </Button>
      <Dialog title="Muted and banned" isOpen={isOpen} onOpenChange={setOpen}>
        {(close) => (
          <>
            {failure && <Failure {...failure} />}
            {all.length === 0 && !failure && (
              <p className="text-quiet">Nobody is. Lines of the chat have a menu to do it.</p>
            )}
            {all.length > 0 && (
              <ul className="grid gap-2">
                {all.slice(0, SHOWN).map((each) => (
                  <Restricted
                    key={`${each.kind} ${each.viewer}`}
                    of={each}
                    moderation={moderation}
                  />
                ))}
              </ul>
            )}
            {all.length > SHOWN && (
              <p className="text-quiet">and {(all.length - SHOWN).toLocaleString()} more</p>
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
