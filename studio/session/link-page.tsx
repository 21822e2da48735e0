import { useState } from 'react';
import type { Link, Session } from '../../protocol/members.ts';
import { TextField } from '../ui/text-field.tsx';
import { EntryForm } from './entry-form.tsx';
import { LinkGate } from './link-gate.tsx';
import { NewPassword } from './new-password.tsx';
import { useLink } from './use-link.ts';

interface LinkPageProps {
  readonly token: string;
  readonly onSession: (session: Session) => void;
}

/** The page of an invitation or a password reset. */
export function LinkPage({ token, onSession }: LinkPageProps) {
  const link = useLink('lookAtLink', token);
  return (
    <LinkGate link={link}>
      {(data) => <AcceptForm token={token} link={data} onSession={onSession} />}
    </LinkGate>
  );
}

const ROLE_NAMES = { owner: 'an owner', host: 'a host', moderator: 'a moderator' } as const;

function AcceptForm({ token, link, onSession }: LinkPageProps & { readonly link: Link }) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const isNew = link.kind === 'invitation';
  return (
    <EntryForm
      title={isNew ? `Join ${link.account.name}` : 'Choose a new password'}
      {...(isNew && {
        heading: (
          <>
            Join <bdi>{link.account.name}</bdi>
          </>
        ),
      })}
      operation="acceptLink"
      body={{ token, password, ...(isNew && { name }) }}
      action={isNew ? 'Join' : 'Save password'}
      onSession={onSession}
    >
      <p className="text-quiet">
        {isNew
          ? `You are invited as ${ROLE_NAMES[link.role]}. You will sign in with ${link.email}.`
          : `For the account of ${link.email}.`}
      </p>
      {/* Password managers store a password under this name. */}
      <input type="hidden" autoComplete="username" value={link.email} readOnly />
      {isNew && (
        <TextField
          label="Your name"
          autoComplete="name"
          value={name}
          onChange={setName}
          maxLength={80}
          isRequired
          autoFocus
        />
      )}
      <NewPassword value={password} onChange={setPassword} />
    </EntryForm>
  );
}
