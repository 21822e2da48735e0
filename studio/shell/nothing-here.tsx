import { Compass } from 'lucide-react';
import { Link } from 'wouter';
import { Empty } from '../ui/states.tsx';
import { Page } from './page.tsx';

/** An address that leads nowhere. */
export function NothingHere() {
  return (
    <Page title="Nothing here">
      <Empty icon={<Compass aria-hidden="true" />} title="There is no such page">
        <Link href="/" className="underline">
          All shows
        </Link>
      </Empty>
    </Page>
  );
}
