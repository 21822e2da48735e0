import { useState } from 'react';
import type { Product } from '../../sdk/types.ts';
import { Icon } from '../icon.tsx';
import { texts } from '../texts.ts';
import { priceText } from './price-text.ts';

interface ProductCardProps {
  readonly product: Product;
  /** Whether the card is over the video, for a stage that fills the screen or has no panel beside it. */
  readonly isOverlay?: boolean;
  onClose(): void;
}

/** With at most so many pieces left, the card says how many. */
const FEW_LEFT = 10;

/** What the host sells, with a link to buy it. */
export function ProductCard({ product, isOverlay = false, onClose }: ProductCardProps) {
  const { name, picture_url, price, currency, url, stock } = product;
  const isSoldOut = stock === 0;
  return (
    <aside
      className={isOverlay ? 'product product--overlay' : 'product'}
      aria-label={texts.product.label}
    >
      {picture_url !== null && <Picture key={picture_url} url={picture_url} />}
      <div className="product-text">
        <bdi className="product-name">{name}</bdi>
        <span className="product-price">
          {priceText(price, currency)}
          {stock !== null && !isSoldOut && stock <= FEW_LEFT && (
            <span className="product-stock"> · {texts.product.left(stock)}</span>
          )}
        </span>
      </div>
      {isSoldOut ? (
        <span className="product-sold-out">{texts.product.soldOut}</span>
      ) : (
        <a className="action product-buy" href={url} target="_blank" rel="noreferrer">
          {texts.product.buy}
          <span className="unseen"> {texts.product.newTab}</span>
        </a>
      )}
      <button
        type="button"
        className="product-close"
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
      className="product-picture"
      src={url}
      alt=""
      referrerPolicy="no-referrer"
      onError={() => setBroken(true)}
    />
  );
}
