/** Array items and their number. */
import { type Checking, inside, isSchema, type Schema, type SchemaProblem } from './checking.ts'
import { isEqual } from './types.ts'

/** Comparing all items with each other is quadratic, so limit it. */
const MOST_COMPARED = 200

export function listProblems(
  schema: Readonly<Record<string, unknown>>,
  value: readonly unknown[],
  path: string,
  checking: Checking,
): SchemaProblem[] {
  const { minItems, maxItems, items, prefixItems, uniqueItems } = schema
  const found: SchemaProblem[] = []
  if (typeof minItems === 'number' && value.length < minItems)
    found.push({ path, says: `must have at least ${many(minItems)}` })
  if (typeof maxItems === 'number' && value.length > maxItems)
    found.push({ path, says: `must have at most ${many(maxItems)}` })
  if (uniqueItems === true && value.length <= MOST_COMPARED) {
    const twice = value.findIndex((one, at) => value.slice(0, at).some((other) => isEqual(one, other)))
    if (twice !== -1) found.push({ path: inside(path, twice), says: 'is duplicated' })
  }
  const first: readonly unknown[] = Array.isArray(prefixItems) ? prefixItems : []
  for (const [at, one] of value.entries()) {
    const own: unknown = at < first.length ? first[at] : items
    if (isSchema(own)) found.push(...checking.check(own satisfies Schema, one, inside(path, at), checking))
    if (checking.left.steps < 0) break
  }
  return found
}

const many = (n: number): string => `${n} ${n === 1 ? 'item' : 'items'}`
