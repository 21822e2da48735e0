import { useApiQuery } from '../api/use-api-query.ts';
import { Panel } from '../ui/panel.tsx';
import { Loaded } from '../ui/states.tsx';
import { ProductList } from './product-list.tsx';
import { texts } from './texts.ts';

/** The products of a show on its set-up page. */
export function ProductsCard({ streamId }: { readonly streamId: string }) {
  const query = useApiQuery('listProducts', { params: { stream_id: streamId } });
  return (
    <Panel title={texts.title}>
      <Loaded query={query} label={texts.loading}>
        {({ results }) => <ProductList streamId={streamId} products={results} />}
      </Loaded>
    </Panel>
  );
}
