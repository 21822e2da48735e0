import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { CONTACT_CHARS, CONTACT_NAME_CHARS } from '../../protocol/limits.ts';
import { texts } from '../texts.ts';
import type { ContactRequest } from './contact-api.ts';
import type { Contact } from './use-contact.ts';

type Status = 'idle' | 'busy' | 'failed' | 'over';

interface ContactDialogProps extends Contact {
  /** The viewer's name in the chat; empty: none. */
  readonly defaultName: string;
}

/**
 * The form in which a winner says how the host can reach it. A winner who is not asked any more can only
 * delete what it sent.
 */
export function ContactDialog(props: ContactDialogProps) {
  const { request, hasDetails, isOpen, close, save, erase, defaultName } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const storedId = useId();
  const [status, setStatus] = useState<Status>('idle');
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  const run = async (send: () => Promise<boolean>) => {
    setStatus('busy');
    const isAsked = await send().catch(() => null);
    setStatus(isAsked === null ? 'failed' : isAsked ? 'idle' : 'over');
    if (isAsked) close();
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    const textOf = (name: string) => String(data.get(name)).trim();
    void run(() => save({ name: textOf('name'), contact: textOf('contact') }));
  };
  return (
    <dialog
      ref={dialog}
      className="contact"
      aria-labelledby={titleId}
      aria-describedby={request ? undefined : storedId}
      onClose={close}
    >
      <form
        // What was sent or deleted replaces what was typed.
        key={JSON.stringify(request?.details)}
        className="contact-form"
        onSubmit={submit}
      >
        <h2 id={titleId} className="contact-title">
          {request ? texts.contact.dialogTitle : texts.contact.storedDialogTitle}
        </h2>
        {request && (
          <ContactFields
            request={request}
            defaultName={defaultName}
            isReadOnly={status === 'busy'}
          />
        )}
        {hasDetails && !request?.details && (
          <p id={storedId}>{request ? texts.contact.storedBefore : texts.contact.stored}</p>
        )}
        {request && <p className="contact-privacy">{texts.contact.privacy}</p>}
        <ContactError status={status} isAsked={request !== null} />
        <ContactActions
          {...{ request, hasDetails, close }}
          isBusy={status === 'busy'}
          onErase={() => void run(() => erase().then(() => true))}
        />
      </form>
    </dialog>
  );
}

interface ContactFieldsProps {
  readonly request: ContactRequest;
  readonly defaultName: string;
  /** While the details are sent: what was changed then would be lost. */
  readonly isReadOnly: boolean;
}

function ContactFields({ request, defaultName, isReadOnly }: ContactFieldsProps) {
  return (
    <>
      <p className="contact-note" dir="auto">
        {request.note}
      </p>
      <label className="contact-label">
        {texts.contact.name}
        <input
          className="field"
          name="name"
          defaultValue={request.details?.name ?? defaultName}
          maxLength={CONTACT_NAME_CHARS}
          readOnly={isReadOnly}
          autoComplete="name"
          dir="auto"
          required
          pattern=".*\S.*"
        />
      </label>
      <label className="contact-label">
        {texts.contact.contact}
        <input
          className="field"
          name="contact"
          defaultValue={request.details?.contact ?? ''}
          maxLength={CONTACT_CHARS}
          readOnly={isReadOnly}
          autoComplete="email"
          inputMode="email"
          dir="auto"
          required
          pattern=".*\S.*"
        />
      </label>
    </>
  );
}

function ContactError({ status, isAsked }: { readonly status: Status; readonly isAsked: boolean }) {
  const { failed, eraseFailed, over } = texts.contact;
  return (
    <p className="contact-error" role="alert">
      {status === 'failed' && (isAsked ? failed : eraseFailed)}
      {status === 'over' && over}
    </p>
  );
}

interface ContactActionsProps extends Pick<Contact, 'request' | 'hasDetails' | 'close'> {
  readonly isBusy: boolean;
  onErase(): void;
}

function ContactActions(props: ContactActionsProps) {
  const { request, hasDetails, close, isBusy, onErase } = props;
  const eraseButton = hasDetails && (
    <button
      type="button"
      className="contact-button contact-erase"
      disabled={isBusy}
      onClick={onErase}
    >
      {texts.contact.erase}
    </button>
  );
  return (
    <div className="contact-actions">
      {request && eraseButton}
      <button type="button" className="contact-button" onClick={close}>
        {texts.contact.cancel}
      </button>
      {request ? (
        <button type="submit" className="action" disabled={isBusy}>
          {texts.contact.send}
        </button>
      ) : (
        // Not the first button, which has the focus when the dialog opens.
        eraseButton
      )}
    </div>
  );
}
