/** Blob stores with too little space or speed. */
import type { BlobStore } from 'jobmill-uploads'

/** A disk that is full after this many bytes of one file; null for enough space. */
export interface Full {
  afterBytes: number | null
}

export function fullAfter(blobs: BlobStore, full: Full): BlobStore {
  return {
    ...blobs,
    write(id, bytes, signal) {
      async function* until(): AsyncGenerator<Uint8Array, void, undefined> {
        let written = 0
        for await (const chunk of bytes) {
          const room = full.afterBytes === null ? Infinity : full.afterBytes - written
          // Like a disk, write what fits.
          if (room > 0) yield chunk.subarray(0, Math.min(room, chunk.length))
          written += chunk.length
          if (chunk.length > room)
            throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
        }
      }
      return blobs.write(id, until(), signal)
    },
  }
}

/** A store that accepts a chunk only on request. */
export function stepByStep(blobs: BlobStore): {
  readonly blobs: BlobStore
  readonly bytesTaken: () => number
  readonly step: () => void
} {
  let total = 0
  let go = Promise.withResolvers<void>()
  return {
    bytesTaken: () => total,
    step() {
      go.resolve()
      go = Promise.withResolvers<void>()
    },
    blobs: {
      ...blobs,
      write(id, bytes, signal) {
        async function* slowly(): AsyncGenerator<Uint8Array, void, undefined> {
          for await (const chunk of bytes) {
            total += chunk.length
            const { promise } = go
            await promise
            yield chunk
          }
        }
        return blobs.write(id, slowly(), signal)
      },
    },
  }
}
