import { LoaderCircle } from 'lucide-react';
import type { ReactNode, Ref } from 'react';
import { Button as AriaButton, type ButtonProps as AriaButtonProps } from 'react-aria-components';
import { classes, FOCUS_RING } from './classes.ts';

const VARIANTS = {
  primary: 'bg-accent text-on-accent hover:bg-accent-hover pressed:bg-accent-hover',
  plain: 'border border-edge bg-card hover:bg-raised pressed:bg-raised',
  quiet: 'hover:bg-raised pressed:bg-raised',
  danger: 'border border-bad text-bad bg-card hover:bg-bad-soft pressed:bg-bad-soft',
} as const;

const SIZES = {
  normal: 'min-h-11 px-4 gap-2',
  big: 'min-h-14 px-6 gap-3 text-lg',
} as const;

const ICON_ONLY = 'size-11 shrink-0';

export interface ButtonProps extends Omit<AriaButtonProps, 'children' | 'className' | 'style'> {
  readonly variant?: keyof typeof VARIANTS;
  readonly size?: keyof typeof SIZES;
  readonly isWide?: boolean;
  readonly icon?: ReactNode;
  /** The keys that press the button. */
  readonly 'aria-keyshortcuts'?: string;
  readonly ref?: Ref<HTMLButtonElement>;
  /** The text; without it, set `aria-label`. */
  readonly children?: ReactNode;
}

/** A button. While `isPending` it shows a spinner and cannot be pressed. */
export function Button(props: ButtonProps) {
  const { variant = 'plain', size = 'normal', isWide, icon, children, ...rest } = props;
  const keys = rest['aria-keyshortcuts'];
  return (
    <AriaButton
      {...rest}
      // React Aria drops this attribute.
      {...(keys && { render: (dom) => <button {...dom} aria-keyshortcuts={keys} /> })}
      className={classes(
        'inline-flex items-center justify-center rounded-lg font-semibold select-none',
        'motion-safe:transition-colors disabled:opacity-55 disabled:cursor-default cursor-pointer',
        '[&_svg]:size-5 [&_svg]:shrink-0',
        VARIANTS[variant],
        children ? SIZES[size] : ICON_ONLY,
        isWide && 'w-full',
        FOCUS_RING,
      )}
    >
      {({ isPending }) => (
        <>
          {isPending && <LoaderCircle className="animate-spin motion-reduce:animate-none" />}
          {(children || !isPending) && icon}
          {children}
        </>
      )}
    </AriaButton>
  );
}
