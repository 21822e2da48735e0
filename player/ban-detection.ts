type Fetch = (url: string, init?: RequestInit) => Promise<Response>;

/**
 * Wraps `fetch` to detect that this viewer is banned (SPEC C-19): a 401 with `banned: true`. The
 * SDK's errors do not distinguish it from other refusals.
 * @param onBanned called once
 */
export function detectBan(fetch: Fetch, onBanned: () => void): Fetch {
  let isBanned = false;
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.status !== 401 || isBanned) return response;
    const problem = await response
      .clone()
      .json()
      .catch(() => null);
    if (problem?.banned === true && !isBanned) {
      isBanned = true;
      onBanned();
    }
    return response;
  };
}
