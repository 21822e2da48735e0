import { Clapperboard, KeyRound, LogOut, UserRound, Users, Webhook } from 'lucide-react';
import type { ReactNode } from 'react';
import { Link, useRoute } from 'wouter';
import type { OperationName } from '../api/studio-client.ts';
import { useStudio } from '../api/studio-context.ts';
import { useApiMutation } from '../api/use-api-mutation.ts';
import { isAllowed, useSession } from '../session/session-context.ts';
import { Button } from '../ui/button.tsx';
import { classes, FOCUS_RING } from '../ui/classes.ts';
import { Toasts } from '../ui/toasts.tsx';
import { texts } from './texts.ts';

/** The layout of all pages: navigation and session. */
export function AppShell({ children }: { readonly children: ReactNode }) {
  const { member, account } = useSession();
  const may = (name: OperationName) => isAllowed(member.role, name);
  return (
    <div className="min-h-dvh pb-16 sm:grid sm:grid-cols-[auto_1fr] sm:pb-0 print:block">
      <a
        href="#content"
        className={classes(
          'fixed top-2 left-2 z-50 -translate-y-20 rounded-lg bg-accent px-4 py-2 text-on-accent focus:translate-y-0 print:hidden',
          FOCUS_RING,
        )}
      >
        {texts.skip}
      </a>
      <header className="print:hidden! fixed inset-x-0 bottom-0 z-20 border-line bg-card max-sm:border-t sm:sticky sm:inset-auto sm:top-0 sm:flex sm:h-dvh sm:w-52 sm:flex-col sm:border-r sm:p-3">
        <div className="hidden gap-0.5 px-3 pt-2 pb-4 sm:grid">
          <p className="font-bold text-accent">{texts.product}</p>
          <p dir="auto" className="truncate text-sm text-quiet">
            {account.name}
          </p>
        </div>
        <nav aria-label={texts.navigation}>
          <ul className="flex justify-around sm:grid sm:justify-stretch sm:gap-1">
            <NavLink href="/" text={texts.sections.shows} icon={<Clapperboard />} />
            {may('listMembers') && (
              <NavLink href="/team" text={texts.sections.team} icon={<Users />} />
            )}
            {may('listApiTokens') && (
              <NavLink href="/tokens" text={texts.sections.tokens} icon={<KeyRound />} />
            )}
            {may('listWebhooks') && (
              <NavLink href="/webhooks" text={texts.sections.webhooks} icon={<Webhook />} />
            )}
            <NavLink href="/you" text={texts.sections.profile} icon={<UserRound />} />
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

function NavLink({ href, text, icon }: { href: string; text: string; icon: ReactNode }) {
  const [isExact] = useRoute(href);
  const [isBelow] = useRoute(href === '/' ? '/streams/*' : `${href}/*`);
  const isCurrent = isExact || isBelow;
  return (
    <li className="min-w-0 max-sm:flex-1">
      <Link
        href={href}
        aria-current={isCurrent ? 'page' : undefined}
        className={classes(
          'flex min-h-14 items-center justify-center gap-1 text-xs font-semibold whitespace-nowrap max-sm:flex-col',
          'sm:min-h-11 sm:justify-start sm:gap-3 sm:rounded-lg sm:px-3 sm:text-base [&_svg]:size-5',
          isCurrent ? 'text-accent sm:bg-accent-soft' : 'text-quiet hover:text-text',
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
  const { mutate, isPending } = useApiMutation('signOut', {
    onSuccess: () => studio.onSignedOut(),
  });
  return (
    <div className="hidden gap-1 px-1 pb-1 sm:mt-auto sm:grid">
      <p dir="auto" className="truncate px-2 text-sm text-quiet">
        {member.name}
      </p>
      <Button variant="quiet" isPending={isPending} onPress={() => mutate()} icon={<LogOut />}>
        {texts.signOut}
      </Button>
    </div>
  );
}
