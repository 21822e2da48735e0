import { parseNetworks } from '../../platform/network-policy.ts';
import { createPost, type Post } from './post.ts';
import type { PostCommand, PostReply } from './post-thread.ts';

declare const self: Worker;

// The thread of `PostThread`. It sends what the node claimed, and knows nothing else of the service.

let post: Post;
const open = new Map<number, AbortController>();

async function send({ id, url, headers, body }: PostCommand & { kind: 'post' }): Promise<void> {
  const stop = new AbortController();
  open.set(id, stop);
  try {
    const reply: PostReply = { id, result: await post(url, headers, body, stop.signal) };
    self.postMessage(reply);
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    open.delete(id);
  }
}

self.onmessage = ({ data }: MessageEvent<PostCommand>) => {
  if (data.kind === 'start') {
    const allowPrivate = parseNetworks(data.allowPrivate);
    post = createPost({ policy: { allowHttp: data.allowHttp, allowPrivate } });
  } else if (data.kind === 'post') void send(data);
  else open.get(data.id)?.abort();
};
