import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Link, Session } from '../../protocol/members.ts';
import { useStudio } from '../api/studio-context.ts';
import { ErrorMessage, Loading } from '../ui/states.tsx';
import { TextField } from '../ui/text-field.tsx';
import { EntryCard } from './entry-card.tsx';
import { EntryForm } from './entry-form.tsx';
import { NewPassword } from './new-password.tsx';

interface LinkPageProps {
  readonly token: string;
  readonly onSession: (session: Session) => void;
}

/** The page of an invitation or a password reset. */
export function LinkPage({ token, onSession }: LinkPageProps) {
  const studio = useStudio();
  const link = useQuery({
    queryKey: ['link', token],
    queryFn: () => studio.call('lookAtLink', { body: { token } }),
    retry: false,
  });
  if (link.isPending) {
    return (
      <EntryCard title="Welcome">
        <Loading label="Checking your link" />
      </EntryCard>
    );
  }
  if (link.isError) {
    return (
      <EntryCard title="This link does not work">
        <ErrorMessage error={link.error} onRetry={() => link.refetch()} />
        <p className="text-quiet">
          Links work once and expire after seven days. Ask for a new one.
        </p>
      </EntryCard>
    );
  }
  return <AcceptForm token={token} link={link.data} onSession={onSession} />;
}

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
          ? `You are invited as ${link.role}. Sign in with ${link.email}.`
          : `For ${link.email}.`}
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
