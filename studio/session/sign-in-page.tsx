import { useState } from 'react';
import type { Session } from '../../protocol/members.ts';
import { TextField } from '../ui/text-field.tsx';
import { EntryForm } from './entry-form.tsx';

export function SignInPage({ onSession }: { readonly onSession: (session: Session) => void }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const help = (
    <p className="text-sm text-quiet">
      Forgot your password? Ask an owner to invite you again, or ask the operator of the service for
      a link from <code>fourbeat member link</code>.
    </p>
  );
  return (
    <EntryForm
      title="Sign in"
      operation="signIn"
      body={{ email, password }}
      action="Sign in"
      onSession={onSession}
      help={help}
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
    </EntryForm>
  );
}
