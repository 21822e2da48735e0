import { type FormEvent, useEffect, useId, useRef, useState } from 'react';
import { CONTACT_CHARS, CONTACT_NAME_CHARS } from '../../protocol/limits.ts';
import { texts } from '../texts.ts';
import type { Contact } from './use-contact.ts';

type Status = 'idle' | 'busy' | 'failed' | 'over';

interface ContactDialogProps extends Contact {
  /** The viewer's name in the chat; empty: none. */
  readonly defaultName: string;
}

/** The form in which a winner says how the host can reach it. */
export function ContactDialog(props: ContactDialogProps) {
  const { request, isOpen, close, save, erase, defaultName } = props;
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
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
  const isBusy = status === 'busy';
  return (
    <dialog ref={dialog} className="contact" aria-labelledby={titleId} onClose={close}>
      <form
        // What was sent or deleted replaces what was typed.
        key={JSON.stringify(request?.details)}
        className="contact-form"
        onSubmit={submit}
      >
        <h2 id={titleId} className="contact-title">
          {texts.contact.dialogTitle}
        </h2>
        <p className="contact-note" dir="auto">
          {request?.note}
        </p>
        <label className="contact-label">
          {texts.contact.name}
          <input
            className="field"
            name="name"
            defaultValue={request?.details?.name ?? defaultName}
            maxLength={CONTACT_NAME_CHARS}
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
            defaultValue={request?.details?.contact ?? ''}
            maxLength={CONTACT_CHARS}
            autoComplete="email"
            inputMode="email"
            dir="auto"
            required
            pattern=".*\S.*"
          />
        </label>
        <p className="contact-privacy">{texts.contact.privacy}</p>
        <p className="contact-error" role="alert">
          {status === 'failed' && texts.contact.failed}
          {status === 'over' && texts.contact.over}
        </p>
        <div className="contact-actions">
          {request?.details != null && (
            <button
              type="button"
              className="contact-button"
              disabled={isBusy}
              onClick={() => void run(() => erase().then(() => true))}
            >
              {texts.contact.erase}
            </button>
          )}
          <button type="button" className="contact-button" onClick={close}>
            {texts.contact.cancel}
          </button>
          <button type="submit" className="action" disabled={isBusy}>
            {texts.contact.send}
          </button>
        </div>
      </form>
    </dialog>
  );
}
