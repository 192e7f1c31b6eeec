/** Generates the tables of request parameters in docs/reference/http.md from the OpenAPI document. */
import { type Declared, type Document, operationsOf } from './calls.ts'

/** The part of JSON Schema that the document uses. */
interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly items?: Schema
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly description?: string
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
  readonly maxItems?: number
}

interface Parameter {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly schema: Schema
}

interface Takes {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

interface Row {
  readonly name: string
  readonly where: string
  readonly schema: Schema
  readonly isNeeded: boolean
}

const BEGIN = '<!-- Written by npm run docs:http from /api/openapi.json. -->'
const END = '<!-- End of what is written. -->'

/** The page with the tables of this document between the two markers. */
export function withTables(page: string, document: Document): string {
  const [before = '', rest = ''] = page.split(BEGIN)
  const [, after = ''] = rest.split(END)
  return `${before}${BEGIN}\n\n${tablesOf(document)}\n\n${END}${after}`
}

/** The page without the tables. */
export function withoutTables(page: string): string {
  return page.slice(0, page.indexOf(BEGIN)) + page.slice(page.indexOf(END))
}

/** Path parameters need no table. */
function tablesOf(document: Document): string {
  return operationsOf(document)
    .map((declared) => ({ declared, rows: rowsOf(declared, document) }))
    .filter(({ rows }) => rows.length > 0)
    .map(({ declared: { method, path }, rows }) => `### ${method} ${path}\n\n${tableOf(rows, document)}`)
    .join('\n\n')
}

function rowsOf({ operation }: Declared, document: Document): Row[] {
  const { parameters = [], requestBody } = operation as Takes
  const outside = parameters
    .filter((one) => one.in !== 'path')
    .map(({ name, in: where, required = false, schema }) => ({ name, where, schema, isNeeded: required }))
  const body = requestBody?.content['application/json']?.schema
  return [...outside, ...(body === undefined ? [] : fieldsOf(body, '', document))]
}

/** A row for each field, followed by rows for its nested fields. */
function fieldsOf(schema: Schema, parent: string, document: Document): Row[] {
  const { properties = {}, required = [], items, anyOf = [] } = resolved(schema, document)
  const own = Object.entries(properties).flatMap(([key, field]) => {
    const row = { name: `${parent}${key}`, where: 'body', schema: field, isNeeded: required.includes(key) }
    return [row, ...fieldsOf(field, `${row.name}.`, document)]
  })
  const inner = items === undefined ? [] : fieldsOf(items, `${parent}N.`, document)
  return [...own, ...inner, ...anyOf.flatMap((one) => fieldsOf(one, parent, document))]
}

function tableOf(rows: readonly Row[], document: Document): string {
  const lines = rows.map(({ name, where, schema, isNeeded }) =>
    [
      `\`${name}\``,
      where,
      typeIn(where, schema, document),
      isNeeded ? 'yes' : '',
      about(schema, document),
    ].join(' | '),
  )
  return [
    '| field | in | type | required | description |',
    '|---|---|---|---|---|',
    ...lines.map((line) => `| ${line} |`),
  ].join('\n')
}

/** A parameter that is omitted from a URL is not null. */
function typeIn(where: string, schema: Schema, document: Document): string {
  const type = typeOf(schema, document)
  return where === 'query' ? type.replace(' or null', '') : type
}

function typeOf(schema: Schema, document: Document): string {
  const { type, enum: values, anyOf, items } = resolved(schema, document)
  if (values !== undefined) return values.map((value) => `\`${String(value)}\``).join(', ')
  if (anyOf !== undefined) return [...new Set(anyOf.map((one) => typeOf(one, document)))].join(' or ')
  if (items !== undefined) return `array of ${typeOf(items, document)}`
  return type === undefined ? 'any JSON' : [type].flat().join(' or ')
}

function about(schema: Schema, document: Document): string {
  const { description, minimum, maximum, maxItems, default: usual } = resolved(schema, document)
  const bounds =
    minimum === undefined || maximum === undefined ? [] : [`from ${number(minimum)} to ${number(maximum)}`]
  return [
    ...(description === undefined ? [] : [description.replaceAll('|', String.raw`\|`)]),
    ...bounds,
    ...(maxItems === undefined ? [] : [`at most ${number(maxItems)}`]),
    ...(usual === undefined ? [] : [`default ${JSON.stringify(usual)}`]),
  ].join('; ')
}

function number(n: number): string {
  return n.toLocaleString('en-US')
}

function resolved(schema: Schema, document: Document): Schema {
  if (schema.$ref === undefined) return schema
  const { $ref, ...own } = schema
  return { ...document.components.schemas[$ref.replace('#/components/schemas/', '')], ...own }
}
