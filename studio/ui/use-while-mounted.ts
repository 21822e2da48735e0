import { useEffect, useRef } from 'react';

/** @returns a callback for a response: it does nothing once the component is unmounted */
export function useWhileMounted<Args extends readonly unknown[]>(
  callback: (...args: Args) => void,
): (...args: Args) => void {
  const isMounted = useRef(false);
  useEffect(() => {
    isMounted.current = true;
    return () => {
      isMounted.current = false;
    };
  }, []);
  return (...args) => {
    if (isMounted.current) callback(...args);
  };
}
