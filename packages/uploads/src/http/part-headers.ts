/**
 * Reads the headers of a part. The parser invents a missing type and hides the length, so this listens to its
 * internal reader. That is not a public interface: package.json pins the version, and a test checks the
 * headers.
 */
import type { BusboyInstance, Dicer } from '@fastify/busboy'

export interface PartHeaders {
  /** False: the part has no type, and the parser's type is a default. */
  readonly hasType: boolean
  /** The declared size; null for none. */
  readonly declared: number | null
}

type Inner = { readonly _parser?: { readonly parser?: Dicer } }

/** Returns the headers of the latest part. */
export function partHeadersOf(parser: BusboyInstance): () => PartHeaders {
  let last: PartHeaders = { hasType: true, declared: null }
  const { _parser: inner } = parser as unknown as Inner
  // Before the listener of the parser, which reports a file as soon as it has the headers.
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
