import { useEffect, useRef } from 'react';
import { Link, useRoute } from 'wouter';
import { classes, FOCUS_RING } from '../ui/classes.ts';

interface SectionLink {
  readonly href: string;
  readonly text: string;
}

interface SectionLinksProps {
  /** What the sections are of, as it is read out. */
  readonly label: string;
  readonly links: readonly SectionLink[];
}

/** The sections of one thing, side by side. */
export function SectionLinks({ label, links }: SectionLinksProps) {
  return (
    <nav aria-label={label} className="-mx-4 overflow-x-auto px-4 print:hidden">
      <ul className="flex gap-1 border-b border-line">
        {links.map((link) => (
          <Section key={link.href} {...link} />
        ))}
      </ul>
    </nav>
  );
}

function Section({ href, text }: SectionLink) {
  const [isHere] = useRoute(href);
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    // On a telephone there is no room for all of them.
    if (isHere) link.current?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [isHere]);
  return (
    <li>
      <Link
        ref={link}
        href={href}
        aria-current={isHere ? 'page' : undefined}
        className={classes(
          'flex min-h-11 items-center border-b-3 px-3 font-semibold whitespace-nowrap -outline-offset-2!',
          isHere ? 'border-accent text-accent' : 'border-transparent text-quiet hover:text-text',
          FOCUS_RING,
        )}
      >
        {text}
      </Link>
    </li>
  );
}
