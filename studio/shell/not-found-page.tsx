import { Compass } from 'lucide-react';
import { Link } from 'wouter';
import { EmptyState } from '../ui/states.tsx';
import { Page } from './page.tsx';

export function NotFoundPage() {
  return (
    <Page title="Page not found">
      <EmptyState icon={<Compass />} title="This page does not exist">
        <Link href="/" className="underline">
          All shows
        </Link>
      </EmptyState>
    </Page>
  );
}
