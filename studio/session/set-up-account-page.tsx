import { useState } from 'react';
import { Form } from 'react-aria-components';
import type { Session } from '../../protocol/members.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/text-field.tsx';
import { EntryCard } from './entry-card.tsx';
import { EntryFailure } from './entry-failure.tsx';
import { NewPassword } from './new-password.tsx';

interface SetUpAccountPageProps {
  readonly token: string;
  readonly onSession: (session: Session) => void;
}

/** The page of the first start: whoever has its link becomes the owner. */
export function SetUpAccountPage({ token, onSession }: SetUpAccountPageProps) {
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const [error, setError] = useState<unknown>(null);
  const { mutate, isPending } = useApiMutation('setUp', {
    onSuccess: onSession,
    onError: setError,
  });
  return (
    <EntryCard title="Set up your account">
      <Form
        className="grid gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          setError(null);
          mutate({ body: { token, name, email, password } });
        }}
      >
        <p className="text-quiet">You will be the owner and can invite others.</p>
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
          label="Email"
          help="For signing in. No email is sent."
          type="email"
          autoComplete="username"
          value={email}
          onChange={setEmail}
          isRequired
        />
        <NewPassword value={password} onChange={setPassword} />
        <EntryFailure error={error} />
        <Button type="submit" variant="primary" isPending={isPending} isWide>
          Create account
        </Button>
      </Form>
    </EntryCard>
  );
}
