/**
 * Numbers the copies of a value: {{n}} in its strings becomes the number of the copy. A string that is only
 * {{n}} becomes a number.
 */
export function numberCopies(value: unknown, n: number): unknown {
  if (value === '{{n}}') return n
  if (typeof value === 'string') return value.replaceAll('{{n}}', String(n))
  if (Array.isArray(value)) return value.map((one) => numberCopies(one, n))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, numberCopies(one, n)]))
}
