import type { ShownShow } from '../../protocol/show-page.ts';
import { texts } from '../texts.ts';

/** Logo, title and description of the show, above the chat. */
export function ShowHeader({ show }: { readonly show: ShownShow | null }) {
  if (!show) return <h1 className="unseen">{texts.watchShow}</h1>;
  const { title, description, logo_url: logo } = show;
  return (
    <header className="show-header">
      {logo !== null && <img className="show-logo" src={logo} alt="" />}
      <h1 className="show-title" dir="auto">
        {title}
      </h1>
      {description !== null && (
        <details className="show-about">
          <summary>{texts.about}</summary>
          <p dir="auto">{description}</p>
        </details>
      )}
    </header>
  );
}
