import { LoaderCircle } from 'lucide-react';
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
  icon: 'size-11 shrink-0',
} as const;

export interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'style'> {
  readonly variant?: keyof typeof VARIANTS;
  readonly size?: keyof typeof SIZES;
  readonly isWide?: boolean;
}

/** A button. While `isPending` it shows a spinner and cannot be pressed. */
export function Button({
  variant = 'plain',
  size = 'normal',
  isWide = false,
  children,
  ...rest
}: ButtonProps) {
  return (
    <AriaButton
      {...rest}
      className={classes(
        'inline-flex items-center justify-center rounded-lg font-semibold select-none',
        'motion-safe:transition-colors disabled:opacity-55 disabled:cursor-default cursor-pointer',
        '[&_svg]:size-5 [&_svg]:shrink-0',
        VARIANTS[variant],
        SIZES[size],
        isWide && 'w-full',
        FOCUS_RING,
      )}
    >
      {(values) => (
        <>
          {values.isPending && (
            <LoaderCircle className="animate-spin motion-reduce:animate-none" aria-hidden="true" />
          )}
          {!(values.isPending && size === 'icon') &&
            (typeof children === 'function' ? children(values) : children)}
        </>
      )}
    </AriaButton>
  );
}
