/** Placeholders for the variable parts in the shape of an error, and their names. */
const NAMES: Readonly<Record<string, string>> = {
  '<n>': 'number',
  '<id>': 'id',
  '<text>': 'text',
  '<email>': 'email',
  '<url>': 'URL',
  '<path>': 'path',
  '<host>': 'host',
  '<date>': 'date',
  '<name>': 'name',
}

const PLACEHOLDER = new RegExp(`(${Object.keys(NAMES).join('|')})`)

export interface ShapePart {
  readonly text: string
  readonly varies: boolean
}

export function shapeParts(shape: string): ShapePart[] {
  return shape
    .split(PLACEHOLDER)
    .filter((part) => part !== '')
    .map((part) => {
      const name = NAMES[part]
      return name === undefined ? { text: part, varies: false } : { text: name, varies: true }
    })
}
