import { useState } from 'react';
import { useStudio } from '../api/studio-context.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { NewPassword } from '../session/new-password.tsx';
import { useSession } from '../session/session-context.ts';
import { Page } from '../shell/page.tsx';
import { roleLabel } from '../team/roles.ts';
import { Button } from '../ui/button.tsx';
import { Form } from '../ui/form.tsx';
import { TextField } from '../ui/text-field.tsx';
import { showSuccess } from '../ui/toasts.tsx';

/** The profile of the signed-in member: name, password, sign-out. */
export function YouPage() {
  const { member, account } = useSession();
  return (
    <Page title="Profile">
      <p className="text-quiet">
        {member.email} · {roleLabel(member.role)} of <bdi>{account.name}</bdi>
      </p>
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <NameForm />
        <PasswordForm />
        <SignOutSection />
      </div>
    </Page>
  );
}

const CARD = 'grid gap-5 rounded-2xl border border-line bg-card p-4 sm:p-6';

function NameForm() {
  const [name, setName] = useState(useSession().member.name);
  const { mutate, isPending } = useApiMutation('patchOwnMember', {
    invalidates: ['readSession', 'listMembers'],
    onSuccess: () => showSuccess('Name saved.'),
  });
  return (
    <Form className={CARD} onSubmit={() => mutate({ body: { name } })}>
      <h2 className="text-lg font-bold">Name</h2>
      <TextField label="Your name" value={name} onChange={setName} maxLength={80} isRequired />
      <div>
        <Button type="submit" isPending={isPending}>
          Save
        </Button>
      </div>
    </Form>
  );
}

function PasswordForm() {
  const [currentPassword, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const { mutate, isPending } = useApiMutation('patchOwnMember', {
    onSuccess: () => {
      setCurrent('');
      setPassword('');
      showSuccess('Password changed. You are signed out everywhere else.');
    },
  });
  return (
    <Form className={CARD} onSubmit={() => mutate({ body: { password, currentPassword } })}>
      <h2 className="text-lg font-bold">Password</h2>
      <TextField
        label="Current password"
        type="password"
        autoComplete="current-password"
        value={currentPassword}
        onChange={setCurrent}
        isRequired
      />
      <NewPassword value={password} onChange={setPassword} />
      <div>
        <Button type="submit" isPending={isPending}>
          Change password
        </Button>
      </div>
    </Form>
  );
}

function SignOutSection() {
  const studio = useStudio();
  const onSuccess = () => studio.onSignedOut();
  const here = useApiMutation('signOut', { onSuccess });
  const everywhere = useApiMutation('signOutEverywhere', { onSuccess });
  return (
    <section className={CARD} aria-labelledby="sign-out">
      <h2 id="sign-out" className="text-lg font-bold">
        Sign out
      </h2>
      <div className="flex flex-wrap gap-3">
        <Button onPress={() => here.mutate()} isPending={here.isPending}>
          On this device
        </Button>
        <Button
          variant="danger"
          onPress={() => everywhere.mutate()}
          isPending={everywhere.isPending}
        >
          Everywhere
        </Button>
      </div>
      <p className="text-sm text-quiet">
        “Everywhere” ends your sessions in all browsers and on all machines.
      </p>
    </section>
  );
}
