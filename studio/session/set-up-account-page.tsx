import { useState } from 'react';
import { Form } from 'react-aria-components';
import type { Session } from '../../protocol/members.ts';
import { useWrite } from '../api/use-write.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/text-field.tsx';
import { EntryCard } from './entry-card.tsx';
import { EntryFailure } from './entry-failure.tsx';
import { NewPassword } from './new-password.tsx';

interface SetUpAccountPageProps {
  readonly token: string;
  readonly onSession: (session: Session) => void;
}

/** Who has the link of the first start becomes the owner. */
export function SetUpAccountPage({ token, onSession }: SetUpAccountPageProps) {
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [failure, setFailure] = useState<unknown>(null);
  const { write, isPending } = useWrite('setUp', { onDone: onSession, onFailure: setFailure });
  return (
    <EntryCard title="Make this service yours">
      <Form
        className="grid gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          setFailure(null);
          write({ body: { token, name, email, password } });
        }}
      >
        <p className="text-quiet">You become the owner, and can invite others.</p>
        <TextField
          label="Your name"
          autoComplete="name"
          value={name}
          onChange={setName}
          maxLength={80}
          isRequired
          autoFocus
        />
        <TextField
          label="E-mail"
          help="To sign in with; nothing is sent there."
          type="email"
          autoComplete="username"
          value={email}
          onChange={setEmail}
          isRequired
        />
        <NewPassword value={password} onChange={setPassword} />
        <EntryFailure error={failure} />
        <Button type="submit" look="primary" isPending={isPending} isWide>
          Begin
        </Button>
      </Form>
    </EntryCard>
  );
}
