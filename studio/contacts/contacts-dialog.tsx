import { Download, Trash2 } from 'lucide-react';
import { useRef, useState } from 'react';
import { CONTACT_NOTE_CHARS, CONTACTS_SENT_MAX } from '../../protocol/limits.ts';
import type { WinnersRound } from '../../protocol/studio.ts';
import type { WinnerContact } from '../../protocol/winner-contacts.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { useApiQuery } from '../api/use-api-query.ts';
import { exportUrl } from '../report/exports.ts';
import { Button } from '../ui/button.tsx';
import { FOCUS_RING, VIEWER_WORDS } from '../ui/classes.ts';
import { Confirm, Dialog } from '../ui/dialog.tsx';
import { DialogActions } from '../ui/dialog-actions.tsx';
import { Form } from '../ui/form.tsx';
import { Loaded } from '../ui/states.tsx';
import { TextField } from '../ui/text-field.tsx';
import { useUnsavedChanges } from '../ui/unsaved-changes.ts';
import { texts } from './texts.ts';

const INVALIDATED = ['listWinnersRounds', 'listContacts'] as const;
/** A winner may change what it sent. */
const REFETCH_MS = 5_000;

const paramsOf = ({ streamId, id }: WinnersRound) => ({ stream_id: streamId, round_id: id });

interface ContactsDialogProps {
  readonly round: WinnersRound;
  readonly isOpen: boolean;
  readonly onOpenChange: (isOpen: boolean) => void;
}

/** What the winners of a round are asked, and what they sent. */
export function ContactsDialog({ round, ...rest }: ContactsDialogProps) {
  return (
    <Dialog title={texts.title} {...rest}>
      {(close) => <Contacts round={round} onClose={close} />}
    </Dialog>
  );
}

function Contacts({ round, onClose }: { round: WinnersRound; onClose: () => void }) {
  const done = useRef<HTMLButtonElement>(null);
  const isAsked = round.contactNote !== null;
  return (
    <div className="grid gap-5 *:min-w-0">
      <p className="text-quiet">{texts.help}</p>
      {isAsked ? <Question round={round} /> : <AskForm round={round} />}
      {(isAsked || round.contacts > 0) && (
        // The button that erases disappears with its row, and would take the focus along.
        <Answers round={round} onErased={() => focusSoon(done.current)} />
      )}
      <DialogActions>
        <Button ref={done} onPress={onClose}>
          {texts.done}
        </Button>
      </DialogActions>
    </div>
  );
}

/**
 * Focuses an element once a confirmation is closed. In the next frame the confirmation gives the focus
 * back to the button that opened it, and which is gone.
 */
function focusSoon(element: HTMLElement | null): void {
  requestAnimationFrame(() => requestAnimationFrame(() => element?.focus()));
}

function AskForm({ round }: { readonly round: WinnersRound }) {
  const [note, setNote] = useState(texts.defaultNote);
  useUnsavedChanges(note);
  const { mutate, isPending } = useApiMutation('requestContacts', { invalidates: INVALIDATED });
  return (
    <Form
      className="grid gap-4"
      onSubmit={() => mutate({ params: paramsOf(round), body: { note: note.trim() } })}
    >
      <TextField
        label={texts.note}
        rows={2}
        value={note}
        onChange={(text) => setNote(text.replace(/\s*\n\s*/g, ' '))}
        maxLength={CONTACT_NOTE_CHARS}
        isRequired
      />
      <div>
        <Button type="submit" variant="primary" isPending={isPending}>
          {texts.askAction}
        </Button>
      </div>
    </Form>
  );
}

interface AnswersProps {
  readonly round: WinnersRound;
  readonly onErased: () => void;
}

function Answers({ round, onErased }: AnswersProps) {
  const query = useApiQuery(
    'listContacts',
    { params: paramsOf(round) },
    { revision: round.contacts, refetchIntervalMs: REFETCH_MS },
  );
  return (
    <Loaded query={query} label={texts.loading}>
      {({ results }) =>
        results.length === 0 ? (
          <p className="text-quiet">{texts.empty}</p>
        ) : (
          <ContactList round={round} contacts={results} onErased={onErased} />
        )
      }
    </Loaded>
  );
}

