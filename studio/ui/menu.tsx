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
}

interface MenuProps {
  /** Accessible name of the menu button. */
  readonly label: string;
  readonly actions: readonly MenuAction[];
  /** Excludes the button from the tab order, when the surrounding list offers another way to it. */
  readonly isSkippedByTab?: boolean;
}

/** A menu behind a button with three dots. */
export function Menu({ label, actions, isSkippedByTab = false }: MenuProps) {
  return (
    <MenuTrigger>
      <Button
        variant="quiet"
        aria-label={label}
        excludeFromTabOrder={isSkippedByTab}
        icon={<EllipsisVertical />}
      />
      <Popover
        // Beside the button: in a low window a menu above or below it would cover the pointer.
        placement="start top"
        className="min-w-48 overflow-y-auto rounded-lg border border-line bg-card p-1 text-text shadow-lg"
      >
        <AriaMenu className="outline-none">
          {actions.map(({ text, icon, onAction, isDangerous = false }) => (
            <MenuItem
              key={text}
              onAction={onAction}
              className={classes(
                'flex min-h-11 cursor-default items-center gap-3 rounded-md px-3 outline-none',
                'focus:bg-accent-soft [&_svg]:size-4.5',
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
