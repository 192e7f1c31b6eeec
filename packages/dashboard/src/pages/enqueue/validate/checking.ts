/** What is passed along while a value is held against its schema. */

export type Schema = boolean | Readonly<Record<string, unknown>>

export interface SchemaProblem {
  /** Where in the value: `items[0].sku`; empty for the value itself. */
  readonly path: string
  /** What is wrong: goes on from "it". */
  readonly says: string
}

export interface Checking {
  /** What `$ref` points into. */
  readonly root: Schema
  /** Checks that are left: a schema may be made so that it never ends. */
  readonly left: { steps: number }
  readonly depth: number
  readonly check: (schema: Schema, value: unknown, path: string, checking: Checking) => SchemaProblem[]
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isSchema = (value: unknown): value is Schema => typeof value === 'boolean' || isObject(value)

/** `items[0].sku`; keys that are no words stand in brackets too. */
export function inside(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`
  if (!/^[\w$-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

/** As it is told to people. */
export function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
