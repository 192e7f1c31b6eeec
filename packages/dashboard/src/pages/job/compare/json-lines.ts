/** JSON as lines for a diff: keys sorted and no commas, so that only what differs is marked. */

export function jsonLines(value: unknown, indent = '', label = ''): string[] {
  const [open, shut, parts] = partsOf(value)
  if (parts.length === 0) return [`${indent}${label}${open}${shut}`]
  return [
    `${indent}${label}${open}`,
    ...parts.flatMap(([key, part]) => jsonLines(part, `${indent}  `, key)),
    `${indent}${shut}`,
  ]
}

type Parts = readonly (readonly [label: string, part: unknown])[]

function partsOf(value: unknown): readonly [open: string, shut: string, parts: Parts] {
  if (typeof value !== 'object' || value === null) return [JSON.stringify(value), '', []]
  if (Array.isArray(value)) return ['[', ']', value.map((part: unknown) => ['', part] as const)]
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return ['{', '}', entries.map(([key, part]) => [`${JSON.stringify(key)}: `, part] as const)]
}
