/** A value of which several copies are made: in its texts {{n}} is the number of the copy. A text that is nothing else becomes a number. */
export function counted(value: unknown, n: number): unknown {
  if (value === '{{n}}') return n
  if (typeof value === 'string') return value.replaceAll('{{n}}', String(n))
  if (Array.isArray(value)) return value.map((one) => counted(one, n))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, counted(one, n)]))
}
