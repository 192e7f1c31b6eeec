/** Resolves a `$ref` inside a schema: `#`, `#/$defs/User`. References to other documents are ignored. */
import { isSchema, type Schema } from './checking.ts'

export function resolveReference(root: Schema, reference: string): Schema | undefined {
  if (!reference.startsWith('#')) return undefined
  let at: unknown = root
  for (const part of reference.slice(1).split('/').slice(1)) {
    const key = decode(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined
    at = (at as Record<string, unknown>)[key]
  }
  return isSchema(at) ? at : undefined
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
