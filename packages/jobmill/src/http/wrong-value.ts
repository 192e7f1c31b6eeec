/** Says what is wrong with one value of a request, and what to pass: `must be a whole number (got "abc")`. */
import type { core } from 'zod'
import { shown } from '../job/errors.ts'

type Issue = core.$ZodIssue

export interface WrongValue {
  readonly detail: string
  readonly fix: string
}

/** Where the value was sent. Parameters of an address are text, and the numbers among them are whole. */
export interface Sent {
  readonly value: unknown
  readonly field: string
  readonly isParameter: boolean
}

export function wrongValue(issue: Issue, sent: Sent): WrongValue {
  const { value, field, isParameter } = sent
  if (value === undefined) return { detail: 'is missing', fix: `Pass ${field}` }
  if (isParameter && Array.isArray(value))
    return { detail: `must be given once (got ${value.length} values)`, fix: `Pass ${field} once` }
  const asked = askedFor(issue, sent)
  if (asked === null) return { detail: `${issue.message} (got ${shown(value)})`, fix: 'Pass another value' }
  return {
    detail: `must ${asked.verb} ${asked.what} (got ${shown(value)})`,
    fix: `Pass ${asked.pass ?? asked.what}`,
  }
}

interface Asked {
  readonly verb: 'be' | 'have'
  readonly what: string
  /** Where it differs from `what`. */
  readonly pass?: string
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

function askedFor(issue: Issue, { value, isParameter }: Sent): Asked | null {
  const isNoNumber = isParameter && typeof value === 'string' && !/^-?\d+$/.test(value)
  switch (issue.code) {
    case 'invalid_type':
      return typeAsked(isParameter && issue.expected === 'number' ? 'int' : issue.expected)
    case 'invalid_value':
      return { verb: 'be', what: `one of ${issue.values.map(String).join(', ')}` }
    case 'too_small':
      // An empty parameter counts as 0, and that is not what is wrong with it.
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

function typeAsked(expected: string): Asked | null {
  const what = TYPES[expected]
  return what === undefined ? null : { verb: 'be', what }
}

const COUNTED: Readonly<Record<string, string>> = { string: 'characters', array: 'items', set: 'items' }

function amount(origin: string, bound: string, most: number | bigint): Asked {
  const counted = COUNTED[origin]
  if (counted === undefined) return { verb: 'be', what: `${bound} ${most}` }
  return { verb: 'have', what: `${bound} ${most} ${counted}` }
}

/** Of a value that may be one of several types: all of them. */
function anyOf(issue: Extract<Issue, { code: 'invalid_union' }>): Asked | null {
  const types = issue.errors.map(([first]) =>
    first?.code === 'invalid_type' && first.path.length === 0 ? TYPES[first.expected] : undefined,
  )
  const known = [...new Set(types)].filter((one) => one !== undefined)
  return known.length === 0 ? null : { verb: 'be', what: known.join(' or ') }
}