function Question({ round }: { readonly round: WinnersRound }) {
  const { mutate, isPending } = useApiMutation('endContactRequest', { invalidates: INVALIDATED });
  return (
    <div className="flex flex-wrap items-center justify-between gap-3">
      <p className="min-w-0 flex-1 basis-60 wrap-anywhere">
        {texts.asked} <bdi className="font-semibold">{round.contactNote}</bdi>
      </p>
      <Button isPending={isPending} onPress={() => mutate({ params: paramsOf(round) })}>
        {texts.stop}
      </Button>
    </div>
  );
}

interface ContactListProps extends AnswersProps {
  readonly contacts: readonly WinnerContact[];
}

function ContactList({ round, contacts, onErased }: ContactListProps) {
  const [toErase, setToErase] = useState<WinnerContact | null>(null);
  const isFull = contacts.length >= CONTACTS_SENT_MAX;
  const { mutate, isPending } = useApiMutation('eraseContact', {
    invalidates: INVALIDATED,
    onSuccess: () => {
      setToErase((current) => (current === toErase ? null : current));
      onErased();
    },
  });
  return (
    <>
      <ul
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard
        tabIndex={0}
        aria-label={texts.list}
        className={`grid max-h-80 gap-2 overflow-y-auto ${FOCUS_RING}`}
      >
        {contacts.map((contact) => (
          <li key={contact.viewer} className="flex items-center gap-3">
            <span className={`grid min-w-0 flex-1 ${VIEWER_WORDS}`}>
              <span className="flex flex-wrap items-baseline gap-x-2">
                <bdi className="font-semibold">{contact.name}</bdi>
                <span className="text-sm text-quiet tabular-nums">{contact.code}</span>
              </span>
              <bdi className="select-all">{contact.contact}</bdi>
            </span>
            <Button
              variant="quiet"
              aria-label={texts.eraseLabel(contact.name)}
              icon={<Trash2 />}
              onPress={() => setToErase(contact)}
            />
          </li>
        ))}
      </ul>
      {isFull && <p className="text-sm text-quiet">{texts.full}</p>}
      <div className="flex flex-wrap justify-between gap-3">
        <a
          href={exportUrl('exportContacts', round.streamId, 'csv')}
          download
          className={`inline-flex min-h-11 items-center gap-2 underline ${FOCUS_RING}`}
        >
          <Download className="size-5" />
          {texts.download}
        </a>
        <EraseAll round={round} onErased={onErased} />
      </div>
      <Confirm
        title={texts.eraseTitle}
        action={texts.erase}
        isOpen={toErase !== null}
        onOpenChange={() => setToErase(null)}
        isPending={isPending}
        onConfirm={() =>
          toErase && mutate({ params: { ...paramsOf(round), viewer: toErase.viewer } })
        }
      >
        <p dir="auto" className="font-semibold text-text">
          {toErase?.name}
        </p>
        <p>{texts.eraseHelp}</p>
      </Confirm>
    </>
  );
}

function EraseAll({ round, onErased }: AnswersProps) {
  const [isAsking, setAsking] = useState(false);
  const { mutate, isPending } = useApiMutation('eraseContacts', {
    invalidates: INVALIDATED,
    onSuccess: () => {
      setAsking(false);
      onErased();
    },
  });
  return (
    <>
      <Button variant="danger" onPress={() => setAsking(true)}>
        {texts.eraseAll}
      </Button>
      <Confirm
        title={texts.eraseAllTitle}
        action={texts.eraseAll}
        isOpen={isAsking}
        onOpenChange={setAsking}
        isPending={isPending}
        onConfirm={() => mutate({ params: paramsOf(round) })}
      >
        {texts.eraseAllHelp}
      </Confirm>
    </>
  );
}
