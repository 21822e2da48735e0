import { useState } from 'react';
import { Form } from 'react-aria-components';
import type { Session } from '../../protocol/members.ts';
import { useWrite } from '../api/use-write.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/text-field.tsx';
import { EntryCard } from './entry-card.tsx';
import { EntryFailure } from './entry-failure.tsx';

export function SignInPage({ onSession }: { readonly onSession: (session: Session) => void }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [failure, setFailure] = useState<unknown>(null);
  const { write, isPending } = useWrite('signIn', { onDone: onSession, onFailure: setFailure });
  return (
    <EntryCard title="Sign in">
      <Form
        className="grid gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          setFailure(null);
          write({ body: { email, password } });
        }}
      >
        <TextField
          label="E-mail"
          type="email"
          autoComplete="username"
          value={email}
          onChange={setEmail}
          isRequired
          autoFocus
        />
        <TextField
          label="Password"
          type="password"
          autoComplete="current-password"
          value={password}
          onChange={setPassword}
          isRequired
        />
        <EntryFailure error={failure} />
        <Button type="submit" look="primary" isPending={isPending} isWide>
          Sign in
        </Button>
        <p className="text-sm text-quiet">
          Forgotten? An owner of your account can invite you anew, and whoever runs the service
          makes a link with <code>fourbeat member link</code>.
        </p>
      </Form>
    </EntryCard>
  );
}
