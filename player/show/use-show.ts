import { useEffect, useState } from 'react';
import type { ShownShow } from '../../protocol/show-page.ts';
import { everyRefresh, reloadShow } from './page-show.ts';

/**
 * The show of the page. Until it starts, its changes appear within half a minute; so does a show that the service
 * could not read when it sent the page.
 */
export function useShow(initial: ShownShow | null, hasStarted: boolean): ShownShow | null {
  const [show, setShow] = useState(initial);
  useEffect(() => {
    if (hasStarted && show) return;
    return everyRefresh(async () => setShow(await reloadShow(location.href, show)));
  }, [show, hasStarted]);
  useEffect(() => {
    if (show) document.title = show.title;
  }, [show]);
  return show;
}
