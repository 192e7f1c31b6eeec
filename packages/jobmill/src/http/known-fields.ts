/** Which fields there are at a place of a shape: to say what was meant by one that there is not. */
import type { z } from '@hono/zod-openapi'

/** Looked at from outside: which kind of shape it is, its parts are told by what they are called. */
interface Inside {
  readonly shape?: Readonly<Record<string, Inside>>
  readonly element?: Inside
  readonly options?: readonly Inside[]
  readonly def?: { readonly innerType?: Inside }
}

/** Empty when nothing of the shape is an object there. */
export function knownFields(shape: z.ZodType, path: readonly PropertyKey[]): string[] {
  const places = path.reduce<readonly Inside[]>(
    (found, key) => found.flatMap(bare).flatMap((one) => partOf(one, key)),
    [shape as Inside],
  )
  return [...new Set(places.flatMap(bare).flatMap((one) => Object.keys(one.shape ?? {})))]
}

/** Without what says that it may be left out, and each of several that it may be. */
function bare(one: Inside): readonly Inside[] {
  if (one.def?.innerType !== undefined) return bare(one.def.innerType)
  return one.options === undefined
    ? [one]
    : one.options.flatMap((option) => (isShape(option) ? bare(option) : []))
}

/** The options of an enum are texts. */
function isShape(option: unknown): option is Inside {
  return typeof option === 'object' && option !== null
}

function partOf({ shape, element }: Inside, key: PropertyKey): readonly Inside[] {
  const part = typeof key === 'number' ? element : shape?.[String(key)]
  return part === undefined ? [] : [part]
}
