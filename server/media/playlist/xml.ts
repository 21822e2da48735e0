/** The value of an attribute; undefined omits it. */
type AttributeValue = string | number | undefined;

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/** Renders an XML 1.0 element with escaped attributes and its content on separate lines. */
export function element(
  name: string,
  attributes: Readonly<Record<string, AttributeValue>>,
  content: readonly string[] = [],
): string {
  const attributeText = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${escapeXml(String(value))}"`)
    .join('');
  if (content.length === 0) return `<${name}${attributeText}/>`;
  return `<${name}${attributeText}>\n${content.join('\n')}\n</${name}>`;
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
