/** Lists the known fields at a path of a schema, to suggest one for a typo. */
import type { z } from '@hono/zod-openapi'

/** The parts of a Zod schema that are read here. Its kind follows from the properties that are present. */
interface Inside {
  readonly shape?: Readonly<Record<string, Inside>>
  readonly element?: Inside
  readonly options?: readonly Inside[]
  readonly def?: { readonly innerType?: Inside }
}

/** Empty if no object is allowed at this path. */
export function knownFields(shape: z.ZodType, path: readonly PropertyKey[]): string[] {
  const places = path.reduce<readonly Inside[]>(
    (found, key) => found.flatMap(bare).flatMap((one) => partOf(one, key)),
    [shape as Inside],
  )
  return [...new Set(places.flatMap(bare).flatMap((one) => Object.keys(one.shape ?? {})))]
}

/** Unwraps optional and nullable schemas, and lists the alternatives of a union. */
function bare(one: Inside): readonly Inside[] {
  if (one.def?.innerType !== undefined) return bare(one.def.innerType)
  return one.options === undefined
    ? [one]
    : one.options.flatMap((option) => (isShape(option) ? bare(option) : []))
}

/** The options of an enum are strings, not schemas. */
function isShape(option: unknown): option is Inside {
  return typeof option === 'object' && option !== null
}

function partOf({ shape, element }: Inside, key: PropertyKey): readonly Inside[] {
  const part = typeof key === 'number' ? element : shape?.[String(key)]
  return part === undefined ? [] : [part]
}
