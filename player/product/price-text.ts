/** How many digits of a price are behind the decimal point, by ISO 4217: 2 for EUR, 0 for JPY. */
export function fractionDigitsOf(currency: string): number {
  const format = new Intl.NumberFormat('en', { style: 'currency', currency });
  return format.resolvedOptions().maximumFractionDigits ?? 0;
}

/**
 * A price for people, such as "€12.50".
 * @param price in minor units of the currency
 * @param locale the browser's by default
 */
export function priceText(price: number, currency: string, locale?: string): string {
  const format = new Intl.NumberFormat(locale, { style: 'currency', currency });
  return format.format(price / 10 ** fractionDigitsOf(currency));
}
