/** Calls a route over its socket, and checks the response against the OpenAPI document. */
import { z } from 'zod'

interface Operation {
  readonly operationId?: string
  readonly 'x-role'?: string
  readonly responses: Record<string, { content?: Record<string, { schema: object }> }>
}

export interface Declared {
  readonly method: string
  /** The path with its placeholders. */
  readonly path: string
  readonly name: string
  readonly role: string
  readonly operation: Operation
}

export interface Document {
  readonly openapi: string
  readonly paths: Record<string, Record<string, Operation>>
  readonly components: { readonly schemas: Record<string, object> }
}

export async function documentOf(url: string, headers: Record<string, string> = {}): Promise<Document> {
  const response = await fetch(`${url}/api/openapi.json`, { headers })
  return (await response.json()) as Document
}

export function operationsOf(document: Document): Declared[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      name: operation.operationId ?? '',
      role: operation['x-role'] ?? '',
      operation,
    })),
  )
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

/** Strict: every field of a response must be declared. */
export function checkAnswer(document: Document, { operation, name }: Declared, answer: Answer): void {
  const declared = operation.responses[String(answer.status)] ?? operation.responses['default']
  const schema = declared?.content?.[contentType(answer)]?.schema
  if (schema === undefined) {
    if (answer.status === 204) return
    throw new Error(`${name} answers ${answer.status} ${contentType(answer)}, which is not declared`)
  }
  const checked = z.fromJSONSchema(inlined(schema, document) as never).safeParse(answer.body)
  if (!checked.success)
    throw new Error(`${name} answers what is not declared: ${z.prettifyError(checked.error)}`)
}

function contentType({ headers }: Answer): string {
  const type = headers.get('content-type') ?? ''
  return type.startsWith('text/plain') ? type : (type.split(';')[0] ?? '')
}

/** Resolves references, and forbids undeclared keys. */
function inlined(schema: unknown, document: Document): unknown {
  if (Array.isArray(schema)) return schema.map((one) => inlined(one, document))
  if (typeof schema !== 'object' || schema === null) return schema
  if ('$ref' in schema) {
    const name = String(schema.$ref).replace('#/components/schemas/', '')
    return inlined(document.components.schemas[name], document)
  }
  const inner = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [key, inlined(value, document)]),
  )
  const isClosed = 'properties' in inner && !('additionalProperties' in inner)
  return isClosed ? { ...inner, additionalProperties: false } : inner
}

export async function request(
  url: string,
  method: string,
  path: string,
  { body, headers = {} }: { body?: unknown; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}
