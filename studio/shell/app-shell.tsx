import { Clapperboard, KeyRound, LogOut, UserRound, Users, Webhook } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link, useRoute } from 'wouter';
import { useStudio } from '../api/studio-context.ts';
import { useWrite } from '../api/use-write.ts';
import { mayCall, useSession } from '../session/session-context.ts';
import { Button } from '../ui/button.tsx';
import { classes, FOCUS_RING } from '../ui/classes.ts';
import { Toasts } from '../ui/toasts.tsx';

/** What is around every page: the places to go to, and who is here. */
export function AppShell({ children }: { readonly children: ReactNode }) {
  const { member, account } = useSession();
  const places = [
    { href: '/', text: 'Shows', icon: <Clapperboard />, isShown: true },
    { href: '/team', text: 'Team', icon: <Users />, isShown: mayCall(member.role, 'listMembers') },
    {
      href: '/tokens',
      text: 'API tokens',
      icon: <KeyRound />,
      isShown: mayCall(member.role, 'listApiTokens'),
    },
    {
      href: '/webhooks',
      text: 'Webhooks',
      icon: <Webhook />,
      isShown: mayCall(member.role, 'listWebhooks'),
    },
    { href: '/you', text: 'You', icon: <UserRound />, isShown: true },
  ];
  return (
    <div className="min-h-dvh pb-16 sm:grid sm:grid-cols-[auto_1fr] sm:pb-0 print:block">
      <a
        href="#content"
        className={classes(
          'fixed top-2 left-2 z-50 -translate-y-20 rounded-lg bg-accent px-4 py-2 text-on-accent focus:translate-y-0 print:hidden',
          FOCUS_RING,
        )}
      >
        To the content
      </a>
      <header className="print:hidden! fixed inset-x-0 bottom-0 z-20 border-line bg-card max-sm:border-t sm:sticky sm:inset-auto sm:top-0 sm:flex sm:h-dvh sm:w-52 sm:flex-col sm:border-r sm:p-3">
        <div className="hidden gap-0.5 px-3 pt-2 pb-4 sm:grid">
          <p className="font-bold text-accent">Fourbeat studio</p>
          <p className="truncate text-sm text-quiet">{account.name}</p>
        </div>
        <nav aria-label="Studio">
          <ul className="flex justify-around sm:grid sm:justify-stretch sm:gap-1">
            {places
              .filter(({ isShown }) => isShown)
              .map(({ href, text, icon }) => (
                <Place key={href} href={href} text={text} icon={icon} />
              ))}
          </ul>
        </nav>
        <SignOut />
      </header>
      <main id="content" tabIndex={-1} className="min-w-0 outline-none">
        {children}
      </main>
      <Toasts />
    </div>
  );
}

interface PlaceProps {
  readonly href: string;
  readonly text: string;
  readonly icon: ReactNode;
}

function Place({ href, text, icon }: PlaceProps) {
  const [isThis] = useRoute(href);
  const [isBelow] = useRoute(href === '/' ? '/streams/*' : `${href}/*`);
  const isHere = isThis || isBelow;
  return (
    <li className="min-w-0 max-sm:flex-1">
      <Link
        href={href}
        aria-current={isHere ? 'page' : undefined}
        className={classes(
          'flex min-h-14 items-center justify-center gap-1 text-xs font-semibold whitespace-nowrap max-sm:flex-col',
          'sm:min-h-11 sm:justify-start sm:gap-3 sm:rounded-lg sm:px-3 sm:text-base [&_svg]:size-5',
          isHere ? 'text-accent sm:bg-accent-soft' : 'text-quiet hover:text-text',
          FOCUS_RING,
        )}
      >
        <span aria-hidden="true">{icon}</span>
        {text}
      </Link>
    </li>
  );
}

function SignOut() {
  const studio = useStudio();
  const { member } = useSession();
  const { write, isPending } = useWrite('signOut', { onDone: () => studio.onSignedOut() });
  return (
    <div className="hidden gap-1 px-1 pb-1 sm:mt-auto sm:grid">
      <p className="truncate px-2 text-sm text-quiet">{member.name}</p>
      <Button look="quiet" isPending={isPending} onPress={() => write()}>
        <LogOut aria-hidden="true" />
        Sign out
      </Button>
    </div>
  );
}
