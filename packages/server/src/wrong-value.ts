/** Explains an invalid value of a request and how to fix it: `must be a whole number (got "abc")`. */
import type { core } from 'zod'
import { stateHint } from 'jobmill/internal'
import { quote } from 'jobmill/store'

type Issue = core.$ZodIssue

export interface WrongValue {
  readonly detail: string
  readonly fix: string
}

/** The value and where it was sent. URL parameters are text, and numbers among them are whole. */
export interface SentValue {
  readonly value: unknown
  readonly field: string
  readonly isParameter: boolean
}

export function wrongValue(issue: Issue, sent: SentValue): WrongValue {
  const { value, field, isParameter } = sent
  if (value === undefined) return { detail: 'is missing', fix: `Pass ${field}` }
  if (isParameter && Array.isArray(value))
    return { detail: `must appear once (got ${value.length} values)`, fix: `Pass ${field} once` }
  const asked = expectationOf(issue, sent)
  if (asked === null) return { detail: `${issue.message} (got ${quote(value)})`, fix: 'Pass another value' }
  return {
    detail: `must ${asked.verb} ${asked.what} (got ${quote(value)})`,
    fix: asked.fix ?? `Pass ${asked.what}`,
  }
}

interface Asked {
  readonly verb: 'be' | 'have'
  readonly what: string
  /** Only if it differs from passing `what`. */
  readonly fix?: string
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

function expectationOf(issue: Issue, { value, isParameter }: SentValue): Asked | null {
  const isNoNumber = isParameter && typeof value === 'string' && !/^-?\d+$/.test(value)
  switch (issue.code) {
    case 'invalid_type':
      return typeAsked(isParameter && issue.expected === 'number' ? 'int' : issue.expected)
    case 'invalid_value':
      return oneOf(issue.values.map(String), value)
    case 'too_small':
      // An empty parameter counts as 0, but the actual problem is that it is not a number.
      return isNoNumber && issue.origin === 'number'
        ? typeAsked('int')
        : amount(issue.origin, 'at least', issue.minimum)
    case 'too_big':
      return amount(issue.origin, 'at most', issue.maximum)
    case 'invalid_union':
      return anyOf(issue)
    default:
      return null
  }
}

/** For a job state of another library, such as `failed`, names ours. */
function oneOf(values: readonly string[], value: unknown): Asked {
  const fix = values.includes('dead') ? stateHint(value) : undefined
  return { verb: 'be', what: `one of ${values.join(', ')}`, ...(fix !== undefined && { fix }) }
}

function typeAsked(expected: string): Asked | null {
  const what = TYPES[expected]
  return what === undefined ? null : { verb: 'be', what }
}

const COUNTED: Readonly<Record<string, string>> = { string: 'character', array: 'item', set: 'item' }

function amount(origin: string, bound: string, most: number | bigint): Asked {
  const counted = COUNTED[origin]
  if (counted === undefined) return { verb: 'be', what: `${bound} ${most}` }
  return { verb: 'have', what: `${bound} ${most} ${counted}${Number(most) === 1 ? '' : 's'}` }
}

/** Lists all types that a union accepts. */
function anyOf(issue: Extract<Issue, { code: 'invalid_union' }>): Asked | null {
  const types = issue.errors.map(([first]) =>
    first?.code === 'invalid_type' && first.path.length === 0 ? TYPES[first.expected] : undefined,
  )
  const known = [...new Set(types)].filter((one) => one !== undefined)
  return known.length === 0 ? null : { verb: 'be', what: known.join(' or ') }
}
