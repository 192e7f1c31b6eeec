/**
 * What a part says of itself. The parser gives every part a type, also one that has said none, and tells no length; so its inner reader is listened to, which emits
 * the headers as they came. That is no door of its own: its version stands fixed in package.json, and a test sees to it that the headers come.
 */
import type { BusboyInstance, Dicer } from '@fastify/busboy'

export interface PartHeaders {
  /** False: it has no type, and what the parser says was made up. */
  readonly hasType: boolean
  /** What it says its size is; null where it does not. */
  readonly declared: number | null
}

type Inner = { readonly _parser?: { readonly parser?: Dicer } }

/** Returns those of the part whose headers came last. */
export function partHeadersOf(parser: BusboyInstance): () => PartHeaders {
  let last: PartHeaders = { hasType: true, declared: null }
  const { _parser: inner } = parser as unknown as Inner
  // In front of the parser's own: it tells of a file as soon as it has its headers.
  inner?.parser?.prependListener('part', (part: Dicer.PartStream) => {
    part.prependListener('header', (headers: Readonly<Record<string, string[] | undefined>>) => {
      const [type = ''] = headers['content-type'] ?? []
      const [length = ''] = headers['content-length'] ?? []
      last = {
        hasType: type.split(';', 1)[0]?.trim() !== '',
        declared: /^\d{1,15}$/.test(length.trim()) ? Number(length) : null,
      }
    })
  })
  return () => last
}
