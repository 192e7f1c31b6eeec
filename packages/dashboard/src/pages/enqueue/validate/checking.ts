/** Context and result types of payload validation. */

export type Schema = boolean | Readonly<Record<string, unknown>>

export interface SchemaProblem {
  /** Path within the value: `items[0].sku`; empty for the value itself. */
  readonly path: string
  /** What is wrong; continues a sentence that starts with the path. */
  readonly says: string
}

export interface Checking {
  /** The root schema, into which `$ref` points. */
  readonly root: Schema
  /** Remaining checks: a schema may be recursive without end. */
  readonly left: { steps: number }
  readonly depth: number
  readonly check: (schema: Schema, value: unknown, path: string, checking: Checking) => SchemaProblem[]
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const isSchema = (value: unknown): value is Schema => typeof value === 'boolean' || isObject(value)

/** `items[0].sku`; keys that are not identifiers are quoted in brackets. */
export function inside(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`
  if (!/^[\w$-]+$/.test(key)) return `${path}[${JSON.stringify(key)}]`
  return path === '' ? key : `${path}.${key}`
}

/** A value as shown in messages. */
export function printJson(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 60 ? `${text.slice(0, 59)}…` : text
}
