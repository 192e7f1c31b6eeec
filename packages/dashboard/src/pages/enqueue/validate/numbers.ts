/** Number ranges and multiples. */
import type { SchemaProblem } from './checking.ts'

export function numberProblems(
  schema: Readonly<Record<string, unknown>>,
  value: number,
  path: string,
): SchemaProblem[] {
  const found: SchemaProblem[] = []
  const bound = (key: string, isWrong: (bound: number) => boolean, says: string): void => {
    const given = schema[key]
    if (typeof given === 'number' && isWrong(given)) found.push({ path, says: `${says} ${given}` })
  }
  bound('minimum', (least) => value < least, 'must be at least')
  bound('maximum', (most) => value > most, 'must be at most')
  bound('exclusiveMinimum', (least) => value <= least, 'must be more than')
  bound('exclusiveMaximum', (most) => value >= most, 'must be less than')
  bound('multipleOf', (step) => step > 0 && !isMultiple(value, step), 'must be a multiple of')
  return found
}

/** 0.3 is a multiple of 0.1 despite floating point. */
function isMultiple(value: number, step: number): boolean {
  const times = value / step
  return Math.abs(times - Math.round(times)) < 1e-9 * Math.max(1, Math.abs(times))
}
