import { Icon } from '../icon.tsx';
import { texts } from '../texts.ts';
import type { Contact } from './use-contact.ts';

/** Tells a winner that the host asks for contact details. */
export function ContactRow({ request, open, dismiss }: Contact) {
  const hasSent = request?.details != null;
  return (
    <aside className="row" aria-label={texts.contact.label}>
      <Icon name="winner" />
      <span className="row-text row-title">
        {hasSent ? texts.contact.sentTitle : texts.contact.title}
      </span>
      <button
        type="button"
        className={hasSent ? 'row-action contact-change' : 'action row-action'}
        onClick={open}
      >
        {hasSent ? texts.contact.change : texts.contact.give}
      </button>
      <button
        type="button"
        className="row-close"
        aria-label={texts.contact.close}
        onClick={dismiss}
      >
        <Icon name="wrong" />
      </button>
    </aside>
  );
}
