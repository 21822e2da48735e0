import { useState } from 'react';
import { Form } from 'react-aria-components';
import { useStudio } from '../api/studio-context.ts';
import { useWrite } from '../api/use-write.ts';
import { NewPassword } from '../session/new-password.tsx';
import { useSession } from '../session/session-context.ts';
import { Page } from '../shell/page.tsx';
import { roleText } from '../team/roles.ts';
import { Button } from '../ui/button.tsx';
import { TextField } from '../ui/text-field.tsx';
import { tellDone } from '../ui/toasts.tsx';

/** Who is signed in: name, password, and the ways out. */
export function YouPage() {
  const { member, account } = useSession();
  return (
    <Page title="You">
      <p className="text-quiet">
        {member.email} · {roleText(member.role)} of {account.name}
      </p>
      <div className="grid items-start gap-6 lg:grid-cols-2">
        <NameForm />
        <PasswordForm />
        <WaysOut />
      </div>
    </Page>
  );
}

const CARD = 'grid gap-5 rounded-2xl border border-line bg-card p-4 sm:p-6';

function NameForm() {
  const [name, setName] = useState(useSession().member.name);
  const { write, isPending } = useWrite('patchOwnMember', {
    stale: ['readSession', 'listMembers'],
    onDone: () => tellDone('Your name is changed.'),
  });
  return (
    <Form
      className={CARD}
      onSubmit={(event) => {
        event.preventDefault();
        write({ body: { name } });
      }}
    >
      <h2 className="text-lg font-bold">Name</h2>
      <TextField label="Your name" value={name} onChange={setName} maxLength={80} isRequired />
      <div>
        <Button type="submit" isPending={isPending}>
          Keep
        </Button>
      </div>
    </Form>
  );
}

function PasswordForm() {
  const [currentPassword, setCurrent] = useState('');
  const [password, setPassword] = useState('');
  const { write, isPending } = useWrite('patchOwnMember', {
    onDone: () => {
      setCurrent('');
      setPassword('');
      tellDone('Your password is changed, and you are signed out everywhere else.');
    },
  });
  return (
    <Form
      className={CARD}
      onSubmit={(event) => {
        event.preventDefault();
        write({ body: { password, currentPassword } });
      }}
    >
      <h2 className="text-lg font-bold">Password</h2>
      <TextField
        label="Present password"
        type="password"
        autoComplete="current-password"
        value={currentPassword}
        onChange={setCurrent}
        isRequired
      />
      <NewPassword value={password} onChange={setPassword} />
      <div>
        <Button type="submit" isPending={isPending}>
          Change it
        </Button>
      </div>
    </Form>
  );
}

function WaysOut() {
  const studio = useStudio();
  const onDone = () => studio.onSignedOut();
  const here = useWrite('signOut', { onDone });
  const everywhere = useWrite('signOutEverywhere', { onDone });
  return (
    <section className={CARD} aria-labelledby="ways-out">
      <h2 id="ways-out" className="text-lg font-bold">
        Sign out
      </h2>
      <div className="flex flex-wrap gap-3">
        <Button onPress={() => here.write()} isPending={here.isPending}>
          Here
        </Button>
        <Button look="danger" onPress={() => everywhere.write()} isPending={everywhere.isPending}>
          Everywhere
        </Button>
      </div>
      <p className="text-sm text-quiet">
        Everywhere also ends what you forgot to end: on other machines, in other browsers.
      </p>
    </section>
  );
}
