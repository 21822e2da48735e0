import type { ReactNode } from 'react';
import { classes } from './classes.ts';

const VARIANTS = {
  plain: 'bg-raised text-text',
  live: 'bg-live text-white dark:text-black',
  good: 'bg-good-soft text-good',
  bad: 'bg-bad-soft text-bad',
  accent: 'bg-accent-soft text-accent',
} as const;

interface BadgeProps {
  readonly variant?: keyof typeof VARIANTS;
  readonly children: ReactNode;
}

/** A label for the state of something. */
export function Badge({ variant = 'plain', children }: BadgeProps) {
  return (
    <span
      className={classes(
        'inline-flex items-center gap-1.5 rounded-full px-2.5 py-0.5 text-sm font-semibold whitespace-nowrap',
        VARIANTS[variant],
      )}
    >
      {children}
    </span>
  );
}
