/** Parses query parameters: known names only, with validated values. */
import { Refusal } from '../refusal.ts'

export interface Parameters {
  readonly text: (name: string) => string | null
  readonly whole: (name: string, fallback: number, least: number, most: number) => number
  readonly oneOf: <const T extends string>(name: string, known: readonly T[], fallback: T) => T
  /** In milliseconds, from `30s`, `500ms` or `1m`. */
  readonly duration: (name: string, fallbackMs: number, mostMs: number) => number
}

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 }

export function parametersOf({ searchParams }: URL, known: readonly string[]): Parameters {
  for (const name of searchParams.keys()) {
    if (!known.includes(name))
      throw new Refusal('OPTION_UNKNOWN', {
        detail: `unknown parameter ${quote(name)}`,
        field: name.slice(0, 100).toWellFormed(),
        fix: known.length === 0 ? 'Omit it' : `Use one of ${known.join(', ')}`,
      })
    if (searchParams.getAll(name).length > 1) throw wrong(name, 'is duplicated', 'Pass it once')
  }
  const text = (name: string): string | null => searchParams.get(name)
  return {
    text,
    whole(name, fallback, least, most) {
      const given = text(name)
      if (given === null) return fallback
      const value = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN
      if (value >= least && value <= most) return value
      throw wrong(
        name,
        `must be a whole number from ${least} to ${most} (got ${quote(given)})`,
        `Pass ${least} to ${most}`,
      )
    },
    oneOf(name, all, fallback) {
      const given = text(name)
      if (given === null) return fallback
      const found = all.find((one) => one === given)
      if (found === undefined)
        throw wrong(name, `has an unknown value (got ${quote(given)})`, `Pass ${all.join(' or ')}`)
      return found
    },
    duration(name, fallbackMs, mostMs) {
      const given = text(name)
      if (given === null) return fallbackMs
      const [, amount, unit] = /^(\d{1,6})(ms|s|m)?$/.exec(given) ?? []
      const ms = Number(amount) * (UNIT_MS[unit ?? 'ms'] ?? Number.NaN)
      if (ms <= mostMs) return ms
      const most = `at most ${mostMs / 1_000}s`
      throw wrong(name, `must be a duration of ${most} (got ${quote(given)})`, `Pass ${most}`)
    },
  }
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 40).toWellFormed())
}

function wrong(field: string, detail: string, fix: string): Refusal {
  return new Refusal('OPTION_INVALID', { field, detail, fix })
}
