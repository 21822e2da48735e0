import { useState } from 'react';
import { Form } from 'react-aria-components';
import type { Session } from '../../protocol/members.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/text-field.tsx';
import { EntryCard } from './entry-card.tsx';
import { EntryFailure } from './entry-failure.tsx';

export function SignInPage({ onSession }: { readonly onSession: (session: Session) => void }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [error, setError] = useState<unknown>(null);
  const { mutate, isPending } = useApiMutation('signIn', {
    onSuccess: onSession,
    onError: setError,
  });
  return (
    <EntryCard title="Sign in">
      <Form
        className="grid gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          setError(null);
          mutate({ body: { email, password } });
        }}
      >
        <TextField
          label="Email"
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
        <EntryFailure error={error} />
        <Button type="submit" variant="primary" isPending={isPending} isWide>
          Sign in
        </Button>
        <p className="text-sm text-quiet">
          Forgot your password? Ask an owner to invite you again, or ask the operator of the service
          for a link from <code>fourbeat member link</code>.
        </p>
      </Form>
    </EntryCard>
  );
}
