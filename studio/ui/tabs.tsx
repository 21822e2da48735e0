import type { ReactNode } from 'react';
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components';
import { classes, FOCUS_RING } from './classes.ts';

interface TabsProps<Id extends string> {
  /** Accessible name. */
  readonly label: string;
  readonly tabs: readonly { readonly id: Id; readonly text: string }[];
  readonly selected: Id;
  readonly onSelect: (id: Id) => void;
  /** Content of the selected tab. */
  readonly children: ReactNode;
}

/** Tabs with one visible panel. */
export function Tabs<Id extends string>(props: TabsProps<Id>) {
  const { label, tabs, selected, onSelect, children } = props;
  return (
    <AriaTabs selectedKey={selected} onSelectionChange={(key) => onSelect(key as Id)}>
      <TabList aria-label={label} className="flex flex-wrap border-b border-line">
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
      <TabPanel key={selected} id={selected} className="pt-3 outline-none">
        {children}
      </TabPanel>
    </AriaTabs>
  );
}
