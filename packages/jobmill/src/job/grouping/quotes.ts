/** Quoted text in a message: values are replaced, names of a schema are kept. */

const CLOSING: Readonly<Record<string, string>> = {
  '«': '»',
  '“': '”',
  '„': '“',
  '「': '」',
  '『': '』',
}

const IDENTIFIER = /^[#@]?[A-Za-z_$][\w$.\-[\]()]{0,79}$/
/** Words before or after a quoted name. */
const SCHEMA_WORD = `
  into update column columns relation table constraint key keys index field fields property properties
  reading setting evaluating type parameter param argument arg option function method module package
  variable header metric schema attribute selector enum class model operator command`
  .trim()
  .split(/\s+/)
  .join('|')
const BEFORE = new RegExp(`(?:^|[^\\p{L}])(?:${SCHEMA_WORD})[\\s:=(."]*$`, 'iu')
const AFTER = new RegExp(`^\\s*(?:${SCHEMA_WORD})(?![\\p{L}])`, 'iu')

/** Whether the text between these quotes names a part of a schema or of code. */
export function isSchemaName(line: string, from: number, to: number): boolean {
  const inside = line.slice(from + 1, to)
  if (!IDENTIFIER.test(inside) || !/[a-z]/i.test(inside)) return false
  if (looksRandom(inside)) return false
  const before = line.slice(Math.max(0, from - AROUND), from)
  const after = line.slice(to + 1, to + 1 + AROUND)
  if (line[from] === '`') return true
  // The keys of a JSON text, the values of its schema keys, and the texts of its arrays.
  if (/^\s*:/.test(after) && /[{,]\s*$/.test(before)) return true
  if (/[[,]\s*$/.test(before) && /^\s*[\],]/.test(after)) return true
  return isSchemaWord(line, from, to + 1)
}

const AROUND = 24

/** Whether a word next to this part of the line says that it names a part of a schema. */
export function isSchemaWord(line: string, from: number, to: number): boolean {
  return BEFORE.test(line.slice(Math.max(0, from - AROUND), from)) || AFTER.test(line.slice(to, to + AROUND))
}

function looksRandom(text: string): boolean {
  return (
    /\d{5,}|[0-9a-f]{12,}/i.test(text) ||
    (/\d/.test(text) && /[A-Z]/.test(text) && /[a-z]/.test(text) && text.length >= 8)
  )
}

/**
 * Finds the end of a quoted text. An apostrophe between letters neither starts nor ends one. Scans the line
 * once.
 */
export function closingQuotes(line: string): (at: number) => number | undefined {
  const none = new Set<string>()
  return (at) => {
    const opening = line[at] ?? ''
    const quote = CLOSING[opening] ?? opening
    if (quote !== opening) {
      const end = line.indexOf(quote, at + 1)
      return end === -1 ? undefined : end
    }
    if (none.has(quote) || isInside(line[at - 1], '>')) return undefined
    for (let end = line.indexOf(quote, at + 1); end !== -1; end = line.indexOf(quote, end + 1))
      if (!isInside(line[end + 1], '<')) return end
    // No later quote of this type can close either.
    none.add(quote)
    return undefined
  }
}

function isInside(sibling: string | undefined, bracket: string): boolean {
  return sibling !== undefined && (sibling === bracket || /[\p{L}\p{N}_…]/u.test(sibling))
}
