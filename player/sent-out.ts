type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/**
 * The same as `fetch`, which notices that this viewer was sent out of the show (SPEC C-19): of what
 * the SDK hears of refusals, that is not told apart.
 * @param onSentOut called once
 */
export function noticingSentOut(fetch: Fetch, onSentOut: () => void): Fetch {
  let isSentOut = false;
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.status !== 401 || isSentOut) return response;
    const problem = await response
      .clone()
      .json()
      .catch(() => null);
    if (problem?.banned === true && !isSentOut) {
      isSentOut = true;
      onSentOut();
    }
    return response;
  };
}
