/** Reads call parameters. Forms send everything as text, so numbers and lists may arrive as JSON text. */
import { badRequest } from '../refusal.ts'

export type Params = Readonly<Record<string, unknown>>

export function textOf(params: Params, name: string): string {
  const value = params[name]
  if (value === undefined || value === null) return ''
  if (typeof value === 'number' || typeof value === 'boolean') return String(value)
  if (typeof value !== 'string') throw badRequest(`field "${name}" must be of type String`)
  if (!value.isWellFormed()) throw badRequest('strings must be encoded in UTF-8')
  return value
}

export function numberOf(params: Params, name: string, otherwise: number): number {
  const text = textOf(params, name)
  if (text === '') return otherwise
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw badRequest(`field "${name}" must be a Number`)
  return value
}

export const isTrue = (params: Params, name: string): boolean =>
  ['true', '1'].includes(textOf(params, name).toLowerCase())

/** Undefined if the parameter is absent. */
export function namesOf(params: Params, name: string): readonly string[] | undefined {
  const value = params[name]
  if (value === undefined || value === null || value === '') return undefined
  const list = jsonIn(value)
  if (!Array.isArray(list) || !list.every((one) => typeof one === 'string')) {
    throw badRequest(`can't parse ${name} JSON object`)
  }
  return list
}

/** Undefined for invalid JSON. */
export function jsonIn(value: unknown): unknown {
  if (typeof value !== 'string') return value
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}
