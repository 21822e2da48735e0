/** Most bytes that wait unsent in event streams (F-25). */
export const UNSENT_LIMITS = {
  /** Of one viewer. */
  viewerBytes: 1 << 20,
  /** Of one client address. */
  clientBytes: 16 << 20,
  /** Of all streams of this thread. */
  totalBytes: 64 << 20,
};

/** Who must know how a stream goes on. */
export interface StreamObserver {
  /** Called when the stream is over for any reason. */
  readonly onEnd: () => void;
  /** Called with the number of unsent bytes when it may have changed. */
  readonly onUnsent: (bytes: number) => void;
}

/** Whose unsent bytes a stream has. */
export interface UnsentOwner {
  /** Key of the viewer. */
  readonly viewer: string;
  /** Rate limit key of the client; null: unknown, behind a proxy that does not send it. */
  readonly client: string | null;
  /** Called when the stream is over for any reason. */
  readonly onEnd: () => void;
}

/** What a cut leaves of a limit, so that not every write over a limit has to sort its streams. */
const LEFT_SHARE = 0.9;

/** Streams that share a limit, and have unsent bytes. */
interface Group {
  /** null: all streams. */
  readonly key: string | null;
  bytes: number;
  readonly maxBytes: number;
  readonly streams: Set<UnsentStream>;
}

/**
 * Bounds the memory of clients that do not read what they are sent. Anybody gets a viewer token, and 400
 * streams that nobody read took 500 MB. Where a limit is exceeded, the streams with the most unsent
 * bytes are cut. A stream whose client reads takes no memory here.
 */
export class UnsentBudget {
  private readonly groups = new Map<string, Group>();
  private readonly total: Group;

  constructor(private readonly limits: Readonly<typeof UNSENT_LIMITS> = UNSENT_LIMITS) {
    this.total = newGroup(null, limits.totalBytes);
  }

  /** Opens a stream whose unsent bytes count. It must call its observer. */
  open<Stream extends { abort(): void }>(
    { viewer, client, onEnd }: UnsentOwner,
    open: (observer: StreamObserver) => Stream,
  ): Stream {
    const unsent = new UnsentStream(this, viewer, client, () => stream.abort());
    const stream = open({
      onEnd: () => {
        unsent.set(0);
        onEnd();
      },
      onUnsent: (bytes) => unsent.set(bytes),
    });
    return stream;
  }

  /** Counts further bytes of a stream, or fewer. */
  add(stream: UnsentStream, bytes: number): void {
    const { viewer, client } = stream;
    const groups = [this.total, this.group(`viewer ${viewer}`, this.limits.viewerBytes)];
    if (client !== null) groups.push(this.group(`client ${client}`, this.limits.clientBytes));
    for (const group of groups) {
      group.bytes += bytes;
      if (stream.bytes === 0) group.streams.delete(stream);
      else group.streams.add(stream);
      if (group.key !== null && group.streams.size === 0) this.groups.delete(group.key);
    }
    // Only now, since it may cut this stream.
    for (const group of groups) if (group.bytes > group.maxBytes) cutSlowest(group);
  }

  private group(key: string, maxBytes: number): Group {
    let group = this.groups.get(key);
    if (!group) {
      group = newGroup(key, maxBytes);
      this.groups.set(key, group);
    }
    return group;
  }
}

/** The unsent bytes of one event stream. */
class UnsentStream {
  bytes = 0;

  constructor(
    private readonly budget: UnsentBudget,
    readonly viewer: string,
    readonly client: string | null,
    readonly cut: () => void,
  ) {}

  /** Call it with the number of unsent bytes after each write, and with 0 at the end. */
  set(bytes: number): void {
    const difference = bytes - this.bytes;
    if (difference === 0) return;
    this.bytes = bytes;
    this.budget.add(this, difference);
  }
}

function newGroup(key: string | null, maxBytes: number): Group {
  return { key, bytes: 0, maxBytes, streams: new Set() };
}

function cutSlowest(group: Group): void {
  const leftBytes = group.maxBytes * LEFT_SHARE;
  for (const stream of [...group.streams].sort((a, b) => b.bytes - a.bytes)) {
    if (group.bytes <= leftBytes) return;
    stream.cut();
    stream.set(0);
  }
}
