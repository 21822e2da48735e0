import { Mail } from 'lucide-react';
import type { WinnersRound } from '../../protocol/studio.ts';
import { usePermission } from '../session/session-context.ts';
import { Button } from '../ui/button.tsx';
import { texts } from './texts.ts';

interface ContactsButtonProps {
  readonly round: WinnersRound;
  /** Opens the dialog, which has to stay when the button disappears. */
  readonly onPress: () => void;
}

/** Opens the contact details of a round's winners; asks for them at first. */
export function ContactsButton({ round, onPress }: ContactsButtonProps) {
  const mayRead = usePermission('listContacts');
  const { count, contactNote, contacts } = round;
  if (!mayRead || !count) return null;
  const isNew = contactNote === null && contacts === 0;
  return (
    <Button icon={<Mail />} onPress={onPress}>
      {isNew ? texts.ask : texts.open(contacts, count)}
    </Button>
  );
}
