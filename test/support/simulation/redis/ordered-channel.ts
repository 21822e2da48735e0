/** Delivers a message later, or never. */
export type Deliver = (arrive: () => void) => void;

/**
 * One direction of a connection, as TCP has it: messages arrive in order. One that arrives early waits
 * for those before it, and after one that never arrives nothing does.
 */
export class OrderedChannel {
  private sent = 0;
  private arrived = 0;
  private readonly early = new Map<number, () => void>();

  constructor(private readonly deliver: Deliver) {}

  send(receive: () => void): void {
    const number = this.sent;
    this.sent += 1;
    this.deliver(() => {
      // A network may deliver a message twice; the connection drops the second one.
      if (number < this.arrived) return;
      this.early.set(number, receive);
      this.receiveInOrder();
    });
  }

  private receiveInOrder(): void {
    for (let next = this.early.get(this.arrived); next; next = this.early.get(this.arrived)) {
      this.early.delete(this.arrived);
      this.arrived += 1;
      next();
    }
  }
}
