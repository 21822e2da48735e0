import { EllipsisVertical } from 'lucide-react';
import type { ReactNode } from 'react';
import { Menu as AriaMenu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import { Button } from './button.tsx';
import { classes } from './classes.ts';

export interface MenuAction {
  readonly text: string;
  readonly icon?: ReactNode;
  readonly onAction: () => void;
  readonly isDangerous?: boolean;
  readonly isDisabled?: boolean;
}

interface MenuProps {
  /** What is read out for the button of three dots. */
  readonly label: string;
  readonly actions: readonly MenuAction[];
  /** It is not reached by Tab, but by a mouse, a finger or in some way of the list that it is in. */
  readonly isSkippedByTab?: boolean;
}

/** What else can be done with something, behind three dots. */
export function Menu({ label, actions, isSkippedByTab = false }: MenuProps) {
  return (
    <MenuTrigger>
      <Button look="quiet" size="icon" aria-label={label} excludeFromTabOrder={isSkippedByTab}>
        <EllipsisVertical aria-hidden="true" />
      </Button>
      <Popover
        placement="bottom end"
        className="min-w-48 rounded-lg border border-line bg-card p-1 text-text shadow-lg"
      >
        <AriaMenu className="outline-none">
          {actions.map(({ text, icon, onAction, isDangerous = false, isDisabled = false }) => (
            <MenuItem
              key={text}
              onAction={onAction}
              isDisabled={isDisabled}
              className={classes(
                'flex min-h-11 cursor-default items-center gap-3 rounded-md px-3 outline-none',
                'focus:bg-accent-soft disabled:opacity-55 [&_svg]:size-4.5',
                isDangerous && 'text-bad',
              )}
            >
              {icon}
              {text}
            </MenuItem>
          ))}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  );
}
