/** Parses query parameters, known names only, and ids in paths. */
import { cleanId } from '../clean/ids.ts'
import { Refusal } from '../refusal.ts'

const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000 }

export type Parameters = ReturnType<typeof parametersOf>

export function parametersOf({ searchParams }: URL, known: readonly string[]) {
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
    whole(name: string, fallback: number, least: number, most: number): number {
      const given = text(name)
      if (given === null) return fallback
      const value = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN
      if (value >= least && value <= most) return value
      const range = `${least} to ${most}`
      throw wrong(name, `must be a whole number from ${range} (got ${quote(given)})`, `Pass ${range}`)
    },
    oneOf<const T extends string>(name: string, all: readonly T[], fallback: T): T {
      const given = text(name)
      if (given === null) return fallback
      const found = all.find((one) => one === given)
      if (found === undefined)
        throw wrong(name, `has an unknown value (got ${quote(given)})`, `Pass ${all.join(' or ')}`)
      return found
    },
    /** In milliseconds, from `30s`, `500ms` or `1m`. */
    duration(name: string, fallbackMs: number, mostMs: number): number {
      const given = text(name)
      if (given === null) return fallbackMs
      const [, amount, unit] = /^(\d{1,6})(ms|s|m)?$/.exec(given) ?? []
      const ms = Number(amount) * (UNIT_MS[unit ?? 'ms'] ?? Number.NaN)
      if (ms <= mostMs) return ms
      const most = `at most ${mostMs / 1_000}s`
      const fix = `Pass a duration such as 500ms or 30s, ${most}`
      throw wrong(name, `must be a duration of ${most} (got ${quote(given)})`, fix)
    },
  }
}

/** The id of a mailbox or a file. `field` is the parameter that it came in. */
export function idIn(given: string, what: 'mailbox' | 'file', fix: string, field: string = what): string {
  const id = cleanId(given)
  if (id !== null) return id
  throw new Refusal('ID_INVALID', { field, detail: `the id of a ${what} must be a UUID`, fix })
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 40).toWellFormed())
}

function wrong(field: string, detail: string, fix: string): Refusal {
  return new Refusal('OPTION_INVALID', { field, detail, fix })
}
