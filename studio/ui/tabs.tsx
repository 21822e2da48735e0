import type { ReactNode } from 'react';
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components';
import { classes, FOCUS_RING } from './classes.ts';

interface TabsProps<Id extends string> {
  /** Accessible name. */
  readonly label: string;
  readonly tabs: readonly { readonly id: Id; readonly text: string }[];
  readonly selected: Id;
  readonly onSelect: (id: Id) => void;
  /** Shown beside the tabs. */
  readonly aside?: ReactNode;
  /** Fills its container; the content of the selected tab then scrolls by itself. */
  readonly isFilling?: boolean;
  /** Content of the selected tab. */
  readonly children: ReactNode;
}

/** Tabs with one visible panel. */
export function Tabs<Id extends string>(props: TabsProps<Id>) {
  const { label, tabs, selected, onSelect, aside, isFilling, children } = props;
  return (
    <AriaTabs
      selectedKey={selected}
      onSelectionChange={(key) => onSelect(key as Id)}
      className={classes(isFilling && 'flex min-h-0 flex-1 flex-col')}
    >
      <div className="flex items-end justify-between gap-2 border-b border-line">
        <TabList aria-label={label} className="flex flex-wrap">
          {tabs.map(({ id, text }) => (
            <Tab
              key={id}
              id={id}
              className={classes(
                'min-h-11 cursor-pointer content-center border-b-3 border-transparent px-2 font-semibold whitespace-nowrap text-quiet sm:px-3',
                'selected:border-accent selected:text-accent',
                FOCUS_RING,
              )}
            >
              {text}
            </Tab>
          ))}
        </TabList>
        {aside}
      </div>
      <TabPanel
        key={selected}
        id={selected}
        className={classes(
          'outline-none',
          isFilling ? 'relative flex min-h-0 flex-1 flex-col pt-1' : 'pt-3',
        )}
      >
        {children}
      </TabPanel>
    </AriaTabs>
  );
}
