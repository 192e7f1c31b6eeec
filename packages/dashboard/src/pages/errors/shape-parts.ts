/** Placeholders for the variable parts in the shape of an error, and their names. */
const NAMES: Readonly<Record<string, string>> = {
  '<n>': 'number',
  '<text>': 'text',
  '<email>': 'email',
  '<url>': 'URL',
  '<path>': 'path',
}

export interface ShapePart {
  readonly text: string
  readonly varies: boolean
}

export function shapeParts(shape: string): ShapePart[] {
  return shape
    .split(/(<(?:n|text|email|url|path)>)/)
    .filter((part) => part !== '')
    .map((part) => {
      const name = NAMES[part]
      return name === undefined ? { text: part, varies: false } : { text: name, varies: true }
    })
}
