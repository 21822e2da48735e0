import { Mail } from 'lucide-react';
import type { WinnersRound } from '../../protocol/studio.ts';
import { usePermission } from '../session/session-context.ts';
import { DialogButton } from '../ui/dialog.tsx';
import { ContactsDialog } from './contacts-dialog.tsx';
import { texts } from './texts.ts';

/** Opens the contact details of a round's winners; asks for them at first. */
export function ContactsButton({ round }: { readonly round: WinnersRound }) {
  const mayRead = usePermission('listContacts');
  const { count, contactNote, contacts } = round;
  if (!mayRead || !count) return null;
  const isNew = contactNote === null && contacts === 0;
  return (
    <DialogButton
      icon={<Mail />}
      title={texts.title}
      dialog={(close) => <ContactsDialog round={round} onClose={close} />}
    >
      {isNew ? texts.ask : texts.open(contacts, count)}
    </DialogButton>
  );
}
