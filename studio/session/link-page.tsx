import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Form } from 'react-aria-components';
import type { Link, Session } from '../../protocol/members.ts';
import { useStudio } from '../api/studio-context.ts';
import { useWrite } from '../api/use-write.ts';
import { Button } from '../ui/button.tsx';
import { Failure, Loading } from '../ui/states.tsx';
import { TextField } from '../ui/text-field.tsx';
import { EntryCard } from './entry-card.tsx';
import { EntryFailure } from './entry-failure.tsx';
import { NewPassword } from './new-password.tsx';

interface LinkPageProps {
  readonly token: string;
  readonly onSession: (session: Session) => void;
}

/** Who was invited, or forgot the password, comes by a link. */
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
        <Loading what="Looking at your link" />
      </EntryCard>
    );
  }
  if (link.isError) {
    return (
      <EntryCard title="This link does not work">
        <Failure error={link.error} onAgain={() => link.refetch()} />
        <p className="text-quiet">Links work once, and for seven days. Ask for a new one.</p>
      </EntryCard>
    );
  }
  return <Accepting token={token} link={link.data} onSession={onSession} />;
}

function Accepting({ token, link, onSession }: LinkPageProps & { readonly link: Link }) {
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const [failure, setFailure] = useState<unknown>(null);
  const { write, isPending } = useWrite('acceptLink', { onDone: onSession, onFailure: setFailure });
  const isNew = link.kind === 'invitation';
  return (
    <EntryCard title={isNew ? `Join ${link.account.name}` : 'Choose a new password'}>
      <Form
        className="grid gap-5"
        onSubmit={(event) => {
          event.preventDefault();
          setFailure(null);
          write({ body: { token, password, ...(isNew && { name }) } });
        }}
      >
        <p className="text-quiet">
          {isNew ? `You are invited as ${link.role}, with ${link.email}.` : `For ${link.email}.`}
        </p>
        {/* Password programs keep a password by the name before it. */}
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
        <EntryFailure error={failure} />
        <Button type="submit" look="primary" isPending={isPending} isWide>
          {isNew ? 'Join' : 'Keep it'}
        </Button>
      </Form>
    </EntryCard>
  );
}
