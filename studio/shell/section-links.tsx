import { useEffect, useRef } from 'react';
import { Link, useRoute } from 'wouter';
import { classes, FOCUS_RING } from '../ui/classes.ts';

interface SectionLink {
  readonly href: string;
  readonly text: string;
}

interface SectionLinksProps {
  /** Accessible name. */
  readonly label: string;
  readonly links: readonly SectionLink[];
}

export function SectionLinks({ label, links }: SectionLinksProps) {
  return (
    <nav aria-label={label} className="-mx-4 overflow-x-auto px-4 print:hidden">
      <ul className="flex border-b border-line sm:gap-1">
        {links.map((link) => (
          <SectionItem key={link.href} {...link} />
        ))}
      </ul>
    </nav>
  );
}

function SectionItem({ href, text }: SectionLink) {
  const [isCurrent] = useRoute(href);
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    // Small phones have no room for all links.
    if (isCurrent) link.current?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [isCurrent]);
  return (
    <li>
      <Link
        ref={link}
        href={href}
        aria-current={isCurrent ? 'page' : undefined}
        className={classes(
          'flex min-h-11 items-center border-b-3 px-1.5 font-semibold whitespace-nowrap -outline-offset-2! sm:px-3',
          isCurrent ? 'border-accent text-accent' : 'border-transparent text-quiet hover:text-text',
          FOCUS_RING,
        )}
      >
        {text}
      </Link>
    </li>
  );
}
