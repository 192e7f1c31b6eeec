/** Combined schemas: allOf, anyOf, oneOf and not. */
import { type Checking, isSchema, type Schema, type SchemaProblem } from './checking.ts'
import { typeProblems, wrongType } from './types.ts'

export function combinationProblems(
  schema: Readonly<Record<string, unknown>>,
  value: unknown,
  path: string,
  checking: Checking,
): SchemaProblem[] {
  const { allOf, anyOf, oneOf, not } = schema
  const run = (one: Schema): SchemaProblem[] => checking.check(one, value, path, checking)
  const found = schemasOf(allOf).flatMap(run)
  for (const [choices, isOne] of [
    [schemasOf(anyOf), false],
    [schemasOf(oneOf), true],
  ] as const) {
    const tried = choices.map((choice) => ({ choice, problems: run(choice) }))
    const fit = tried.filter(({ problems }) => problems.length === 0)
    if (tried.length > 0 && fit.length === 0) found.push(...closest(tried, value, path))
    // Beyond the budget, a schema counts as matching.
    if (isOne && fit.length > 1 && checking.left.steps > 0)
      found.push({ path, says: `matches ${fit.length} of the allowed variants, but must match only one` })
  }
  if (isSchema(not) && run(not).length === 0 && checking.left.steps > 0)
    found.push({ path, says: 'matches a schema that is not allowed' })
  return found
}

const schemasOf = (given: unknown): readonly Schema[] => (Array.isArray(given) ? given.filter(isSchema) : [])

interface Tried {
  readonly choice: Schema
  readonly problems: readonly SchemaProblem[]
}

/** The most likely variant: of those with the right type, the one with the fewest problems. */
function closest(tried: readonly Tried[], value: unknown, path: string): readonly SchemaProblem[] {
  const ofType = tried.filter(
    ({ choice }) => typeof choice !== 'boolean' && typeProblems(choice, value, path).length === 0,
  )
  if (ofType.length === 0) {
    const types = tried.flatMap(({ choice }) => (typeof choice === 'boolean' ? [] : [choice['type']].flat()))
    const known = types.filter((type): type is string => typeof type === 'string')
    if (known.length > 0) return [{ path, says: wrongType(value, [...new Set(known)]) }]
  }
  const [first, ...others] = (ofType.length > 0 ? ofType : tried).toSorted(
    (a, b) => fixedOnes(a) - fixedOnes(b) || a.problems.length - b.problems.length,
  )
  if (others.length === 0) return first?.problems ?? []
  return [
    { path, says: `matches none of the ${tried.length} allowed variants; the closest one:` },
    ...(first?.problems ?? []),
  ]
}

/** A constant distinguishes variants: `{ type: 'mail', … }`. */
const fixedOnes = ({ problems }: Tried): number =>
  problems.filter(({ says }) => says.startsWith('must be "')).length
