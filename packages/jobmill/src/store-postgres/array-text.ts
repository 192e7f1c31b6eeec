/** Lists as the texts that PostgreSQL reads: cheaper to make and to read than one JSON text of everything. */

/** Of numbers, ids and null, which need no quotes. */
export function arrayOf(items: readonly (string | number | null)[]): string {
  return `{${items.map((item) => item ?? 'NULL').join(',')}}`
}

/** Of any texts. */
export function textArrayOf(items: readonly (string | null)[]): string {
  return `{${items.map((item) => (item === null ? 'NULL' : quoted(item))).join(',')}}`
}

/** JSON texts one after another: between two of them stands a character that JSON has only escaped, and null is an empty one. */
export function jsonListOf(items: readonly (string | null)[]): string {
  return items.map((item) => item ?? '').join('\u001E')
}

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}
