import { quantity } from '../../ui/quantity.ts';

/** The texts of discounts, purchases and custom events on the on-air page. */
export const texts = {
  title: 'Sell and send',
  discountsSinceOpened: (count: number) =>
    `${quantity(count, 'discount')} since this page was opened`,
  kinds: {
    label: 'What to send',
    discount: 'Discounts',
    purchase: 'Purchase',
    own: 'Custom event',
  },
  send: 'Send to viewers',
  /** `{}` is the event. */
  sent: 'Sent: {}',
  sendAgain: 'Send again',
  sendAgainLabel: (event: string) => `Send again: ${event}`,
  discounts: (count: number) => quantity(count, 'discount'),
  form: {
    discounts: 'Redeemed discounts',
    buyer: 'Buyer',
    purchase: 'Purchase text',
    purchaseExample: 'bought two mugs',
    product: 'Product, whose stock falls',
    noProduct: 'None',
    quantity: 'Pieces',
    type: 'Type',
    typeExample: 'lights',
    typeHelp: 'The event name that your app listens for.',
    data: 'Data (JSON)',
    dataExample: '{"color": "red"}',
    dataHelp: 'A JSON object, or empty.',
  },
  errors: {
    /** `error` is the message of the validation: "must be a-z, 0-9 and -". */
    type: (error: string) => `The type ${error}.`,
    invalidJson: 'This is not valid JSON.',
    noObject: 'The data must be an object, such as {"color": "red"}.',
    tooLong: (bytes: number) => `The data must have at most ${bytes.toLocaleString()} bytes.`,
  },
  purchases: {
    title: 'Purchases',
    empty: 'No purchases yet.',
    anonymous: 'Someone',
  },
};
