/**
 * Generates an example payload for a schema, slightly different for each `n`. Without a schema it is a plain
 * object.
 */
import { isObject, isSchema, type Schema } from '../validate/checking.ts'
import { resolveReference } from '../validate/reference.ts'
import { exampleText } from './example-text.ts'

const DEEPEST = 6
const MOST_ITEMS = 5
/** A schema may contain itself, so limit the number of parts. */
const MOST_PARTS = 1_000

export function exampleOf(schema: Schema | null, n: number): unknown {
  if (schema === null) return { n: n + 1, text: `example ${n + 1}` }
  return made(schema, { root: schema, n, name: '', depth: 0, left: { parts: MOST_PARTS } })
}

interface Making {
  readonly root: Schema
  /** The number of the example, from 0. */
  readonly n: number
  /** The name of the field, which often hints at its meaning. */
  readonly name: string
  readonly depth: number
  readonly left: { parts: number }
}

function made(schema: Schema, before: Making): unknown {
  const making = { ...before, depth: before.depth + 1 }
  making.left.parts -= 1
  if (typeof schema === 'boolean' || making.left.parts < 0) return null
  const { n, root } = making
  if ('const' in schema) return schema['const']
  for (const key of ['enum', 'examples'])
    if (Array.isArray(schema[key]) && schema[key].length > 0)
      return schema[key][n % schema[key].length] as unknown
  if (n === 0 && 'default' in schema) return schema['default']
  const target = typeof schema['$ref'] === 'string' ? resolveReference(root, schema['$ref']) : undefined
  if (target !== undefined) return making.depth > DEEPEST ? null : made(target, making)
  const choice = firstOf(schema['oneOf'] ?? schema['anyOf'], n)
  if (choice !== undefined) return made(choice, making)
  const all = Array.isArray(schema['allOf']) ? schema['allOf'].filter(isSchema) : []
  const own = ofType(schema, making)
  if (all.length === 0) return own
  const parts = all.map((one) => made(one, making))
  if (!parts.every(isObject)) return parts[0]
  return Object.assign({}, own, ...parts) as unknown
}

/** Null is a valid choice, but not the most useful example. */
function firstOf(given: unknown, n: number): Schema | undefined {
  const choices = Array.isArray(given) ? given.filter(isSchema) : []
  const telling = choices.filter((one) => typeof one !== 'boolean' && one['type'] !== 'null')
  return telling.length === 0 ? choices[0] : telling[n % telling.length]
}

function ofType(schema: Readonly<Record<string, unknown>>, making: Making): unknown {
  const [given] = [schema['type']].flat()
  const type = given ?? (isObject(schema['properties']) ? 'object' : undefined)
  if (type === 'string') return exampleText(schema, making.name, making.n)
  if (type === 'number' || type === 'integer') return number(schema, making.n)
  if (type === 'boolean') return making.n % 2 === 0
  if (type === 'array') return list(schema, making)
  return type === 'object' ? object(schema, making) : null
}

function number(schema: Readonly<Record<string, unknown>>, n: number): number {
  const of = (key: string): number | undefined => (typeof schema[key] === 'number' ? schema[key] : undefined)
  const step = of('multipleOf') ?? 1
  const above = of('exclusiveMinimum')
  const least = of('minimum') ?? (above === undefined ? undefined : above + step)
  const below = of('exclusiveMaximum')
  const most = of('maximum') ?? (below === undefined ? undefined : below - step)
  const from = Math.ceil((least ?? Math.min(1, most ?? 1)) / step) * step
  const room = most === undefined ? Infinity : Math.floor((most - from) / step) + 1
  return from + (room > 0 ? n % room : 0) * step
}

function list(schema: Readonly<Record<string, unknown>>, making: Making): unknown[] {
  const first = Array.isArray(schema['prefixItems']) ? schema['prefixItems'].filter(isSchema) : []
  const fixed = first.map((one) => made(one, making))
  const { minItems = 1, items } = schema
  const many = making.depth > DEEPEST ? 0 : Math.min(MOST_ITEMS, Number(minItems) || 0) - fixed.length
  const rest = isSchema(items)
    ? Array.from({ length: Math.max(0, many) }, (_, at) => made(items, { ...making, n: making.n + at }))
    : []
  return [...fixed, ...rest]
}

function object(schema: Readonly<Record<string, unknown>>, making: Making): Record<string, unknown> {
  const { properties, required } = schema
  const needed = Array.isArray(required) ? (required as unknown[]) : []
  const fields = isObject(properties) ? Object.entries(properties) : []
  const whole: Record<string, unknown> = {}
  for (const [name, one] of fields)
    if (isSchema(one) && (making.depth <= DEEPEST || needed.includes(name)) && making.depth < 3 * DEEPEST)
      whole[name] = made(one, { ...making, name })
  return whole
}
