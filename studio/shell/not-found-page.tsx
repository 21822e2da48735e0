import { Compass } from 'lucide-react';
import { Link } from 'wouter';
import { EmptyState } from '../ui/states.tsx';
import { Page } from './page.tsx';
import { texts } from './texts.ts';

export function NotFoundPage() {
  return (
    <Page title={texts.notFound.title}>
      <EmptyState icon={<Compass />} title={texts.notFound.explanation}>
        <Link href="/" className="underline">
          {texts.notFound.allShows}
        </Link>
      </EmptyState>
    </Page>
  );
}
