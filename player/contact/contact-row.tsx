import { Icon } from '../icon.tsx';
import { texts } from '../texts.ts';
import type { Contact } from './use-contact.ts';

/** Tells a winner that the host asks for contact details, or has them. */
export function ContactRow({ notice, request, open, dismiss }: Contact) {
  const isMissing = request?.details === null;
  return (
    <aside className="row" aria-label={texts.contact.label}>
      <Icon name="winner" />
      <span className="row-text row-title">{notice}</span>
      <button
        type="button"
        className={isMissing ? 'action row-action' : 'row-action contact-change'}
        onClick={open}
      >
        {isMissing ? texts.contact.give : request ? texts.contact.change : texts.contact.erase}
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
