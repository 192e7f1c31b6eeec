/**
 * Encodes lists as PostgreSQL array text, which is cheaper to build and parse than one JSON document, and
 * decodes arrays of texts.
 */

/** Encodes numbers, ids and null, which need no quotes. */
export function arrayOf(items: readonly (string | number | null)[]): string {
  return `{${items.map((item) => item ?? 'NULL').join(',')}}`
}

/** Encodes any texts, with quotes and escapes. */
export function textArrayOf(items: readonly (string | null)[]): string {
  return `{${items.map((item) => (item === null ? 'NULL' : quoted(item))).join(',')}}`
}

/** Joins JSON texts with a separator that JSON only contains in escaped form. An empty item is null. */
export function jsonListOf(items: readonly (string | null)[]): string {
  return items.map((item) => item ?? '').join('\u001E')
}

/** Decodes an array of one dimension. A quoted element is always a text, even "NULL". */
export function textsOf(array: string): (string | null)[] {
  return [...array.slice(1, -1).matchAll(ELEMENT)].map(([, quoted, bare]) => {
    if (quoted !== undefined) return quoted.replaceAll(/\\(.)/gs, '$1')
    return bare === undefined || bare === 'NULL' ? null : bare
  })
}

const ELEMENT = /"([^"\\]*(?:\\.[^"\\]*)*)"|([^,]+)/gs

function quoted(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}
