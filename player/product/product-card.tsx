import { useState } from 'react';
import type { Product } from '../../sdk/types.ts';
import { Icon } from '../icon.tsx';
import { texts } from '../texts.ts';
import { priceText } from './price-text.ts';

interface ProductCardProps {
  readonly product: Product;
  onClose(): void;
}

/** With at most so many pieces left, the card says how many. */
const FEW_LEFT = 10;

/** What the host sells, with a link to buy it. */
export function ProductCard({ product, onClose }: ProductCardProps) {
  const { name, picture_url, price, currency, url, stock } = product;
  const isSoldOut = stock === 0;
  return (
    <aside className="row" aria-label={texts.product.label}>
      {picture_url !== null && <Picture key={picture_url} url={picture_url} />}
      <div className="row-text">
        <bdi className="row-title">{name}</bdi>
        <span className="row-more">
          {priceText(price, currency)}
          {stock !== null && !isSoldOut && stock <= FEW_LEFT && (
            <span className="row-quiet"> · {texts.product.left(stock)}</span>
          )}
        </span>
      </div>
      {isSoldOut ? (
        <span className="row-state">{texts.product.soldOut}</span>
      ) : (
        <a className="action row-action" href={url} target="_blank" rel="noreferrer">
          {texts.product.buy}
          <span className="unseen"> {texts.product.newTab}</span>
        </a>
      )}
      <button
        type="button"
        className="row-close"
        aria-label={texts.product.close}
        onClick={onClose}
      >
        <Icon name="wrong" />
      </button>
    </aside>
  );
}

/** A picture that cannot be loaded takes no room. */
function Picture({ url }: { readonly url: string }) {
  const [isBroken, setBroken] = useState(false);
  if (isBroken) return null;
  return (
    <img
      className="row-picture"
      src={url}
      alt=""
      referrerPolicy="no-referrer"
      onError={() => setBroken(true)}
    />
  );
}
